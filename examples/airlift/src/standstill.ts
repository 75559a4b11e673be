// Whether the machine stood still (asleep, or stopped from outside). The soak's own process has next to nothing to do, so where even it did not run
// for seconds, nobody did. A process that is merely slow, or starved by others, is none of that: what it says late counts.

/** Milliseconds without a look from which on it stood still. */
const longest = 5000

export class Standstill {
  readonly #now: () => number
  #last: number
  #stale = false
  /** How often, and for how long in all. */
  count = 0
  ms = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#last = now()
  }

  /** To be called at least once in a second. */
  look(): void {
    const gap = this.#now() - this.#last
    this.#last += gap
    if (gap <= longest) return
    this.count++
    this.ms += gap
    this.#stale = true
  }
  /** Whether it stood still since this was asked last: then what was measured meanwhile says nothing. */
  takeStale(): boolean {
    this.look()
    const stale = this.#stale
    this.#stale = false
    return stale
  }
}
