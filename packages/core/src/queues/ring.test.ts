// The two rings against an array as model.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MessageRing, Ring } from './ring.ts'

test('a message ring behaves as an array of pairs, whatever is pushed, put in front and taken', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ op: fc.constant('push' as const), meta: fc.option(fc.nat(), { nil: undefined }) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('unshift' as const), meta: fc.option(fc.nat(), { nil: undefined }) }) },
    { weight: 4, arbitrary: fc.record({ op: fc.constant('shift' as const), meta: fc.constant(undefined) }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const ring = new MessageRing()
      const model: [unknown, unknown][] = []
      let n = 0
      for (const { op, meta } of steps) {
        if (op === 'push') {
          ring.push(++n, meta)
          model.push([n, meta])
        } else if (op === 'unshift') {
          ring.unshift(++n, meta)
          model.unshift([n, meta])
        } else {
          const expected = model.shift()
          expect(ring.shift()).toBe(expected?.[0])
          if (expected !== undefined) expect(ring.meta).toBe(expected[1])
        }
        expect(ring.size).toBe(model.length)
      }
      for (const [message, meta] of model) {
        expect(ring.shift()).toBe(message)
        expect(ring.meta).toBe(meta)
      }
      expect(ring.shift()).toBeUndefined()
    }),
    { numRuns: 200 },
  )
})

test('a message ring that grew large goes on rightly after it ran empty', () => {
  const ring = new MessageRing()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10_000; i++) ring.push(i, i % 3 === 0 ? `m${i}` : undefined)
    for (let i = 0; i < 10_000; i++) {
      expect(ring.shift()).toBe(i)
      expect(ring.meta).toBe(i % 3 === 0 ? `m${i}` : undefined)
    }
    expect(ring.size).toBe(0)
  }
})

test('a plain ring behaves as an array', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('push' as const, 'push' as const, 'shift' as const), { maxLength: 300 }), (steps) => {
      const ring = new Ring<number>()
      const model: number[] = []
      let n = 0
      for (const op of steps) {
        if (op === 'push') {
          ring.push(++n)
          model.push(n)
        } else expect(ring.shift()).toBe(model.shift())
        expect(ring.size).toBe(model.length)
      }
      while (model.length > 0) expect(ring.shift()).toBe(model.shift())
      expect(ring.shift()).toBeUndefined()
    }),
    { numRuns: 200 },
  )
})
