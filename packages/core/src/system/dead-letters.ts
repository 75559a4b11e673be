// The last messages that reached nobody, in a bounded ring, and how many there were in all.

import type { DeadLetter } from '../values/dead-letter.ts'

/** What `system.deadLetters` gives: the letters kept, oldest first, and the count of all. */
export interface DeadLetters {
  /** How many there were since the system was created. */
  readonly count: number
  /** The most recent ones, oldest first; at most the system's `deadLetterCapacity`. */
  list(): readonly DeadLetter[]
}

export class DeadLetterRing implements DeadLetters {
  readonly #capacity: number
  readonly #letters: DeadLetter[] = []
  #next = 0
  count = 0
  constructor(capacity: number) {
    this.#capacity = capacity
  }
  add(letter: DeadLetter): void {
    this.count++
    if (this.#letters.length < this.#capacity) this.#letters.push(letter)
    else if (this.#capacity > 0) {
      this.#letters[this.#next] = letter
      this.#next = (this.#next + 1) % this.#capacity
    }
  }
  list(): readonly DeadLetter[] {
    return [...this.#letters.slice(this.#next), ...this.#letters.slice(0, this.#next)]
  }
}
