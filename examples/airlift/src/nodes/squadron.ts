// The nodes as processes, each through all its lives: one that ends without having been told to is started again after a while, in which the others
// have its districts.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { LedgerReport } from '@troupe/core'
import type { NodeFacts, NodeState } from '../airlift.ts'
import type { Switches } from '../district.ts'
import type { MeterReading } from '../meter.ts'
import type { News, Order, Orders } from './member.ts'

const member = fileURLToPath(new URL('./member.js', import.meta.url))
/** Milliseconds until one that was killed begins again: longer than the lease, so that one sees the others take over. */
const backAfter = 10_000
/** Milliseconds between two checks whether they have, if that takes longer. */
const checkEvery = 500

interface Life {
  readonly name: string
  state: NodeState
  child: ChildProcess | undefined
  /** Whether it was ever there. */
  hasJoined: boolean
  observer: string | undefined
  meter: MeterReading | undefined
  ledger: LedgerReport | undefined
  askPlanner: number
}
export interface Hearing {
  readonly rows: (frame: Uint8Array) => void
  readonly line: (text: string, at?: number) => void
  /** Whether districts are still owned by that node. */
  readonly owns: (name: string) => boolean
  /** A node could not begin. */
  readonly hopeless: (why: string) => void
}

export class Squadron {
  readonly #orders: Omit<Orders, 'node' | 'switches'>
  readonly #switches: Readonly<Switches>
  readonly #hearing: Hearing
  readonly #lives: readonly Life[]
  #ending = false
  /** Of lives that are over, as they told last. */
  #past = { restarts: 0, threadsLost: 0 }
  #pastLedger: LedgerReport | undefined
  readonly #stopped = { stopped: 0, killed: 0 }

  constructor(names: readonly string[], orders: Omit<Orders, 'node' | 'switches'>, switches: Readonly<Switches>, hearing: Hearing) {
    this.#orders = orders
    this.#switches = switches
    this.#hearing = hearing
    this.#lives = names.map((name) => ({
      name,
      state: 'down',
      child: undefined,
      hasJoined: false,
      observer: undefined,
      meter: undefined,
      ledger: undefined,
      askPlanner: 0,
    }))
    for (const life of this.#lives) this.#start(life)
  }

  get facts(): readonly NodeFacts[] {
    return this.#lives.map(({ name, state, child, meter, observer }) => ({
      name,
      state,
      pid: child?.pid,
      actors: meter?.actors ?? 0,
      heap: meter?.heap ?? 0,
      observer,
    }))
  }
  get askPlanner(): number {
    return Math.max(...this.#lives.map(({ askPlanner }) => askPlanner))
  }
  /** Of all processes together, with that of the tower. */
  sum(tower: MeterReading): MeterReading {
    const meters = [tower, ...this.#lives.flatMap(({ meter }) => (meter === undefined ? [] : [meter]))]
    const total = (of: (one: MeterReading) => number): number => meters.reduce((sum, one) => sum + of(one), 0)
    return {
      actors: total(({ actors }) => actors),
      restarts: total(({ restarts }) => restarts) + this.#past.restarts,
      threadsLost: total(({ threadsLost }) => threadsLost) + this.#past.threadsLost,
      heap: total(({ heap }) => heap),
      rss: total(({ rss }) => rss),
      handles: total(({ handles }) => handles),
      loopDelay: Math.max(...meters.map(({ loopDelay }) => loopDelay)),
    }
  }

  /**
   * Of all processes together: each counts what came to it, from wherever, so that each adds up by itself. What one that was killed had not
   * done a second before is unknown.
   */
  ledger(tower: LedgerReport): LedgerReport {
    return [this.#pastLedger, ...this.#lives.map(({ ledger }) => ledger)].reduce<LedgerReport>((sum, one) => (one ? add(sum, one) : sum), tower)
  }

  has(name: string): boolean {
    return this.#lives.some((life) => life.name === name)
  }
  kill(name: string): void {
    this.#lives.find((life) => life.name === name)?.child?.kill('SIGKILL')
  }
  /** To one that is up, by the number of its place. */
  hang(place: number): string | undefined {
    const up = this.#lives.filter(({ state }) => state === 'up')
    const life = up[place % Math.max(1, up.length)]
    if (life !== undefined) send(life, { type: 'hang' })
    return life?.name
  }
  switched(): void {
    for (const life of this.#lives) send(life, { type: 'switches', switches: { ...this.#switches } })
  }
  async end(patience: number): Promise<{ readonly stopped: number; readonly killed: number }> {
    this.#ending = true
    await Promise.all(
      this.#lives.map(async (life) => {
        const { child } = life
        if (child === undefined) return
        const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
        send(life, { type: 'stop' })
        const timer = setTimeout(() => child.kill('SIGKILL'), patience)
        await gone
        clearTimeout(timer)
      }),
    )
    return this.#stopped
  }

  #start(life: Life): void {
    if (this.#ending) return
    const orders: Orders = { ...this.#orders, node: life.name, switches: this.#switches }
    const child = fork(member, [JSON.stringify(orders)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' })
    life.child = child
    life.state = 'starting'
    let why = ''
    child.on('message', (news: News) => {
      if (news.type === 'failed') why = news.why
      else this.#heard(life, news)
    })
    child.once('exit', (code, signal) => this.#gone(life, why || (signal ?? `exit code ${code}`)))
    child.once('error', (cause) => this.#hearing.hopeless(cause.message))
  }
  #heard(life: Life, news: Exclude<News, { type: 'failed' }>): void {
    switch (news.type) {
      case 'joined':
        life.state = 'up'
        life.hasJoined = true
        life.observer = news.observer
        // What was switched while it began.
        send(life, { type: 'switches', switches: { ...this.#switches } })
        return this.#hearing.line(`node ${life.name} is there, as process ${life.child!.pid}; its share of districts comes to it`)
      case 'rows':
        return this.#hearing.rows(news.frame)
      case 'measured':
        life.meter = news.meter
        life.ledger = news.ledger
        life.askPlanner = news.askPlanner
        for (const { at, text } of news.lines) this.#hearing.line(`${life.name}: ${text}`, at)
        return
      case 'stopped':
        this.#stopped.stopped += news.stopped
        this.#stopped.killed += news.killed
    }
  }
  #gone(life: Life, how: string): void {
    const { restarts = 0, threadsLost = 0 } = life.meter ?? {}
    this.#past = { restarts: this.#past.restarts + restarts, threadsLost: this.#past.threadsLost + threadsLost }
    if (life.ledger !== undefined) this.#pastLedger = add(this.#pastLedger ?? nothing, ended(life.ledger))
    Object.assign(life, { state: 'down', child: undefined, observer: undefined, meter: undefined, ledger: undefined, askPlanner: 0 })
    if (this.#ending) return
    // What it could not begin with at all it will not begin with the next time.
    if (!life.hasJoined) return this.#hearing.hopeless(`node ${life.name} could not begin: ${how}`)
    this.#hearing.line(`node ${life.name} is gone (${how}); the others take its districts, and it is back in ten seconds`)
    this.#back(life, backAfter)
  }
  /** Starts it again after so many milliseconds, and not before the others have its districts, if there are others. */
  #back(life: Life, ms: number): void {
    const isUp = ({ state }: Life): boolean => state === 'up'
    const back = (): void => {
      if (this.#hearing.owns(life.name) && this.#lives.some(isUp)) this.#back(life, checkEvery)
      else this.#start(life)
    }
    // A process that is told to stop does not wait for it.
    setTimeout(back, ms).unref()
  }
}

const nothing: LedgerReport = {
  sent: 0, handled: 0, failed: 0, unhandled: 0, dropped: 0, deadLettered: 0, queued: 0, stashed: 0, inProgress: 0, unknown: 0,
} // prettier-ignore
const add = (a: LedgerReport, b: LedgerReport): LedgerReport =>
  Object.fromEntries(Object.keys(nothing).map((name) => [name, a[name as keyof LedgerReport] + b[name as keyof LedgerReport]])) as never
/** Nobody knows any more what became of what was under way. */
const ended = (ledger: LedgerReport): LedgerReport => ({
  ...ledger,
  queued: 0,
  stashed: 0,
  inProgress: 0,
  unknown: ledger.unknown + ledger.queued + ledger.stashed + ledger.inProgress,
})

function send({ child }: Life, order: Order): void {
  if (child?.connected === true) child.send(order, () => {})
}
