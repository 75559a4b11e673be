// What went from whom to whom since the last report, counted from samples. In a crowd nearly every sample is of a way that was not seen before: so a way
// is known by numbers, of which no text has to be made, and what sort of actor is at its ends is asked only when it is new.

import { type Cell, kindOfActor } from '@troupe/core/internal'
import type { Flow } from './span.ts'

/** Ways between two reports; what is beyond is not counted. */
const most = 5000
/** Two numbers below it are one number. Those of actors on threads are above. */
const small = 2 ** 26

/** Who sends, where that is not an actor. */
export type Elsewhere = 'timers' | 'outside'

export class Ways {
  /** By type of message, then by who sends and who receives. */
  #byType = new Map<string, Map<number | string, Flow & { messages: number }>>()
  #size = 0

  /** `weight`: for how many sends this one stands. */
  add(sender: Cell | Elsewhere, receiver: Cell | undefined, type: string, weight: number): void {
    const from = typeof sender === 'string' ? sender : sender.ref.uid
    const to = receiver?.ref.uid ?? 0
    let ways = this.#byType.get(type)
    const key = typeof from === 'number' && from < small && to < small ? from * small + to : `${from} ${to}`
    const way = ways?.get(key)
    if (way !== undefined) way.messages += weight
    else if (this.#size < most) {
      this.#size++
      if (ways === undefined) this.#byType.set(type, (ways = new Map()))
      const fromKind = typeof sender === 'string' ? sender : kindOfActor(sender)
      const toKind = receiver === undefined ? 'outside' : kindOfActor(receiver)
      ways.set(key, { from, to, fromKind, toKind, type, messages: weight })
    }
  }

  /** All of them, and begins anew. */
  take(): readonly Flow[] {
    const all = [...this.#byType.values()].flatMap((ways) => Array.from(ways.values()))
    this.clear()
    return all
  }

  clear(): void {
    this.#byType = new Map()
    this.#size = 0
  }
}
