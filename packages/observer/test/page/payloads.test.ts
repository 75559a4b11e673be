// What a message holds, as text: nothing of it is run, nothing that is secret is shown, and it ends.

import { expect, test } from 'vitest'
import { payloadText } from '../../src/server/payload.ts'

const ran: string[] = []
const noted = (what: string): never => {
  ran.push(what)
  throw new Error(`${what} was run`)
}
const deep = (levels: number): unknown => (levels === 0 ? 'bottom' : { below: deep(levels - 1) })
const circle: { self?: unknown } = {}
circle.self = circle

const proxy = new Proxy(
  {},
  {
    get: () => noted('get'),
    ownKeys: () => noted('ownKeys'),
    getOwnPropertyDescriptor: () => noted('getOwnPropertyDescriptor'),
    getPrototypeOf: () => noted('getPrototypeOf'),
    has: () => noted('has'),
  },
)
class Sly {
  constructor() {
    Object.defineProperty(this, Symbol.toStringTag, { get: () => noted('toStringTag') })
  }
  toJSON(): string {
    return noted('toJSON')
  }
  toString(): string {
    return noted('toString')
  }
  get [Symbol.toPrimitive](): never {
    return noted('toPrimitive')
  }
}

const traps: Readonly<Record<string, readonly [value: unknown, text: string | RegExp]>> = {
  'a getter': [
    {
      type: 'x',
      get secretly() {
        return noted('getter')
      },
    },
    '{type: "x", secretly: a getter}',
  ],
  'a getter in a list': [Object.defineProperty([1], 1, { get: () => noted('getter'), enumerable: true }), '[1, a getter]'],
  'a proxy': [proxy, 'a proxy'],
  'a proxy inside': [{ to: proxy }, '{to: a proxy}'],
  'a revoked proxy': [
    (() => {
      const { proxy: gone, revoke } = Proxy.revocable({}, {})
      revoke()
      return { gone }
    })(),
    '{gone: a proxy}',
  ],
  'an object whose prototype is a proxy': [Object.create(proxy), 'an object'],
  'a class with toJSON and toString': [new Sly(), 'Sly'],
  'a class that calls itself by a getter': [
    new (class {
      static get name(): string {
        return noted('name')
      }
    })(),
    'an object',
  ],
  'a circle': [circle, '{self: {self: {self: {self: {…}}}}}'],
  'what is too deep': [deep(50), /\{…\}/],
  'a long text': ['x'.repeat(100_000), /^"x{200}…"$/],
  'many fields': [Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, i])), /f19: 19, …\}$/],
  'a long list': [Array.from({ length: 100_000 }, () => 1), /… 100000 in all\]$/],
  'a list with holes and a huge length': [Object.assign([], { length: 4e9 }), /^\[–(, –){19}, … 4000000000 in all\]$/],
  'very long names': [{ ['k'.repeat(10_000)]: 1 }, /^\{k{10000}: 1\}$|^\{.{0,60}: 1\}$/],
  HTML: [{ html: '<img src=x onerror=alert(1)>' }, '{html: "<img src=x onerror=alert(1)>"}'],
  'a password': [
    { user: 'ann', password: 'hunter2', apiKey: 'k', Authorization: 'Bearer x' },
    '{user: "ann", password: •••, apiKey: •••, Authorization: •••}',
  ],
  'a token deep inside': [{ login: { session_token: 'abc' } }, '{login: {session_token: •••}}'],
  bytes: [new Uint8Array(1e6), 'bytes'],
  'an error': [new TypeError('broken'), /^Error "broken"$/],
  'a date that is none': [{ at: new Date(NaN) }, '{at: no date}'],
  'a function, a symbol, a bigint': [[() => {}, Symbol('s'), 10n ** 30n, null, undefined], /^\[a function, a symbol, 10{30}n, null, undefined\]$/],
}

/** A clock that stands: how long it takes here is not what is tested. */
const still = (): number => 0

test.each(Object.keys(traps))('%s: nothing is run, and it ends', (name) => {
  const [value, text] = traps[name]!
  ran.length = 0
  const said = payloadText(value, undefined, still)
  expect(ran).toEqual([])
  expect(said.length).toBeLessThan(12_000)
  if (typeof text === 'string') expect(said).toBe(text)
  else expect(said).toMatch(text)
})

test('what takes too long is cut where its time is up', () => {
  let now = 0
  expect(payloadText({ a: { b: { c: 1 } }, d: {} }, undefined, () => now++)).toBe('{a: {b: …}, d: …}')
})

test('what is redacted is not there, and a redaction that throws shows nothing', () => {
  const message = { type: 'pay', card: '4242 4242', amount: 7, to: { iban: 'DE12' } }
  expect(payloadText(message, (name, value) => (name === 'card' || name === 'iban' ? '(not shown)' : value), still)).toBe(
    '{type: "pay", card: "(not shown)", amount: 7, to: {iban: "(not shown)"}}',
  )
  expect(payloadText(message, () => noted('redact'), still)).toBe('a value that cannot be read')
})
