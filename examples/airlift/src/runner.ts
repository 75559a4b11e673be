// The process that flies, and that may be killed: told by its parent what to do, it opens the journal, flies, and tells once a second how it
// stands. It ends by itself when it is told to stop, or when its parent is gone.

import { sqliteJournal } from '@troupe/persistence'
import type { Airlift } from './airlift.ts'
import { Deeds } from './deeds.ts'
import { Gauge, type Reading } from './gauge.ts'
import { journalFile } from './nodes/joining.ts'
import { Several } from './nodes/several.ts'
import { OneProcess } from './one-process.ts'
import { Saboteur } from './saboteur.ts'
import { type TerminalMap, terminalMap } from './terminal-map.ts'
import { Tower } from './tower.ts'
import type { World } from './world.ts'

/** What a runner is told. */
export type Order =
  | {
      readonly type: 'begin'
      readonly world: World
      readonly directory: string
      /** For each process that has drones. */
      readonly threads: number
      /** How many nodes, on which NATS server; left out, all is in one process. */
      readonly cluster?: { readonly count: number; readonly servers: string } | undefined
      /** Collects garbage before every so many readings, so that their heap is what lives. */
      readonly collectEvery?: number | undefined
      /** Where the page is to be; none, if left out. */
      readonly page?: { readonly port: number; readonly token?: string | undefined } | undefined
      /** Letters of the map; none, if left out. */
      readonly map?: { readonly columns: number; readonly rows: number } | undefined
    }
  | { readonly type: 'do'; readonly deed: Readonly<Record<string, unknown>> }
  /** Customers are sent away; what is in flight goes on. */
  | { readonly type: 'close' }
  | { readonly type: 'stop' }

/** What a runner tells. */
export type Report =
  | {
      readonly type: 'ready'
      readonly ms: number
      readonly url: string | undefined
      readonly port: number | undefined
      readonly observer: string | undefined
    }
  | { readonly type: 'reading'; readonly reading: Reading; readonly lines: readonly string[]; readonly pages: number }
  | { readonly type: 'map'; readonly map: TerminalMap }
  | { readonly type: 'stopped'; readonly reading: Reading; readonly stopped: number; readonly killed: number; readonly ms: number }
  | { readonly type: 'failed'; readonly why: string }

type Begin = Extract<Order, { type: 'begin' }>

const tell = (report: Report): void => void process.send?.(report)

let stop!: () => void
/** Told to stop while it begins. */
const soon = new Promise<void>((resolve) => (stop = resolve))
let close = (): void => {}
let deed = (_deed: Readonly<Record<string, unknown>>): void => {}

process.on('message', (order: Order) => {
  if (order.type === 'begin') begin(order).catch(failed)
  else if (order.type === 'stop') stop()
  else if (order.type === 'close') close()
  else deed(order.deed)
})
// A terminal sends these to parent and child alike; the parent says when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Without a parent there is nobody to fly for.
process.on('disconnect', () => stop())

function failed(cause: unknown): void {
  const leave = (): never => process.exit(1)
  if (process.send === undefined) return leave()
  process.send({ type: 'failed', why: (cause as Error).message } satisfies Report, leave)
}

async function begin({ world, directory, threads, cluster, page, map, collectEvery }: Begin): Promise<void> {
  const began = performance.now()
  const airlift =
    cluster === undefined
      ? new OneProcess({ world, journal: sqliteJournal(journalFile(directory)), threads })
      : await Several.join({ world, directory, threads, ...cluster })
  const saboteur = airlift instanceof OneProcess ? new Saboteur(airlift) : undefined
  const deeds = new Deeds(airlift, saboteur)
  const gauge = new Gauge(airlift)
  let isSoon = false
  void soon.then(() => (isSoon = true))
  await Promise.race([airlift.ready, soon])
  if (isSoon) return end(airlift, gauge, undefined)
  const tower = page === undefined ? undefined : await Tower.open(airlift, saboteur, deeds, page)
  airlift.say(`process ${process.pid} flies, ${Math.round(performance.now() - began)} ms after it was started`)
  tell({
    type: 'ready',
    ms: performance.now() - began,
    url: tower?.page.url,
    port: tower?.page.port,
    observer: tower?.observerUrl,
  })
  let looks = 0
  const look = async (): Promise<void> => {
    if (collectEvery !== undefined && looks++ % collectEvery === 0) globalThis.gc?.()
    const reading = await gauge.read()
    tower?.told(reading)
    tell({ type: 'reading', reading, lines: airlift.lines.slice(-5).map(({ text }) => text), pages: tower?.open ?? 0 })
  }
  const timers = [setInterval(() => void look().catch(() => {}), 1000)]
  if (map !== undefined) timers.push(setInterval(() => tell({ type: 'map', map: terminalMap(airlift.sky, map.columns, map.rows, Date.now()) }), 250))
  deed = (given) => {
    try {
      deeds.do(given)
    } catch (cause) {
      // A key for something that is not here.
      airlift.say((cause as Error).message)
    }
  }
  close = () => airlift.close()
  stop = () => {
    stop = () => {}
    for (const timer of timers) clearInterval(timer)
    void end(airlift, gauge, tower).catch(failed)
  }
  // Meanwhile the page was opened.
  if (isSoon) stop()
}

/** Customers are sent away, what was told is handled, and everything in flight is in the journal. */
async function end(airlift: Airlift, gauge: Gauge, tower: Tower | undefined): Promise<void> {
  const began = performance.now()
  airlift.close()
  await tower?.close()
  const reading = await gauge.read()
  const { stopped, killed } = await airlift.end()
  tell({ type: 'stopped', reading, stopped, killed, ms: performance.now() - began })
  process.disconnect?.()
}
