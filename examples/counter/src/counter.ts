// A counter that stays between 0 and its maximum. Its methods are its protocol; `#count` is nobody else's.

import { Actor } from '@troupe/core'

export class Counter extends Actor {
  readonly #log: (line: string) => void
  #count = 0
  #max: number

  constructor(max: number, log: (line: string) => void) {
    super()
    this.#max = max
    this.#log = log
  }

  increment(): void {
    if (this.#count < this.#max) this.#count++
  }
  decrement(): void {
    if (this.#count > 0) this.#count--
  }
  reset(): void {
    this.#count = 0
  }
  setMax(max: number): void {
    if (!Number.isInteger(max) || max < 0) throw new RangeError(`${max} is no maximum`)
    this.#max = max
    this.#count = Math.min(this.#count, max)
  }
  get(): number {
    return this.#count
  }

  override onStart(): void {
    this.#log('started')
  }
  override onStop(): void {
    this.#log('stopped')
  }
  /** Hears of every failure first. The supervisor decides what happens next; with `resume` the count is what we leave here. */
  override onError(cause: unknown): void {
    this.#log(`failed: ${(cause as Error).message}`)
    this.#count = 0
  }
}
