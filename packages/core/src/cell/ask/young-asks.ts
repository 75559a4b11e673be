// Deadlines of questions that are likely to be answered before anybody needs to know them. They join the timers only
// when the drain that was to answer them is over, so that an ask that is answered at once costs the heap nothing, and
// one that is asked from outside costs no clock read of its own: its time begins when the drain does.

import type { TimerQueue } from '../../queues/timers.ts'
import type { PendingAsk } from './ask.ts'

export class YoungAsks {
  readonly #timers: TimerQueue
  #asks: PendingAsk[] = []
  /** When the drain that is under way began: all that was asked from outside and is still here was asked before it. */
  began = 0
  constructor(timers: TimerQueue) {
    this.#timers = timers
  }

  /** Takes a question whose dispatcher is awake; without `at`, its time begins with the next drain. */
  add(ask: PendingAsk): void {
    this.#asks.push(ask)
  }

  /** Arms what is still unanswered. */
  arm(): void {
    const asks = this.#asks
    if (asks.length === 0) return
    if (asks.length === 1) {
      const ask = asks.pop()!
      if (!ask.settled) this.#set(ask)
      return
    }
    this.#asks = []
    for (const ask of asks) if (!ask.settled) this.#set(ask)
  }

  #set(ask: PendingAsk): void {
    this.#timers.set(ask, ask.at ?? this.began + ask.timeout)
  }
}
