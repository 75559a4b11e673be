import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReadyQueue } from './ready-queue.ts'

test('a ready queue behaves as an array, also when an element is taken from the middle, and knows who was taken since it forgot', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ op: fc.constant('push' as const), at: fc.integer({ min: 1, max: 60 }) }) },
    { weight: 3, arbitrary: fc.record({ op: fc.constant('shift' as const), at: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('take' as const), at: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('put back' as const), at: fc.constant(0) }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('forget' as const), at: fc.nat(1) }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('shrink' as const), at: fc.constant(0) }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('empty' as const), at: fc.constant(0) }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      const queue = new ReadyQueue<number>()
      const model: number[] = []
      let taken: number[] = []
      let n = 0
      const took = (got: number | undefined, expected: number | undefined): void => {
        expect(got).toBe(expected)
        if (expected !== undefined) taken.push(expected)
      }
      for (const { op, at } of steps) {
        if (op === 'push')
          for (let i = 0; i < at; i++) {
            queue.push(++n)
            model.push(n)
          }
        else if (op === 'shift') for (let i = 0; i < at; i++) took(queue.shift(), model.shift())
        else if (op === 'empty') while (model.length > 0) took(queue.shift(), model.shift())
        else if (op === 'shrink') {
          if (queue.idle) queue.shrink()
        } else if (op === 'take') took(queue.takeAt(at), model.splice(at, 1)[0])
        else if (op === 'put back') {
          if (taken.length === 0) continue
          queue.putBack()
          model.unshift(taken.pop()!)
        } else {
          queue.forget(at as 0 | 1)
          taken = at === 0 ? [] : taken.slice(-1)
        }
        expect(queue.size).toBe(model.length)
        expect(queue.at(1)).toBe(model[1])
        expect([...queue.lately()]).toEqual(taken)
      }
      while (model.length > 0) expect(queue.shift()).toBe(model.shift())
      expect(queue.shift()).toBeUndefined()
    }),
    { numRuns: 300 },
  )
})

test('a large ready queue that runs empty gives its memory back, and what it forgot is not kept', () => {
  const queue = new ReadyQueue<object>()
  const slots = (): readonly unknown[] => (queue as unknown as { slots: unknown[] }).slots
  for (let i = 0; i < 5000; i++) queue.push({})
  expect(slots().length).toBeGreaterThan(4096)
  while (queue.shift() !== undefined) queue.forget(1)
  if (queue.idle) queue.shrink()
  expect(slots().length).toBeLessThan(1024)
  queue.forget(0)
  expect(slots().every((slot) => slot === undefined)).toBe(true)
})

test('a queue that was long gives its memory back once it is empty, also before it forgets, and still knows who was taken', () => {
  const queue = new ReadyQueue<number>()
  const slots = (): number => (queue as unknown as { slots: unknown[] }).slots.length
  for (let i = 0; i < 100_000; i++) queue.push(i)
  for (let i = 0; i < 99_000; i++) queue.shift()
  queue.forget(0)
  for (let i = 0; i < 999; i++) queue.shift()
  if (queue.idle) queue.shrink()
  expect(slots()).toBeGreaterThan(100_000)
  queue.shift()
  if (queue.idle) queue.shrink()
  expect(slots()).toBe(1024)
  expect([...queue.lately()]).toEqual(Array.from({ length: 1000 }, (_, i) => 99_000 + i))
})
