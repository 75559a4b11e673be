// One actor that somebody looks at closely: how long its messages wait and how long they take, who sends them, and what it was given last.
// Of its messages those are timed that are sampled anyway; what it is given is written down as it comes. Other actors go on as they were.

import type { FlightEntry, FlightLog, FlightNote } from '@troupe/core'
import { type Cell, Histogram, pathOf, recordCell } from '@troupe/core/internal'
import type { Flow, Origin, Span } from './span.ts'
import type { Follower } from './traced.ts'

/** What it was given lately, and how many rounds of senders are put together. */
const keptLast = 40
const roundsKept = 10

/** One thing that the actor was given. The value is held as it is, not copied. */
export interface Given {
  readonly what: 'message' | 'signal' | 'answer' | 'phase'
  readonly at: number
  readonly type: string
  readonly sender: string | undefined
  readonly value: unknown
}

/** About so many messages went between it and another, in a second. */
export interface Partner {
  readonly who: Origin
  readonly type: string
  readonly rate: number
}

/** What is known of one actor because somebody looks at it closely. Times are milliseconds of the system's clock. */
export class Closeness implements Follower, FlightLog {
  readonly uid: number
  /** Milliseconds in its mailbox, and in its handlers. */
  readonly queueTime: Histogram = new Histogram()
  readonly handlerTime: Histogram = new Histogram()
  readonly last: Given[] = []
  readonly #core: Cell['host']
  readonly #end: () => void
  #rounds: { readonly seconds: number; readonly flow: readonly Flow[] }[] = []

  constructor(cell: Cell) {
    this.uid = cell.ref.uid
    this.#core = cell.host
    // What stands here for an actor of another thread is given nothing here.
    this.#end = cell.endsElsewhere ? () => {} : recordCell(cell, this)
  }
  end(): void {
    this.#end()
  }

  get now(): number {
    return this.#core.runtime.now()
  }
  /** A message of its own that is timed; nothing that it sends is followed because of it. */
  begins(type: string, from: Origin): Span {
    return {
      trace: 0,
      id: 0,
      parent: undefined,
      from,
      to: this.uid,
      type,
      how: 'tell',
      sentAt: this.now,
      takenAt: undefined,
      returnedAt: undefined,
      doneAt: undefined,
    }
  }
  run(span: Span, cell: Cell, handler: () => unknown): unknown {
    // It was passed on: how long another takes is not asked here.
    if (cell.ref.uid !== this.uid) return handler()
    const { takenAt = this.now } = span
    this.queueTime.add(Math.max(0, takenAt - span.sentAt))
    const done = (): void => this.handlerTime.add(this.now - takenAt)
    let returned: unknown
    try {
      returned = handler()
    } catch (cause) {
      done()
      throw cause
    }
    if (returned instanceof Promise) returned.then(done, done)
    else done()
    return returned
  }
  forwarded(span: Span): Span {
    return span
  }

  /** What was sampled in one round. */
  take(flow: readonly Flow[], seconds: number): void {
    const { uid } = this
    this.#rounds = [...this.#rounds.slice(1 - roundsKept), { seconds, flow: flow.filter(({ from, to }) => from === uid || to === uid) }]
  }
  /** Who sends to it, the most first. */
  get senders(): readonly Partner[] {
    return this.#partners(({ to }) => to === this.uid, 'from')
  }
  /** To whom it sends, the most first. */
  get receivers(): readonly Partner[] {
    return this.#partners(({ from }) => from === this.uid, 'to')
  }
  #partners(fits: (flow: Flow) => boolean, side: 'from' | 'to'): readonly Partner[] {
    const seconds = this.#rounds.reduce((sum, round) => sum + round.seconds, 0)
    const sums = new Map<string, { who: Origin; type: string; messages: number }>()
    for (const { flow } of this.#rounds)
      for (const one of flow) {
        if (!fits(one)) continue
        const key = `${one[side]} ${one.type}`
        const known = sums.get(key)
        if (known === undefined) sums.set(key, { who: one[side], type: one.type, messages: one.messages })
        else known.messages += one.messages
      }
    return [...sums.values()]
      .map(({ who, type, messages }) => ({ who, type, rate: messages / Math.max(0.001, seconds) }))
      .toSorted((a, b) => b.rate - a.rate)
      .slice(0, 12)
  }

  entries(): readonly FlightEntry[] {
    return []
  }
  add(entry: FlightEntry): void {
    const { what, at } = entry
    if (what === 'phase') this.#put({ what, at, type: entry.to, sender: undefined, value: undefined })
    else this.#put({ what, at, type: entry.type, sender: entry.sender === undefined ? undefined : pathOf(entry.sender), value: entry.message })
  }
  note(note: FlightNote): void {
    const { what, at } = note
    if (what === 'signal') this.#put({ what, at, type: note.type, sender: undefined, value: note.signal })
    else this.#put({ what, at, type: note.ok ? 'answer' : 'no answer', sender: pathOf(note.of), value: note.value })
  }
  #put(given: Given): void {
    if (this.last.length >= keptLast) this.last.shift()
    this.last.push(given)
  }
}
