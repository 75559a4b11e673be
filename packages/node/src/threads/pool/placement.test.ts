// Which thread takes the next actor, as a pure choice.

import { expect, test } from 'vitest'
import { checkPlacement } from '@troupe/border'
import { choose, type ThreadLoad } from './placement.ts'

const load = (slot: number, more: Partial<ThreadLoad> = {}): ThreadLoad => ({ epoch: slot + 10, slot, actors: 0, queued: 0, busy: 0, ...more })

test('round robin takes each in turn, by place and not by age', () => {
  const threads = [load(1, { epoch: 99 }), load(0)]
  expect([0, 1, 2, 3].map((turn) => choose('round-robin', threads, turn).slot)).toEqual([0, 1, 0, 1])
})

test('the least loaded has the shortest queue, then the idler loop, then fewer actors', () => {
  expect(choose('least-loaded', [load(0, { queued: 5 }), load(1, { busy: 0.04 })], 0).slot).toBe(1)
  expect(choose('least-loaded', [load(0, { busy: 0.9 }), load(1, { busy: 0.1, actors: 50 })], 0).slot).toBe(1)
  expect(choose('least-loaded', [load(0, { actors: 2 }), load(1, { actors: 1 })], 0).slot).toBe(1)
})

test('a key always leads to the same place, and keys spread', () => {
  const threads = [load(0), load(1), load(2), load(3)]
  const places = Array.from({ length: 100 }, (_, i) => choose({ key: `tenant ${i}` }, threads, i).slot)
  expect(places).toEqual(Array.from({ length: 100 }, (_, i) => choose({ key: `tenant ${i}` }, threads, 7).slot))
  expect(new Set(places).size).toBe(4)
})

test('a certain thread must be there, and a rule must be one', () => {
  expect(choose({ thread: 1 }, [load(0), load(1)], 0).slot).toBe(1)
  expect(() => choose({ thread: 2 }, [load(0), load(1)], 0)).toThrow(/threads 0 to 1/)
  for (const rule of ['random', { key: 1 }, { thread: -1 }, null]) expect(() => checkPlacement(rule as never)).toThrow(/placement/)
})
