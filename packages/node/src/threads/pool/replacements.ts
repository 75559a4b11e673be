// How soon a lost thread is replaced: at once the first time, then ever later while losses go on, so that what kills
// threads cannot keep the machine busy with starting them.

import type { ExecutionRuntime } from '@troupe/core'

const first = 10
const longest = 5000
/** Milliseconds without a loss after which a place starts afresh. */
const quiet = 10_000
/** Losses that are forgiven before the waiting begins. */
const free = 3

export class Replacements {
  readonly #runtime: ExecutionRuntime
  readonly #places = new Map<number, { losses: number; last: number }>()
  readonly #waiting = new Map<() => void, () => void>()
  constructor(runtime: ExecutionRuntime) {
    this.#runtime = runtime
  }
  lost(place: number): void {
    const now = this.#runtime.now()
    const before = this.#places.get(place)
    this.#places.set(place, { losses: before === undefined || now - before.last > quiet ? 1 : before.losses + 1, last: now })
  }
  /** Resolves when the place may have its next thread. */
  ready(place: number): Promise<void> {
    const losses = this.#places.get(place)?.losses ?? 0
    if (losses <= free) return Promise.resolve()
    const delay = Math.min(longest, first * 2 ** (losses - free - 1))
    return new Promise((resolve) => {
      const cancel = this.#runtime.timer(delay, () => {
        this.#waiting.delete(resolve)
        resolve()
      })
      this.#waiting.set(resolve, cancel)
    })
  }
  close(): void {
    for (const [resolve, cancel] of this.#waiting) {
      cancel()
      resolve()
    }
    this.#waiting.clear()
  }
}
