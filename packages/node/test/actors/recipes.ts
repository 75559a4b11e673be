// Arbitrary values, as recipes: plain data from which a value is made afresh wherever and as often as it is needed, for a
// value whose getters count how often they are read cannot be looked at twice. What is made for comparison has stand-ins
// where structured clone knows nothing: for refs, and for errors with all that they carry.

import fc from 'fast-check'

export type Recipe =
  | readonly ['number' | 'bigint', string]
  | readonly ['text', readonly number[]]
  | readonly ['word', number]
  | readonly ['undefined' | 'null' | 'true' | 'false' | 'symbol' | 'function' | 'shared' | 'resizable' | 'arguments']
  | readonly ['date' | 'regexp' | 'boxed' | 'platform' | 'ref' | 'back' | 'deep' | 'wide' | 'long' | 'heavy', number]
  | readonly ['view', kind: number, bytes: readonly number[], offset: number, common: boolean]
  | readonly ['object', how: ObjectKind, fields: readonly Field[]]
  | readonly ['array', how: ArrayKind, items: readonly (Recipe | null)[], extras: readonly Field[]]
  | readonly ['map', entries: readonly (readonly [Recipe, Recipe])[]]
  | readonly ['set', items: readonly Recipe[]]
  | readonly ['error', kind: number, message: string, fields: readonly Field[], cause: Recipe | null]

export type Field = readonly [key: string, value: Recipe, getter: Getter | null]
type ObjectKind = 'plain' | 'null' | 'class' | 'proxy' | 'symbols'
type ArrayKind = 'plain' | 'proxy' | 'class'
/** What a getter does besides returning its value. */
type Getter = 'nothing' | 'counts' | 'throws' | 'tells' | 'deletes' | 'adds' | 'changes' | 'grows'

const getters: readonly Getter[] = ['nothing', 'counts', 'throws', 'tells', 'tells', 'deletes', 'adds', 'changes', 'grows']
const numbers = [
  '0',
  '-0',
  '1',
  '-1',
  '127',
  '128',
  'NaN',
  'Infinity',
  '-Infinity',
  '2147483647',
  '2147483648',
  '-2147483649',
  '9007199254740991',
  '9007199254740993',
  '0.1',
  '5e-324',
]
export const keys: readonly string[] = [
  'a',
  'b',
  'type',
  'next',
  '',
  '0',
  '7',
  '4294967295',
  '-1',
  '__proto__',
  'constructor',
  'toString',
  'length',
  'é',
  '\ud800',
  'x\udfffy',
  '\u0000troupe-ref',
  'then',
  'toJSON',
  'a key that is longer than any word',
]

const text = fc.array(
  fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 32, max: 126 }) }, fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xd800, 0xdc00, 0xdfff)),
  { maxLength: 40 },
)
const simple: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...numbers).map((n) => ['number', n] as const) },
  { weight: 3, arbitrary: fc.double().map((n) => ['number', Object.is(n, -0) ? '-0' : String(n)] as const) },
  { weight: 4, arbitrary: text.map((codes) => ['text', codes] as const) },
  { weight: 4, arbitrary: fc.nat(30).map((i) => ['word', i] as const) },
  { weight: 3, arbitrary: fc.constantFrom('undefined', 'null', 'true', 'false').map((k) => [k] as const) },
  { weight: 2, arbitrary: fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }).map((b) => ['bigint', String(b)] as const) },
  { weight: 1, arbitrary: fc.nat(5).map((i) => ['date', i] as const) },
  { weight: 1, arbitrary: fc.nat(6).map((i) => ['regexp', i] as const) },
)
const clean: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 5, arbitrary: simple },
  { weight: 1, arbitrary: fc.array(simple, { maxLength: 4 }).map((items) => ['array', 'plain', items, []] as const) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 'code'), simple, fc.constant(null)), { maxLength: 3 })
      .map((fields) => ['object', 'plain', fields] as const),
  },
)
const leaf: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 20, arbitrary: simple },
  { weight: 2, arbitrary: fc.nat(3).map((i) => ['ref', i] as const) },
  { weight: 3, arbitrary: fc.nat(12).map((i) => ['back', i] as const) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.nat(11), fc.array(fc.nat(255), { maxLength: 24 }), fc.nat(2), fc.boolean())
      .map(([k, b, o, c]) => ['view', k, b, o, c] as const),
  },
  { weight: 1, arbitrary: fc.nat(4).map((i) => ['boxed', i] as const) },
  { weight: 1, arbitrary: fc.constantFrom('shared', 'resizable').map((k) => [k] as const) },
  { weight: 1, arbitrary: fc.constantFrom('symbol', 'function', 'arguments').map((k) => [k] as const) },
  { weight: 1, arbitrary: fc.nat(9).map((i) => ['platform', i] as const) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 90 }).map((i) => ['wide', i] as const) },
)
const error: fc.Arbitrary<Recipe> = fc
  .tuple(
    fc.nat(7),
    fc.string({ maxLength: 10 }),
    fc.array(
      fc.tuple(
        fc.constantFrom('code', 'path', 'labels', 'extra'),
        fc.oneof({ weight: 5, arbitrary: clean }, fc.constantFrom<Recipe>(['function'], ['symbol'])),
        fc.constant(null),
      ),
      { maxLength: 3 },
    ),
    fc.option(clean, { nil: null }),
  )
  .map(([kind, message, fields, cause]) => ['error', kind, message, fields, cause] as const)

const { value } = fc.letrec<{ value: Recipe; field: Field }>((tie) => ({
  field: fc.tuple(
    fc.constantFrom(...keys),
    tie('value'),
    fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...getters) }),
  ),
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    leaf,
    fc
      .tuple(
        fc.constantFrom<ObjectKind>('plain', 'plain', 'plain', 'plain', 'plain', 'null', 'class', 'proxy', 'symbols'),
        fc.array(tie('field'), { maxLength: 5 }),
      )
      .map(([how, fields]) => ['object', how, fields] as const),
    fc
      .tuple(
        fc.constantFrom<ArrayKind>('plain', 'plain', 'plain', 'plain', 'proxy', 'class'),
        fc.array(fc.option(tie('value'), { nil: null, freq: 12 }), { maxLength: 5 }),
        fc.oneof({ weight: 6, arbitrary: fc.constant([]) }, fc.array(tie('field'), { maxLength: 2 })),
      )
      .map(([how, items, extras]) => ['array', how, items, extras] as const),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((entries) => ['map', entries] as const),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => ['set', items] as const),
    error,
  ),
}))

/** Any value, and now and then a very large or a very deep one. */
export const recipes: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 4000, arbitrary: value },
  { weight: 1, arbitrary: fc.constantFrom(101, 5_000, 20_000).map((n) => ['deep', n] as const) },
  { weight: 1, arbitrary: fc.constantFrom(65_537, 300_000).map((n) => ['long', n] as const) },
  { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 400_000).map((n) => ['heavy', n] as const) },
)
