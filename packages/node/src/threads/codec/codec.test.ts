// What goes in comes out, as structured clone would have it; what cannot go leaves no trace.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ActorError } from 'troupe'
import { NotTransferable } from '../errors.ts'
import { Reader } from './reader.ts'
import { needsPort, troubleIn } from './trouble.ts'
import { Writer } from './writer.ts'

function pair(): { round: (value: unknown) => unknown; writer: Writer } {
  const writer = new Writer(64, { write: () => false })
  const reader = new Reader({ readRef: () => undefined, readCargo: () => undefined })
  return {
    writer,
    round: (value) => {
      writer.position = 0
      writer.mark()
      writer.value(value)
      const frame = Buffer.from(writer.buffer.subarray(0, writer.position))
      reader.begin(frame)
      const back = reader.value()
      expect(reader.position).toBe(frame.length)
      return back
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

test('a value that fails is taken back with all that it defined, and its field is found', () => {
  const { round, writer } = pair()
  round({ a: 'known' })
  const bad = { fresh: 'never seen', list: [1, { deep: () => 1 }] }
  const { position, shapes } = writer
  writer.mark()
  expect(() => writer.value(bad)).toThrow(NotTransferable)
  writer.undo(position, shapes)
  expect(writer.position).toBe(position)
  expect(troubleIn(writer, bad)).toEqual(['list', 1, 'deep'])
  expect(round({ fresh: 'never seen', list: [] })).toEqual({ fresh: 'never seen', list: [] })
})

test('what only the platform can copy, and what is nested too deep, is left to it', () => {
  const { writer } = pair()
  const thrown = (value: unknown): unknown => {
    try {
      writer.attempt(() => writer.value(value))
      return undefined
    } catch (cause) {
      return cause
    }
  }
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  for (const value of [Promise.resolve(), new WeakMap(), cycle, new Uint8Array(new SharedArrayBuffer(4))]) expect(thrown(value)).toBe(needsPort)
})

test('bytes that nobody wrote are refused, not guessed at', () => {
  const reader = new Reader({ readRef: () => undefined, readCargo: () => undefined })
  reader.begin(Buffer.from([31]))
  expect(() => reader.value()).toThrow(/Unknown tag/)
})
