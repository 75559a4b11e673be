// Counts of the refs that other places hold of an actor, in any order of their reports.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Holds } from './holds.ts'

test('an actor is free once each place has given back all that it got, and not before', () => {
  const freed: number[] = []
  const holds = new Holds((uid) => freed.push(uid))
  holds.add(7, 1, 1)
  holds.add(7, 2, 1)
  holds.add(7, 1, 1)
  holds.told(7, 1, -2)
  expect(freed).toEqual([])
  holds.told(7, 2, -1)
  expect(freed).toEqual([7])
})

test('a place that gives back what another passed on, before the home hears of that, frees nothing', () => {
  const freed: number[] = []
  const holds = new Holds((uid) => freed.push(uid))
  holds.add(7, 1, 1)
  // The second place got it from the first, whose news are under way.
  holds.told(7, 2, -1)
  expect(freed).toEqual([])
  holds.told(7, 2, 1)
  expect(freed).toEqual([])
  holds.told(7, 1, -1)
  expect(freed).toEqual([7])
})

test('a report about an actor that no place holds changes nothing', () => {
  const freed: number[] = []
  const holds = new Holds((uid) => freed.push(uid))
  holds.told(7, 1, 1)
  holds.told(7, 1, -1)
  expect(freed).toEqual([])
})

test('what a lost place held is free', () => {
  const freed: number[] = []
  const holds = new Holds((uid) => freed.push(uid))
  holds.add(7, 1, 3)
  holds.add(8, 1, 1)
  holds.add(8, 2, 1)
  holds.lost(1)
  expect(freed).toEqual([7])
})

test('descriptions that came are given back once, in whatever order of news the sum is that of all', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 })), { minLength: 1 }),
      fc.infiniteStream(fc.nat()),
      (got, dice) => {
        const freed: number[] = []
        const holds = new Holds((uid) => freed.push(uid))
        // One stays to the end, as that of a place that passes a ref on does.
        holds.add(7, 9, 1)
        const news = got.flatMap(([place, count]) => [...Array.from({ length: count }, () => [place, 1] as const), [place, -count] as const])
        for (const [place, count] of shuffled(news, dice)) holds.told(7, place, count)
        expect(freed).toEqual([])
        holds.add(7, 9, -1)
        expect(freed).toEqual([7])
      },
    ),
  )
  const holds = new Holds(() => {})
  for (let i = 0; i < 3; i++) holds.read(5)
  expect([holds.collected(5), holds.collected(5)]).toEqual([3, 0])
})

function shuffled<T>(all: readonly T[], dice: Iterator<number>): readonly T[] {
  const left = [...all]
  return Array.from(all, () => left.splice(dice.next().value % left.length, 1)[0]!)
}
