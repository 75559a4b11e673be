// The ways between threads other than the main one: made when one of two asks, one for each pair, and forgotten with either.

import { wire } from '../wire/media.ts'
import type { Medium, Way } from '../wire/medium.ts'
import type { Thread } from './thread.ts'

interface Pair {
  readonly a: number
  readonly b: number
  readonly way: Way
}

export class Ways {
  readonly #medium: Medium
  readonly #pairs = new Map<string, Pair>()
  constructor(medium: Medium) {
    this.#medium = medium
  }

  /** Gives both their ends, unless they have them: both may have asked at once. */
  join(one: Thread, other: Thread): void {
    const [a, b] = one.epoch < other.epoch ? [one, other] : [other, one]
    const key = `${a.epoch} ${b.epoch}`
    if (this.#pairs.has(key)) return
    const { atA, atB, way } = wire(this.#medium, a.epoch, b.epoch)
    this.#pairs.set(key, { a: a.epoch, b: b.epoch, way })
    other.give(other === a ? atA : atB)
    one.give(one === a ? atA : atB)
  }
  forget(epoch: number): void {
    for (const [key, { a, b }] of this.#pairs) if (a === epoch || b === epoch) this.#pairs.delete(key)
  }
  /** Bytes in each that were not read, in words. */
  get standing(): readonly string[] {
    return Array.from(this.#pairs.values(), ({ a, b, way }) => `way between threads ${a} ${b}: ${way.standing()}`)
  }
}
