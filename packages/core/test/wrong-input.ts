// What may stand where something else is wanted, and what may come of it. A call that works is spoilt in one place: an
// argument, or an option inside one. It must then be refused with a `code`, or do something sensible; whatever it does,
// nothing may escape, hang, or be off in the ledger.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { type ActorContext, type AnyRef, type Behavior, ignore, receive, same } from '@troupe/core'
import { BehaviorNode, BehaviorWithOptions } from '@troupe/core/internal'
import { expect } from 'vitest'
import { fc } from './properties.ts'

/** What a call has at hand. */
export interface Stage {
  readonly kit: TestKit
  /** A living actor that takes everything. */
  readonly ref: AnyRef
  /** Calls `act` with the context of a fresh actor, in its turn; what it throws or returns comes out. */
  inside(act: (ctx: ActorContext<unknown>) => unknown): Promise<unknown>
}

/** How something is called, and with what it works. */
export interface Entry {
  readonly act: (args: readonly never[], stage: Stage) => unknown
  readonly good: (stage: Stage) => readonly unknown[]
  /** It calls what it is given, and hands on what that throws. */
  readonly hands?: boolean
}

export const entry = (act: Entry['act'], good: Entry['good'] = () => [], hands = false): Entry => ({ act, good, hands })

const bang = (): never => {
  throw new Error('bang')
}
const traps = Object.fromEntries(
  Reflect.ownKeys(Reflect)
    .filter((key) => typeof key === 'string')
    .map((trap) => [trap, bang]),
)

/** An object that throws when this is read of it. */
const throwing = (name: string): object => Object.defineProperty({}, name, { enumerable: true, get: bang })

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const names = ['name', 'signal', 'timeout', 'capacity', 'owner', 'type', 'then', 'tell', 'path', 'size', 'aborted', 'length', 'message', 'toString']

/** Made anew each time: what was done to one must not show in the next. */
const makers: Readonly<Record<string, () => unknown>> = {
  null: () => null,
  undefined: () => undefined,
  NaN: () => NaN,
  Infinity: () => Infinity,
  '-Infinity': () => -Infinity,
  '-1': () => -1,
  '0': () => 0,
  '-0': () => -0,
  '1.5': () => 1.5,
  '3': () => 3,
  '2 ** 53': () => 2 ** 53,
  '10n': () => 10n,
  true: () => true,
  false: () => false,
  "''": () => '',
  "'odd'": () => 'odd',
  "'__proto__'": () => '__proto__',
  'a long text': () => 'x'.repeat(2000),
  'a symbol': () => Symbol('odd'),
  '{}': () => ({}),
  '[]': () => [],
  '[null]': () => [null],
  'a hole': () => Array(1),
  '() => {}': () => () => {},
  'async () => {}': () => async () => {},
  'a class': () => class Odd {},
  'new Date(NaN)': () => new Date(NaN),
  'new Map()': () => new Map(),
  'a promise': () => Promise.resolve(5),
  'a regular expression': () => /odd/,
  'Object.create(null)': () => Object.create(null) as unknown,
  'one that knows nothing of text': () => ({ toString: null, valueOf: null, [Symbol.toPrimitive]: null }),
  'one with misspelt keys': () => ({ nam: 1, timout: 2, capicity: 3 }),
  'one that contains itself': () => {
    const self: Record<string, unknown> = {}
    self['self'] = self
    return self
  },
  'half a ref': () => ({ tell: () => {} }),
  'half a signal': () => ({ addEventListener: () => {}, removeEventListener: () => {}, aborted: false }),
  'a proxy that throws': () => new Proxy({}, traps),
  'a function that is a proxy that throws': () => new Proxy(() => {}, traps),
  'a revoked proxy': revoked,
  'a proxy of a ref': () => new Proxy(ignore, traps),
  ...Object.fromEntries(names.map((name) => [`one whose ${name} throws`, () => throwing(name)])),
}

/** What is a function, and throws when it is called. */
const callable = new Set(['a class', 'a function that is a proxy that throws'])

/** Where a call is spoilt, and with what. */
interface Spoil {
  readonly at: number
  /** Which option of the argument; beyond those that it has, a new one. */
  readonly option: number | undefined
  readonly key: string
  readonly wrong: string
}

const spoil: fc.Arbitrary<Spoil> = fc.record({
  at: fc.nat(5),
  option: fc.option(fc.nat(12), { nil: undefined }),
  key: fc.constantFrom('naem', 'tiemout', 'sginal', 'constructor', 'toString', '__proto__', '0', 'capacity', 'limit', 'odd'),
  wrong: fc.constantFrom(...Object.keys(makers)),
})

/** The call's arguments with one of them, or one option of one, replaced. */
function spoilt(good: readonly unknown[], { at, option, key, wrong }: Spoil): unknown[] {
  const args = [...good]
  // One more than it takes: an option bag that was left out is given.
  const i = at % (args.length + 1)
  const whole = args[i]
  const value = makers[wrong]!()
  if (option === undefined || typeof whole !== 'object' || whole === null || Object.getPrototypeOf(whole) !== Object.prototype) {
    args[i] = value
    return args
  }
  const keys = [...Object.keys(whole), key]
  args[i] = Object.defineProperty({ ...whole }, keys[option % keys.length]!, { value, enumerable: true, configurable: true, writable: true })
  return args
}

/** Whether an error says what it is. Of what a test kit expected in vain it says so in words. */
function isTold(cause: unknown): boolean {
  const { code, name, message } = cause as Error & { code?: unknown }
  return typeof code === 'string' || (name === 'Error' && /^(Expected|Fished|There is|Nobody waits|The handler of|The behavior)/.test(message))
}

/** So many times as many runs: `TROUPE_INPUTS=20 npx vitest run bad-input.property`. */
const times = Number(process.env['TROUPE_INPUTS'] ?? 1)
let inputs = 0
export const countedInputs = (): number => inputs

/** Resolves with how many inputs were tried. */
async function once(calls: Entry, spoils: readonly Spoil[]): Promise<number> {
  let tried = 0
  const escapes: unknown[] = []
  const note = (cause: unknown): void => void escapes.push(cause)
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  const kit = createTestKit()
  const pending: Promise<unknown>[] = []
  try {
    const stage: Stage = { kit, ref: kit.system.spawn(ignore), inside: (act) => insideOf(kit, act) }
    for (const s of spoils) {
      inputs++
      tried++
      const refused = (cause: unknown): void => {
        if (calls.hands === true && callable.has(s.wrong)) return
        if (!isTold(cause)) throw new Error(`spoilt by ${JSON.stringify(s)}: an error without a code: ${String((cause as Error)?.stack ?? cause)}`)
      }
      try {
        const answer: unknown = calls.act(spoilt(calls.good(stage), s) as never[], stage)
        if (answer instanceof Promise) pending.push(answer.then((value) => follow(kit, value), refused))
        else await follow(kit, answer)
      } catch (cause) {
        refused(cause)
      }
      await kit.settle()
    }
    if (kit.system.phase === 'open') await kit.end()
    else await kit.advance(60_000)
    await Promise.race([Promise.all(pending), new Promise((resolve) => setImmediate(resolve))])
    expect(escapes).toEqual([])
    return tried
  } finally {
    process.off('unhandledRejection', note)
    process.off('uncaughtException', note)
  }
}

/** What was accepted must also work: a behavior is spawned, told something, and stopped. */
async function follow(kit: TestKit, answer: unknown): Promise<void> {
  if (!(answer instanceof BehaviorNode || answer instanceof BehaviorWithOptions)) return
  if (kit.system.phase !== 'open') return
  let ref: AnyRef
  try {
    ref = kit.system.spawn(answer as Behavior<unknown>)
  } catch (cause) {
    if (!isTold(cause)) throw cause
    return
  }
  ref.tell({ type: 'odd' } as never)
  await kit.settle()
  ref.stop()
}

async function insideOf(kit: TestKit, act: (ctx: ActorContext<unknown>) => unknown): Promise<unknown> {
  let outcome: { readonly ok: boolean; readonly value: unknown } | undefined
  const actor = kit.system.spawn(
    receive<string>((ctx) => {
      // Once: what it sends may come back to it.
      if (outcome !== undefined) return same
      try {
        const value = act(ctx as ActorContext<unknown>)
        if (value instanceof Promise) value.catch(() => {})
        outcome = { ok: true, value }
      } catch (cause) {
        outcome = { ok: false, value: cause }
      }
      return same
    }),
  )
  actor.tell('go')
  await kit.settle()
  actor.stop()
  if (outcome?.ok === false) throw outcome.value
  return outcome?.value
}

/** Refuses with a code or does something sensible, whatever it is given. Fails also if fewer inputs were tried than were asked for. */
export async function holds(calls: Entry, { runs = 8, each = 6 }: { readonly runs?: number; readonly each?: number } = {}): Promise<void> {
  const numRuns = Math.ceil(runs * times)
  let tried = 0
  await fc.assert(
    fc.asyncProperty(fc.array(spoil, { minLength: each, maxLength: each }), async (spoils) => {
      tried += await once(calls, spoils)
    }),
    { numRuns },
  )
  expect(tried).toBeGreaterThan(0)
  expect(tried).toBeGreaterThanOrEqual(numRuns * each)
}

/** The names of the functions that an object answers to, those of its class included. */
export function methodsOf(of: object): string[] {
  const found = new Set<string>()
  for (
    let at: object | null = of;
    at !== null && at !== Object.prototype && at !== Function.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === 'function' && name !== 'constructor') found.add(name)
  return [...found]
}
