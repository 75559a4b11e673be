// The last of what is worth looking at, in a bounded ring, and how many there were in all: messages that reached nobody, and failures.

import type { DeadLetter } from '../values/dead-letter.ts'
import type { Failure } from '../values/failure.ts'

/** What `system.deadLetters` gives: the letters kept, oldest first, and the count of all. */
export interface DeadLetters {
  /** How many there were since the system was created. */
  readonly count: number
  /** The most recent ones, oldest first; at most the system's `deadLetterCapacity`. */
  list(): readonly DeadLetter[]
}

/** What `system.failures` gives: the failures kept, oldest first, and the count of all. */
export interface Failures {
  /** How many there were since the system was created. */
  readonly count: number
  /** The most recent ones, oldest first; at most the system's `failureCapacity`. */
  list(): readonly Failure[]
}

export class Recent<T> {
  readonly #capacity: number
  readonly #kept: T[] = []
  #next = 0
  count = 0
  constructor(capacity: number) {
    this.#capacity = capacity
  }
  add(item: T): void {
    this.count++
    if (this.#kept.length < this.#capacity) this.#kept.push(item)
    else if (this.#capacity > 0) {
      this.#kept[this.#next] = item
      this.#next = (this.#next + 1) % this.#capacity
    }
  }
  list(): readonly T[] {
    return [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)]
  }
}
