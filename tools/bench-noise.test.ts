// The statistics of `npm run bench:diff`: noise is not taken for a difference, and a difference not for noise.

import { describe, expect, test } from 'vitest'
import { compare, type Rounds, steadier } from '../bench/run/noise.ts'

/** Rounds of a machine that strays by about so much, and now and then by a lot more; head differs by a factor. */
function rounds(seed: number, stray: number, factor: number, count = 9): Required<Rounds> {
  let state = seed
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return ((state >>> 8) & 0xffff) / 0x10000
  }
  const measure = (): number => Math.exp((uniform() + uniform() + uniform() - 1.5) * 2 * stray - (uniform() < 0.1 ? 5 * stray : 0))
  // What disturbs a whole round disturbs all of it.
  const list = Array.from({ length: count }, () => {
    const round = 1e6 * Math.exp((uniform() - 0.5) * 0.4)
    return [round * measure(), round * measure(), round * measure() * factor] as const
  })
  return { base: list.map((r) => r[0]), again: list.map((r) => r[1]), head: list.map((r) => r[2]) }
}

const seeds = Array.from({ length: 120 }, (_, i) => i * 7919 + 1)
const share = (stray: number, factor: number, verdict: string): number =>
  seeds.filter((seed) => compare(rounds(seed, stray, factor)).verdict === verdict).length / seeds.length

describe('a comparison', () => {
  test('of the same code is within noise, in nearly all cases, however noisy the machine', () => {
    for (const stray of [0.005, 0.02, 0.08]) expect(share(stray, 1, 'within noise')).toBeGreaterThan(0.9)
  })
  test('finds what is three times the noise of a round, in both directions', () => {
    expect(share(0.01, 1.05, 'better')).toBeGreaterThan(0.9)
    expect(share(0.01, 1 / 1.05, 'worse')).toBeGreaterThan(0.9)
  })
  test('says how large the noise is: more rounds make it smaller', () => {
    const few = compare(rounds(5, 0.03, 1, 5)).noise
    const many = compare(rounds(5, 0.03, 1, 45)).noise
    expect(many).toBeLessThan(few)
    expect(few).toBeLessThan(0.3)
  })
  test('of figures without noise is exact', () => {
    const flat = [100, 100, 100]
    expect(compare({ base: flat, again: flat })).toEqual({ self: 1, ratio: 1, noise: 0, verdict: 'within noise' })
    expect(compare({ base: flat, again: flat, head: [101, 101, 101] })).toMatchObject({ noise: 0, verdict: 'better' })
  })
  test('is the same each time', () => {
    expect(compare(rounds(3, 0.02, 1.01))).toEqual(compare(rounds(3, 0.02, 1.01)))
  })
})

test('the steadier clock is the one with less noise', () => {
  expect(steadier({ cpu: rounds(1, 0.01, 1), wall: rounds(2, 0.1, 1) })).toBe('cpu')
  expect(steadier({ cpu: rounds(1, 0.1, 1), wall: rounds(2, 0.01, 1) })).toBe('wall')
})
