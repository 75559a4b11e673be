// Serves the page, behind the gate of the observer: files for everybody, and for whoever has the token a stream of what happens and a way to do
// something. As long as no page is open nothing is encoded, surveyed or sampled.

import { readFileSync } from 'node:fs'
import { type Finding, type GuardedFile, type GuardedStream, observe, type Observer, type Page, serveGuarded } from '@troupe/observer'
import type { Airlift } from './airlift.ts'
import type { Deeds } from './deeds.ts'
import { rowsFrame, textFrame } from './feed.ts'
import type { Reading } from './gauge.ts'
import { hillsOf } from './planner.ts'
import { noGame, type Saboteur } from './saboteur.ts'
import { stormRadius } from './deeds.ts'
import { phases } from './sky.ts'
import { height, width } from './world.ts'

const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }
const names = ['index.html', 'airlift.css', 'main.js', 'feed.js', 'sky.js', 'panel.js']
/** Milliseconds between two frames of rows. */
const rowsEvery = 50
/** Bytes that may wait for a page that is slow. */
const waitingMost = 1024 * 1024
const streamsMost = 8

function file(name: string): readonly [string, GuardedFile] {
  const body = readFileSync(new URL(`../page/${name}`, import.meta.url))
  return [name === 'index.html' ? '/' : `/${name}`, { type: `${types[name.split('.')[1]!]}; charset=utf-8`, body }]
}

/** Who held the loop again and again stands before those that a busy machine let wait once; what will not get better by itself before all. */
function weightOf({ severity, rule, evidence }: Finding): number {
  if (rule === 'holds-loop') return Number(evidence['turns'])
  return severity === 'error' ? 1000 : 10
}

export interface TowerOptions {
  readonly port: number
  readonly token?: string | undefined
}

export class Tower {
  readonly #airlift: Airlift
  readonly #saboteur: Saboteur | undefined
  readonly #observer: Observer
  readonly #streams = new Set<GuardedStream>()
  #findings: readonly Finding[] = []
  #unsubscribe: (() => void) | undefined
  #reading: Reading | undefined
  page!: Page
  /** The observer's own page. */
  observerUrl = ''

  private constructor(airlift: Airlift, saboteur: Saboteur | undefined) {
    this.#airlift = airlift
    this.#saboteur = saboteur
    this.#observer = observe(airlift.system)
  }

  static async open(airlift: Airlift, saboteur: Saboteur | undefined, deeds: Deeds, { port, token }: TowerOptions): Promise<Tower> {
    const tower = new Tower(airlift, saboteur)
    tower.observerUrl = (await tower.#observer.openPage()).url
    tower.page = await serveGuarded({
      port,
      token,
      files: Object.fromEntries(names.map(file)),
      questions: { '/api/do': (body) => deeds.doText(body) },
      streams: { '/api/feed': (stream) => tower.#begin(stream) },
      failed: (cause) => airlift.say(`a page could not be answered: ${(cause as Error).message}`),
    })
    return tower
  }

  get open(): number {
    return this.#streams.size
  }
  /** Told to all pages. */
  told(reading: Reading): void {
    this.#reading = reading
    if (this.#streams.size === 0) return
    const frame = this.#status(reading)
    for (const stream of this.#streams) if (stream.waiting < waitingMost) stream.write(frame)
  }
  async close(): Promise<void> {
    for (const stream of this.#streams) stream.end()
    await Promise.all([this.page.close(), this.#observer.close()])
  }

  #status(reading: Reading): Uint8Array {
    const { lines } = this.#airlift
    const worst = this.#findings.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, 12)
    const findings = worst.map(({ id, severity, title, subject, sentence }) => ({ id, severity, title, subject, sentence }))
    return textFrame('status', { ...reading, findings, lines: lines.slice(-8), game: this.#saboteur?.game ?? noGame })
  }

  #begin(stream: GuardedStream): void {
    if (this.#streams.size >= streamsMost) return stream.end()
    const { sky, world } = this.#airlift
    this.#streams.add(stream)
    this.#unsubscribe ??= this.#observer.source.subscribe(({ findings }) => void (this.#findings = findings))
    stream.write(
      textFrame('hello', {
        pid: process.pid,
        world,
        width,
        height,
        phases,
        hills: hillsOf(world.seed),
        stormRadius,
        several: this.#airlift.nodes !== undefined,
        observer: this.observerUrl,
      }),
    )
    if (this.#reading !== undefined) stream.write(this.#status(this.#reading))
    const changed = sky.look()
    const timer = setInterval(() => {
      // A page that does not read gets the rows that changed meanwhile when it does: each once.
      if (stream.waiting > waitingMost) return
      const rows = changed.take()
      if (rows.length > 0) stream.write(rowsFrame(sky, rows, Date.now()))
    }, rowsEvery)
    void stream.closed.then(() => {
      clearInterval(timer)
      changed.end()
      this.#streams.delete(stream)
      if (this.#streams.size > 0) return
      this.#unsubscribe?.()
      this.#unsubscribe = undefined
      this.#findings = []
    })
  }
}
