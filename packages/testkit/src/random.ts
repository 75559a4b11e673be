// A small seeded generator: the same seed, the same numbers, on every machine.

import { InvalidOption } from '@troupe/core'

/**
 * Numbers in [0, 1) from a seed (mulberry32).
 *
 * @example
 * const chance = seeded(7)
 * chance() === seeded(7)() // true
 */
export function seeded(seed: number): () => number {
  if (!Number.isFinite(seed)) throw new InvalidOption('seed', seed, 'use a number')
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
