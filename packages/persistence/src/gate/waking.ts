// Rings when timers are due, of actors that live and of those that sleep: by the index of the journal, which every record that sets or
// removes a timer changes with it. So nothing is remembered here but when to look next. What was told and is still there at the next look
// is told again; whoever hears it twice does nothing the second time.

import type { Journal } from '../journal/port.ts'
import { FenceLost } from '../values/errors.ts'
import type { DueTimer } from '../values/stored.ts'

/** What waking asks of whoever has the journal. */
export interface WakingHost {
  readonly closing: boolean
  readable(): Promise<Journal>
  now(): number
  /** Monotonic milliseconds. */
  ticks(): number
  after(ms: number, task: () => void): () => void
  breathe(): Promise<void>
  /** Tells an actor that its timer is due, wherever it is. */
  ring(timer: DueTimer): void
}

/** How many timers are read at a time. */
const page = 256
/** Milliseconds until what was told is told again, doubling. */
const shortest = 500
const longest = 10_000
/** Milliseconds by which a timer may be late where the clock was put forward. */
const longestWait = 10_000
/** Milliseconds by which the clock must have been put back for all timers to be looked at. */
const rewindMs = 1000

export class Waking {
  readonly #host: WakingHost
  /** When it will look. */
  #at = Infinity
  #cancel: (() => void) | undefined
  #looking = false
  /** It was time to look while it looked. */
  #missed = false
  #pause = shortest
  /** By how much the clock is ahead of the one that nobody sets. */
  #ahead: number

  constructor(host: WakingHost) {
    this.#host = host
    this.#ahead = host.now() - host.ticks()
  }

  /** A timer was set, or may be there: it is looked at no later than this. */
  noted(due: number): void {
    this.#pause = shortest
    this.#plan(due)
  }
  #plan(due: number): void {
    if (due >= this.#at || this.#host.closing) return
    this.#cancel?.()
    this.#at = due
    this.#wait()
  }
  /** Waits by a clock that nobody sets for a time of one that is set, and that goes on while a machine sleeps: so both are compared now and then. */
  #wait(): void {
    const left = this.#at - this.#host.now()
    this.#cancel = this.#host.after(Math.min(longestWait, Math.max(0, left)), () => {
      this.#cancel = undefined
      if (this.#host.closing) return
      if (this.#wasPutBack()) void this.#tellAll()
      if (this.#at > this.#host.now()) return this.#wait()
      this.#at = Infinity
      void this.#look()
    })
  }
  #wasPutBack(): boolean {
    const before = this.#ahead
    this.#ahead = this.#host.now() - this.#host.ticks()
    return this.#ahead < before - rewindMs
  }
  /** The clock was put back: a timer that repeats may be due a year from now, and only its actor knows that it repeats. */
  async #tellAll(): Promise<void> {
    try {
      const journal = await this.#host.readable()
      for (let last: DueTimer | undefined; ;) {
        const timers = await journal.due(Number.MAX_VALUE, page, last)
        if (this.#host.closing) return
        for (const timer of timers) this.#host.ring(timer)
        last = timers.at(-1) ?? last
        if (timers.length < page) return
        await this.#host.breathe()
      }
    } catch {
      // Away, or not ours any more: actors look at their timers when they start again.
    }
  }
  end(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  async #look(): Promise<void> {
    // Whoever looks already will look once more.
    if (this.#looking) return void (this.#missed = true)
    this.#looking = true
    const now = this.#host.now()
    let again: number
    try {
      again = await this.#tell(now)
    } catch (cause) {
      // Away: it will be back. Not ours any more: somebody else rings.
      again = cause instanceof FenceLost ? Infinity : now + this.#patience()
    }
    this.#looking = false
    if (this.#missed) again = this.#host.now()
    this.#missed = false
    this.#plan(again)
  }
  #patience(): number {
    const pause = this.#pause
    this.#pause = Math.min(longest, pause * 2)
    return pause
  }

  /** Tells all that is due; returns when to look again. */
  async #tell(now: number): Promise<number> {
    const journal = await this.#host.readable()
    let last: DueTimer | undefined
    for (;;) {
      const due = await journal.due(now, page, last)
      if (this.#host.closing) return Infinity
      for (const timer of due) this.#host.ring(timer)
      last = due.at(-1) ?? last
      if (due.length < page) break
      // A million that are due together have their turns one after the other.
      await this.#host.breathe()
    }
    const [next] = await journal.due(Number.MAX_VALUE, 1, last)
    if (last === undefined) this.#pause = shortest
    return Math.min(next?.due ?? Infinity, last === undefined ? Infinity : now + this.#patience())
  }
}
