// What may come by the thousand and is told to people: the first few of each second pass one by one, the rest is summed up when
// the second is over.

import type { Deadline, TimerQueue } from '../../queues/timers.ts'

export const stormWindow = 1000

export class Storm implements Deadline {
  at = 0
  order = 0
  #passed = 0
  #summed = 0
  #until = 0
  readonly #few: number
  readonly #timers: TimerQueue
  readonly #sum: (count: number) => void
  /** `sum` is told how many did not pass. */
  constructor(few: number, timers: TimerQueue, sum: (count: number) => void) {
    this.#few = few
    this.#timers = timers
    this.#sum = sum
  }
  /** Whether this one passes. */
  takes(): boolean {
    const now = this.#timers.now()
    if (now >= this.#until) {
      this.fire()
      this.#until = now + stormWindow
      this.#passed = 0
    }
    if (++this.#passed <= this.#few) return true
    if (++this.#summed === 1 && this.order === 0) this.#timers.set(this, this.#until)
    return false
  }
  /** Tells of those that did not pass so far. */
  fire(): void {
    const summed = this.#summed
    this.#summed = 0
    if (summed > 0) this.#sum(summed)
  }
}
