import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, encode } from './codec.ts'

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

describe('the codec', () => {
  test('gives back what it was given, whatever plain data that is', () => {
    fc.assert(
      fc.property(value, (given) => isDeepStrictEqual(decode(encode(given, 'it')), given)),
      { numRuns: 500 },
    )
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
  ])('refuses %s, with its place', (_what, given, where, why) => {
    expect(() => encode(given, 'event x')).toThrow(expect.objectContaining({ code: 'not-storable', where }) as Error)
    expect(() => encode(given, 'event x')).toThrow(why)
  })
  test('refuses what refers to itself', () => {
    const given: Record<string, unknown> = {}
    given['self'] = given
    expect(() => encode(given, 'it')).toThrow(/refers to itself/)
  })
  test('refuses text that it did not write', () => {
    for (const text of ['', '{', '{"$":"what","v":1}']) expect(() => decode(text)).toThrow(SyntaxError)
  })
})
