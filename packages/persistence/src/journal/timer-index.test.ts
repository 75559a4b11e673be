import { expect, test } from 'vitest'
import type { DueTimer } from '../values/stored.ts'
import { inTimerOrder, TimerIndex } from './timer-index.ts'

/** The same numbers each time. */
function random(): (below: number) => number {
  let seed = 7
  return (below) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
}

test('an index finds what a sorted list finds, whatever was added and removed', () => {
  const index = new TimerIndex()
  const pick = random()
  const all: DueTimer[] = []
  for (let i = 0; i < 5000; i++) {
    const timer = { id: `a/${pick(3)}`, key: `k${i}`, due: pick(500) }
    if (pick(3) === 0 && all.length > 0) index.remove(all.splice(pick(all.length), 1)[0]!)
    else {
      index.add(timer)
      all.push(timer)
    }
    if (i % 100 !== 0) continue
    const sorted = all.toSorted(inTimerOrder)
    const after = sorted[pick(sorted.length)]
    const until = pick(500)
    const expected = sorted.filter((one) => one.due <= until && (after === undefined || inTimerOrder(one, after) > 0)).slice(0, 50)
    expect(index.upTo(until, 50, after)).toEqual(expected)
  }
})

test('twenty times as many timers take at most one and a half times as many comparisons each', () => {
  const each = [1000, 20_000].map((count) => {
    let compared = 0
    const index = new TimerIndex((a, b) => {
      compared++
      return inTimerOrder(a, b)
    })
    const pick = random()
    const timers = Array.from({ length: count }, (_, i) => ({ id: 'a/1', key: `k${i}`, due: pick(1_000_000) }))
    for (const timer of timers) index.add(timer)
    for (let last: DueTimer | undefined, page = index.upTo(Infinity, 256, undefined); page.length > 0; page = index.upTo(Infinity, 256, last))
      last = page.at(-1)
    for (const timer of timers) index.remove(timer)
    return compared / count
  })
  expect(each[1]! / each[0]!).toBeLessThan(1.5)
})
