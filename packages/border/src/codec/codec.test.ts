// What goes in comes out, as structured clone would have it; what cannot go leaves no trace.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ActorError } from '@troupe/core'
import { Reader } from './reader.ts'
import type { Trouble } from './trouble.ts'
import { Writer } from './writer.ts'

/** A writer and a reader that learn from each other what they would over a way. */
function pair(): { round: (value: unknown) => unknown; fails: (value: unknown) => Trouble; writer: Writer } {
  let leaves: readonly unknown[] = []
  const writer = new Writer(64, { write: () => false })
  const reader = new Reader({ readRef: () => undefined, readFreight: () => leaves })
  return {
    writer,
    round: (value) => {
      writer.empty()
      writer.begin()
      writer.value(value)
      leaves = structuredClone(writer.freights[0]?.leaves ?? [])
      writer.commit()
      const frame = Buffer.from(writer.buffer.subarray(0, writer.position))
      reader.begin(frame)
      const back = reader.value()
      expect(reader.position).toBe(frame.length)
      return back
    },
    fails: (value) => {
      const start = writer.begin()
      try {
        writer.value(value)
      } catch (cause) {
        writer.rollback(start)
        expect(writer.position).toBe(start)
        return cause as Trouble
      }
      throw new Error('it was written')
    },
  }
}

test('any plain value survives, also over one pair of ends that learn shapes and words as they go', () => {
  const { round } = pair()
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: false,
  })
  fc.assert(
    fc.property(anything, (value) => {
      expect(round(value)).toEqual(structuredClone(value))
    }),
    { numRuns: 500 },
  )
})

test.each([-0, NaN, Infinity, 2 ** 31, -(2 ** 31), 2 ** 53, 0.1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])(
  'the number %d comes back as it was',
  (n) => {
    expect(Object.is(pair().round(n), n)).toBe(true)
  },
)

test('a key named __proto__ is a key, and changes no prototype', () => {
  const value = JSON.parse('{"__proto__": {"evil": 1}, "a": 1}') as object
  const back = pair().round(value) as object
  expect(Object.keys(back)).toEqual(['__proto__', 'a'])
  expect(Object.getPrototypeOf(back)).toBe(Object.prototype)
})

test('errors keep name, message, code, stack and the chain of causes; an ActorError is one again', () => {
  const { round } = pair()
  const cause = Object.assign(new RangeError('inner'), { code: 'E_IN', fn: () => 1 })
  const error = new TypeError('outer', { cause })
  const back = round(error) as Error & { cause: Error & { code: string } }
  expect(back).toBeInstanceOf(TypeError)
  expect(back).toMatchObject({ message: 'outer', stack: error.stack, cause: { name: 'RangeError', message: 'inner', code: 'E_IN' } })
  const fatal = round(new ActorError('dead', { kind: 'fatal', labels: { shop: '7' } }))
  expect(fatal).toBeInstanceOf(ActorError)
  expect(fatal).toMatchObject({ kind: 'fatal', labels: { shop: '7' } })
})

test('thousands of shapes and of short words do not disturb each other', () => {
  const { round } = pair()
  for (let i = 0; i < 6000; i++) {
    const value = { [`k${i}`]: `word ${i}`, common: 'the same', n: i }
    expect(round(value)).toEqual(value)
  }
  expect(round({ common: 'the same', k1: 'word 1' })).toEqual({ common: 'the same', k1: 'word 1' })
})

test('a value that fails is taken back with all that it defined, and its field is named', () => {
  const { round, fails } = pair()
  round({ a: 'known' })
  const trouble = fails({ fresh: 'never seen', list: [1, { deep: () => 1 }] })
  expect(trouble.what).toBe('function')
  expect(trouble.path.toReversed()).toEqual(['list', 1, 'deep'])
  expect(round({ fresh: 'never seen', list: [] })).toEqual({ fresh: 'never seen', list: [] })
})

test('what was met in one value is forgotten in the next, of however many objects', () => {
  const { round } = pair()
  for (let size = 1; size < 40; size++) {
    const shared = { n: size }
    const items = Array.from({ length: size }, () => [1])
    const back = round([...items, shared, shared, ...items]) as unknown[]
    expect(back[size]).toBe(back[size + 1])
    expect(back[0]).toBe(back[size + 2])
    expect(new Set(back).size).toBe(size + 1)
  }
})
