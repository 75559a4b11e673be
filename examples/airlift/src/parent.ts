// The small process that stays: starts the one that flies, and another one in its place whenever it was ended by something else than a wish.
// Journal, port and token are the same in every life.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Order, Report } from './runner.ts'

const runner = fileURLToPath(new URL('./runner.js', import.meta.url))
/** Lives that end before they were ready, one after the other, until it is given up. */
const mostFailures = 3
/** Milliseconds for a runner to end by itself. */
const patience = 15_000

export type Begin = Extract<Order, { type: 'begin' }>
type Ready = Extract<Report, { type: 'ready' }>
export type Stopped = Extract<Report, { type: 'stopped' }>

export interface Hearing {
  readonly told: (report: Report) => void
  /** Ended, and begins anew. */
  readonly gone: (how: string) => void
}

export class Parent {
  readonly #order: Begin
  readonly #hearing: Hearing
  #child: ChildProcess | undefined
  #stopping = false
  #stopped: Stopped | undefined
  #failures = 0
  #why = ''
  #ready: Ready | undefined
  #end!: (outcome: { readonly stopped?: Stopped | undefined; readonly why?: string }) => void
  /** How it ended: with the last report, or why it could not go on. */
  readonly ended: Promise<{ readonly stopped?: Stopped | undefined; readonly why?: string }> = new Promise((resolve) => (this.#end = resolve))
  lives = 0

  constructor(order: Begin, hearing: Hearing) {
    this.#order = order
    this.#hearing = hearing
    this.#live()
  }

  do(deed: Readonly<Record<string, unknown>>): void {
    this.#send({ type: 'do', deed })
  }
  /** No more parcels. */
  close(): void {
    this.#send({ type: 'close' })
  }
  stop(): void {
    if (this.#stopping) return
    this.#stopping = true
    this.#send({ type: 'stop' })
    setTimeout(() => this.force(`it did not end within ${patience / 1000} seconds, and was killed`), patience).unref()
  }
  /** Ends it at once. */
  force(why: string): void {
    this.#stopping = true
    this.#why = why
    this.#child?.kill('SIGKILL')
  }

  #send(order: Order): void {
    if (this.#child?.connected === true) this.#child.send(order, () => {})
  }
  #live(): void {
    const child = fork(runner, [], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
      execArgv: this.#order.collectEvery === undefined ? process.execArgv : [...process.execArgv, '--expose-gc'],
    })
    this.#child = child
    this.lives++
    child.on('message', (report: Report) => this.#heard(report))
    child.on('exit', (code, signal) => this.#exited(signal ?? `exit code ${code}`))
    child.on('error', (cause) => this.#end({ why: cause.message }))
    const { page } = this.#order
    // The page is where it was, and opens to whoever had it open.
    const token = this.#ready?.url === undefined ? page?.token : new URL(this.#ready.url).hash.slice(1)
    this.#send({ ...this.#order, page: page && { port: this.#ready?.port ?? page.port, token } })
  }
  #heard(report: Report): void {
    if (report.type === 'ready') {
      this.#ready = report
      this.#failures = 0
      this.#why = ''
    } else if (report.type === 'stopped') this.#stopped = report
    else if (report.type === 'failed') this.#why = report.why
    this.#hearing.told(report)
  }
  #exited(how: string): void {
    if (this.#stopping || this.#stopped !== undefined) return this.#end({ stopped: this.#stopped, why: this.#why || how })
    // What it could not begin with at all it will not begin with the next time.
    if (this.#why !== '' && this.#ready === undefined) return this.#end({ why: this.#why })
    if (++this.#failures >= mostFailures) return this.#end({ why: this.#why || `the process that flies ended ${mostFailures} times (${how})` })
    this.#hearing.gone(how)
    this.#live()
  }
}
