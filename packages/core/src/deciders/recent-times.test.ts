// Times against the plain list of them: exact up to 1,000, and beyond that never too few and hardly too many.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RecentTimes } from './recent-times.ts'

const plainly = (times: readonly number[], now: number, within: number): readonly number[] => times.filter((t) => t > now - within)

describe('up to 1,000', () => {
  test('counts are exact, for every window, whichever was noted', () => {
    const windows = fc.integer({ min: 1, max: 5000 })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 40 }), windows), { maxLength: 300 }), windows, fc.nat({ max: 500 }), (steps, asked, later) => {
        const recent = new RecentTimes()
        const all: number[] = []
        let now = 0
        for (const [gap, within] of steps) {
          now += gap
          recent.add(now, within)
          all.push(now)
        }
        now += later
        const expected = plainly(all, now, asked)
        expect(recent.within(now, asked)).toEqual({ count: expected.length, first: expected[0] ?? now })
      }),
      { numRuns: 300 },
    )
  })
  test('a time is in its window until it is as old as that, and not longer', () => {
    const recent = new RecentTimes()
    expect([recent.within(5, 10), recent.last]).toEqual([{ count: 0, first: 5 }, -Infinity])
    recent.add(5, 10)
    expect([recent.within(14, 10).count, recent.within(15, 10).count, recent.last]).toEqual([1, 0, 5])
  })
})

describe('beyond', () => {
  test('whether there were at least 1,000 is exact, also long after', () => {
    const recent = new RecentTimes()
    for (let t = 0; t < 10_000; t++) recent.add(t, 50)
    expect(recent.within(9999, 1000).count).toBe(1000)
    expect(recent.within(9999, 999).count).toBe(999)
    expect(recent.within(10_500, 1000).count).toBe(499)
  })
  test('a count is never too low, and too high by at most what happens in a 500th of the longest window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 2000 }), fc.double({ min: 0, max: 20, noNaN: true })), { minLength: 1, maxLength: 10 }),
        (within, bursts) => {
          const recent = new RecentTimes()
          const all: number[] = []
          let now = 0
          for (const [times, gap] of bursts)
            for (let i = 0; i < times; i++) {
              now += gap
              recent.add(now, within)
              all.push(now)
            }
          const { count, first } = recent.within(now, within)
          expect(count).toBeGreaterThanOrEqual(plainly(all, now, within).length)
          expect(count).toBeLessThanOrEqual(plainly(all, now, within * (1 + 1 / 500) + 1e-6).length)
          expect(first).toBeGreaterThan(now - within * (1 + 1 / 500) - 1e-6)
        },
      ),
      { numRuns: 60 },
    )
  })
  test('a bucket is no wider than a 500th of the longest window, wherever the window begins', () => {
    const recent = new RecentTimes()
    for (let t = 0; t < 10_000; t++) recent.add(t, 5000)
    for (let later = 0; later < 60; later++) {
      const { count } = recent.within(9999 + later, 5000)
      expect(count).toBeGreaterThanOrEqual(5000 - later)
      expect(count).toBeLessThanOrEqual(5010 - later)
    }
  })
  test('a window longer than any before counts everything older than those, rather than forgetting it', () => {
    const recent = new RecentTimes()
    for (let t = 0; t < 5000; t++) recent.add(t, 100)
    expect(recent.within(5000, 4500).count).toBeGreaterThanOrEqual(4499)
  })
  test('memory is bounded, whatever the rate and the windows', () => {
    const recent = new RecentTimes()
    let now = 0
    for (let i = 0; i < 200_000; i++) recent.add((now += i % 7), 1000 + (i % 3) * 20_000)
    expect(recent.kept).toBeLessThanOrEqual(2000)
  })
})
