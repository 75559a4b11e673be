import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, encode } from './codec.ts'
import type { NotStorable } from './errors.ts'

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.bigInt(),
  fc.date({ noInvalidDate: false }),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => new Uint8Array(bytes)),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(fc.oneof(tie('value'), fc.constant(undefined)), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$', 'v', 'toJSON', '__proto__', 'constructor')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
  ),
}))

/** `isDeepStrictEqual` says that an invalid date differs from itself; here it is compared as an object. */
function comparable(given: unknown): unknown {
  if (given instanceof Date) return Number.isNaN(given.getTime()) ? { invalid: 'date' } : given
  if (Array.isArray(given)) return given.map(comparable)
  if (given instanceof Map) return new Map(Array.from(given, ([key, of]) => [comparable(key), comparable(of)]))
  if (given instanceof Set) return new Set(Array.from(given, comparable))
  if (typeof given !== 'object' || given === null || ArrayBuffer.isView(given)) return given
  return Object.fromEntries(Object.entries(given).map(([key, of]) => [key, comparable(of)]))
}

function thrownBy(act: () => unknown): NotStorable {
  try {
    act()
  } catch (cause) {
    return cause as NotStorable
  }
  throw new Error('it did not throw')
}

describe('the codec', () => {
  test('gives back what it was given, whatever plain data that is', () => {
    fc.assert(
      fc.property(value, (given) => isDeepStrictEqual(comparable(decode(encode(given, 'it'))), comparable(given))),
      { numRuns: 500 },
    )
  })
  test('gives back an invalid date', () => {
    const given = new Map([[[], new Date(Number.NaN)]])
    expect(decode(encode(given, 'it'))).toEqual(given)
  })
  test('writes JSON as JSON, and always valid JSON', () => {
    expect(encode({ a: [1, 'x', null, true], b: undefined }, 'it')).toBe('{"a":[1,"x",null,true]}')
    fc.assert(fc.property(value, (given) => JSON.parse(encode(given, 'it')) !== undefined))
  })
  test.each([
    ['a function', { a: [() => 1] }, 'event x.a[0]', /is a function/],
    ['a symbol', { a: Symbol('s') }, 'event x.a', /is a symbol/],
    ['an instance', { a: new (class Money {})() }, 'event x.a', /instance of Money/],
    ['an error', { a: new Error('no') }, 'event x.a', /instance of Error/],
    ['a class of arrays', { a: new (class Money extends Array {})() }, 'event x.a', /instance of Money/],
    ['a class of maps', { a: new (class Money extends Map {})() }, 'event x.a', /instance of Money/],
    ['a class of sets', { a: [new (class Money extends Set {})()] }, 'event x.a[0]', /instance of Money/],
    ['a class of dates', { a: new (class Money extends Date {})() }, 'event x.a', /instance of Money/],
    ['a class of bytes', { a: new (class Money extends Uint8Array {})() }, 'event x.a', /instance of Money/],
  ])('refuses %s, with its place', (_what, given, where, why) => {
    expect(() => encode(given, 'event x')).toThrow(expect.objectContaining({ code: 'not-storable', where }) as Error)
    expect(() => encode(given, 'event x')).toThrow(why)
  })
  test('refuses what refers to itself', () => {
    const given: Record<string, unknown> = {}
    given['self'] = given
    expect(() => encode(given, 'it')).toThrow(/refers to itself/)
    const refusal = thrownBy(() => encode({ a: [{ given }] }, 'event x'))
    expect(refusal.message.length).toBeLessThan(400)
    expect(refusal.where).toMatch(/^event x\.a\[0\]\.given\.self\.self.*…$/)
  })
  test('keeps what is an array whatever it says of itself, those of another realm, and a Buffer as bytes', () => {
    expect(decode(encode(Object.assign([1, [2]], { toJSON: () => 'not this' }), 'it'))).toEqual([1, [2]])
    expect(decode(encode({ a: runInNewContext('[1, [2]]') as unknown }, 'it'))).toEqual({ a: [1, [2]] })
    expect(decode(encode(Buffer.from('hi'), 'it'))).toEqual(new Uint8Array([104, 105]))
  })
  test('gives the text of a value of as many bytes as are allowed, and refuses one of a byte more, whatever it is made of', () => {
    fc.assert(
      fc.property(value, (given) => {
        const text = encode(given, 'it')
        const bytes = Buffer.byteLength(text)
        expect(encode(given, 'it', undefined, undefined, bytes)).toBe(text)
        expect(() => encode(given, 'it', 'cart/1', undefined, bytes - 1)).toThrow(
          expect.objectContaining({ code: 'event-too-large', where: 'it of cart/1', maxEventBytes: bytes - 1 }) as Error,
        )
      }),
      { numRuns: 300 },
    )
  })
  test('refuses a value that is too large after it has read as much of it as is allowed', () => {
    let read = 0
    const text = 'x'.repeat(1000)
    const part = (more: object): object => Object.defineProperty({ ...more }, 'text', { enumerable: true, get: () => (read++, text) })
    for (const more of [{}, { at: new Date(0) }]) {
      read = 0
      const given = Array.from({ length: 10_000 }, () => part(more))
      expect(() => encode(given, 'it', undefined, undefined, 20_000)).toThrow(/it has more than 20000 bytes/)
      // Once as plain data, and once more where it is not.
      expect(read).toBeLessThan(50)
    }
    expect(() => encode({ bytes: new Uint8Array(1e6) }, 'it', undefined, undefined, 20_000)).toThrow(/20000 bytes/)
    // The next one is not measured by what was left.
    expect(encode(text, 'it')).toHaveLength(1002)
  })
  test('refuses text that it did not write', () => {
    for (const text of ['', '{', '{"$":"what","v":1}']) expect(() => decode(text)).toThrow(SyntaxError)
  })
})
