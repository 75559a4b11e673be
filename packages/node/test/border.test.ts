// What crosses a border arrives as it was, or is refused by name.

import { expect, test } from 'vitest'
import type { ActorRef } from '@troupe/core'
import { defineActor } from '@troupe/node'
import { linked, odd, telling } from '../dist-test/odd.js'
import { stagesOfTests } from './stage.ts'

const stage = stagesOfTests()
const url = new URL('../dist-test/odd.js', import.meta.url).href

/** An actor of this thread that keeps what it is told. */
function listener(s: ReturnType<typeof stage>): { readonly ref: ActorRef<unknown>; readonly got: unknown[] } {
  return { ref: s.report as ActorRef<unknown>, got: s.reports }
}
const nestedText = (depth: number, inner: string): string => `${'{"n":'.repeat(depth)}${inner}${'}'.repeat(depth)}`
const innermost = (value: unknown): unknown => {
  let at = value
  while (typeof at === 'object' && at !== null && 'n' in at) at = at.n
  return at
}

test.each(['{"\\u0000troupe-ref":null}', '{"\\u0000troupe-ref":["actor",1,0,"/user/secret"]}', '{"\\u0000troupe-ref":["address",0,1,"/x"]}'])(
  'data that looks like a ref is data, in whatever depth: %s',
  async (text) => {
    const s = stage()
    const to = listener(s)
    const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
    for (const depth of [0, 120]) {
      ref.tell({ type: 'parse', text: nestedText(depth, text), to: to.ref })
      const back = await ref.ask({ type: 'echo', value: JSON.parse(nestedText(depth, text)) as unknown })
      expect(innermost(back)).toEqual(JSON.parse(text))
    }
    await s.until('both', () => to.got.length === 2)
    for (const got of to.got) expect(innermost(got)).toEqual(JSON.parse(text))
    await s.end()
  },
)

test('an object with the fields of a ref, or made from its prototype, is no ref elsewhere', async () => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  const secret = s.report as unknown as { uid: number; path: string }
  const forged = Object.assign(Object.create(Object.getPrototypeOf(secret) as object) as object, { uid: secret.uid })
  const [looks, real] = (await ref.ask({ type: 'echo', value: [forged, secret] })) as [unknown, unknown]
  expect(real).toBe(secret)
  expect(looks).toEqual({ uid: secret.uid })
  expect('tell' in (looks as object)).toBe(false)
  await s.end()
})

test('after a message that could not go, words arrive as they are, however many it had', async () => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  await s.system.started(ref)
  const words = Array.from({ length: 5000 }, (_, i) => `word ${i}`)
  ref.tell({
    type: 'echo',
    value: { error: Object.assign(new Error('with many'), { words: ['hello', ...words] }), fn: () => 1 },
    replyTo: listener(s).ref,
  })
  expect(await ref.ask({ type: 'echo', value: 'hello' })).toBe('hello')
  expect(await ref.ask({ type: 'echo', value: words })).toEqual(words)
  await s.end()
})

test('a getter that tells while its object is read disturbs nothing, from here and from a thread', async () => {
  const s = stage()
  const to = listener(s)
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  await s.system.started(ref)
  ref.tell({ type: 'nested', to: to.ref })
  await s.until('both', () => to.got.length === 2)
  const outer = { before: 'a word that is new here', inner: 'seen', after: { again: 'another new word' } }
  const inner = { told: 'while another was read', before: 'a word that is new here' }
  expect(to.got).toEqual(expect.arrayContaining([outer, inner]))
  // From here: what the getter tells is a question to the same actor, and its answer comes.
  let nested: Promise<unknown> | undefined
  const asking = {
    get value() {
      nested = ref.ask({ type: 'echo', value: telling(to.ref) })
      return 'outer'
    },
  }
  expect(await ref.ask({ type: 'echo', value: asking })).toEqual({ value: 'outer' })
  expect(await nested).toEqual(outer)
  await s.end()
})

test('a getter that tells, and then fails, loses its own message only', async () => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  await s.system.started(ref)
  let nested: Promise<unknown> | undefined
  const failing = {
    fresh: 'never seen before',
    get bad(): never {
      nested = ref.ask({ type: 'echo', value: { fresh: 'never seen before' } })
      throw new Error('not now')
    },
  }
  await expect(ref.ask({ type: 'echo', value: failing })).rejects.toThrow(/value\.bad.*not now/)
  expect(await nested).toEqual({ fresh: 'never seen before' })
  expect(await ref.ask({ type: 'echo', value: { fresh: 'never seen before' } })).toEqual({ fresh: 'never seen before' })
  await s.end()
})

test('a getter may tell what can go and what cannot, one after the other', async () => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  await s.system.started(ref)
  const nested: Promise<unknown>[] = []
  const teller = {
    first: 'one new word',
    get second() {
      nested.push(ref.ask({ type: 'echo', value: { nested: 'two new words' } }))
      nested.push(ref.ask({ type: 'echo', value: { nested: 'two new words', fn: () => 1 } }).catch((cause: Error) => cause.message))
      nested.push(ref.ask({ type: 'echo', value: new Uint8Array(new SharedArrayBuffer(2)) }))
      return { third: 'three new words' }
    },
  }
  expect(await ref.ask({ type: 'echo', value: teller })).toEqual({ first: 'one new word', second: { third: 'three new words' } })
  expect(await Promise.all(nested)).toEqual([{ nested: 'two new words' }, expect.stringContaining('value.fn is a function'), new Uint8Array(2)])
  await s.end()
})

test('arguments and results of tasks arrive as they are: shared memory, cycles, long lists', async () => {
  const s = stage()
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const back = (await s.threads.runTask(url, 'take', [shared])) as Int32Array
  back[0] = 7
  expect(shared[0]).toBe(7)
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  const again = (await s.threads.runTask(url, 'take', [cycle])) as typeof cycle
  expect(again.self).toBe(again)
  const list = (await s.threads.runTask(url, 'take', [linked(150)])) as { next: unknown }
  expect(typeof list).toBe('object')
  expect(lengthOf(list)).toBe(150)
  await s.end()
})

test.each([
  [() => [{ deep: () => 1 }], 'args[0].deep is a function'],
  [() => [1, [Symbol('s')]], 'args[1][0] is a symbol'],
  [() => [new URL('http://x')], 'args[0] is a URL'],
])('an argument of a task that cannot go is refused by its place: %#', async (args, says) => {
  const s = stage()
  await expect(s.threads.runTask(url, 'take', args())).rejects.toMatchObject({ code: 'not-transferable', message: expect.stringContaining(says) })
  // And also while it would have to wait for a thread.
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const busy = [1, 2].map((n) => s.threads.runTask(url, 'after', [n, gate]))
  await expect(s.threads.runTask(url, 'take', args())).rejects.toMatchObject({ code: 'not-transferable' })
  Atomics.store(gate, 0, 1)
  expect(await Promise.all(busy)).toEqual([1, 2])
  await s.end()
})

/** Resolves when both threads are up and idle. */
async function bothIdle(s: ReturnType<typeof stage>): Promise<void> {
  const runs = new Int32Array(new SharedArrayBuffer(4))
  await Promise.all([1, 2].map(() => s.threads.runTask(url, 'meet', [runs, 2])))
}

test('a task that is refused takes no thread from others', async () => {
  const s = stage()
  await bothIdle(s)
  // One for each thread, and one more.
  for (let i = 0; i < 3; i++) await expect(s.threads.runTask(url, 'take', [() => i])).rejects.toMatchObject({ code: 'not-transferable' })
  expect(await s.threads.runTask(url, 'take', [1], { timeout: 60_000 })).toBe(1)
  await s.end()
})

test.each(['signal', 'timeout'] as const)('a task that is given up by its %s while it waits for a thread is never begun', async (how) => {
  const s = stage()
  await bothIdle(s)
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const runs = new Int32Array(new SharedArrayBuffer(4))
  const busy = [1, 2].map((n) => s.threads.runTask(url, 'after', [n, gate]))
  const control = new AbortController()
  const given = s.threads.runTask(url, 'countRun', [runs], how === 'signal' ? { signal: control.signal } : { timeout: 1 })
  control.abort()
  await expect(given).rejects.toMatchObject({ code: how === 'signal' ? 'cancelled' : 'task-cancelled' })
  Atomics.store(gate, 0, 1)
  await Promise.all(busy)
  expect(await s.threads.runTask(url, 'countRun', [runs])).toBe(1)
  await s.end()
})

test.each([
  ['function', 'value.at[1] is a function'],
  ['symbol', 'value.at.deep is a symbol'],
  ['promise', 'value[0] is a Promise'],
  ['throws', 'value.bad is a value that fails to be read: Error: not now'],
])('a result or an answer that cannot go is refused by its place: %s', async (what, says) => {
  const s = stage()
  await expect(s.threads.runTask(url, 'oddResult', [what])).rejects.toMatchObject({
    code: 'not-transferable',
    message: expect.stringContaining(says),
  })
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  const place = says.replace(/^value\.?/, '')
  await expect(ref.ask({ type: 'answer', what })).rejects.toMatchObject({ code: 'not-transferable', message: expect.stringContaining(place) })
  await s.end()
})

test('arguments of an actor arrive as they were at spawn, also at its restarts, or spawn refuses them by their place', async () => {
  const s = stage()
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const given = { list: linked(150), shared, counts: 0 }
  const cycle: unknown[] = [given]
  cycle.push(cycle)
  const ref = s.system.spawn(odd(given, cycle), { dispatcher: 'parallel', placement: { thread: 0 } })
  given.counts = 1
  const first = (await ref.ask({ type: 'args' })) as [typeof given, unknown[]]
  expect(first[0].counts).toBe(0)
  expect(lengthOf(first[0].list)).toBe(150)
  expect(first[1][0]).toBe(first[0])
  expect(first[1][1]).toBe(first[1])
  first[0].shared[0] = 5
  expect(shared[0]).toBe(5)
  given.counts = 2
  s.threads.terminate(0)
  await s.until('the loss', () => s.logs.some((l) => l.fields['why'] === 'terminated'))
  expect(((await ref.ask({ type: 'args' })) as [typeof given])[0].counts).toBe(0)
  const late = defineActor(url, 'odd', (...args: readonly unknown[]) => odd(...args))
  expect(() => s.system.spawn(late({ a: { b: () => 1 } }), { dispatcher: 'parallel' })).toThrow(/: args\[0\]\.a\.b is a function/)
  await s.end()
})

test('what is shared stays shared, and costs what it is', async () => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  // Written out, 2⁶⁰ objects.
  let tree: { l?: unknown; r?: unknown } = {}
  for (let i = 0; i < 60; i++) tree = { l: tree, r: tree }
  let back = (await ref.ask({ type: 'echo', value: tree })) as typeof tree
  for (let i = 0; i < 60; i++) {
    expect(back.l).toBe(back.r)
    back = back.l as typeof tree
  }
  const bytes = new Uint8Array(8)
  const views = (await ref.ask({ type: 'echo', value: [bytes, new DataView(bytes.buffer, 2), bytes.buffer] })) as [Uint8Array, DataView, ArrayBuffer]
  expect(views[0].buffer).toBe(views[2])
  expect(views[1].buffer).toBe(views[2])
  expect(views[1].byteOffset).toBe(2)
  await s.end()
})

test('texts that are no Unicode arrive as they are, as keys too', async () => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  const lone = 'a\ud800b'
  const value = { [lone]: lone, long: `\udfff${'x'.repeat(100)}`, map: new Map([[lone, 1]]), é: 'ü'.repeat(30) }
  expect(await ref.ask({ type: 'echo', value })).toStrictEqual(value)
  await s.end()
})

test.each([150, 5_000, 100_000])('a list of %d nodes arrives', async (length) => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  expect(lengthOf((await ref.ask({ type: 'echo', value: linked(length) })) as { next: unknown })).toBe(length)
  await s.end()
})

test('what waits for its actor, or for a thread, is what it was when it was sent', async () => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  const value = { n: 1 }
  const early = ref.ask({ type: 'echo', value })
  value.n = 2
  expect(await early).toEqual({ n: 1 })
  const bytes = new Uint8Array([1, 2, 3])
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const busy = [1, 2].map((n) => s.threads.runTask(url, 'after', [n, gate]))
  const waiting = s.threads.runTask(url, 'take', [bytes])
  bytes[0] = 9
  Atomics.store(gate, 0, 1)
  await Promise.all(busy)
  expect(await waiting).toEqual(new Uint8Array([1, 2, 3]))
  await s.end()
})

test('headers that cannot go are named, and those that wait are what they were', async () => {
  const s = stage()
  const ref = s.system.spawn(odd(), { dispatcher: 'parallel' })
  const headers: Record<string, unknown> = { trace: { id: 1 } }
  const early = ref.ask({ type: 'headers' }, { headers })
  ;(headers['trace'] as { id: number }).id = 2
  expect(await early).toEqual({ trace: { id: 1 } })
  const bad = { trace: { fn: () => 1 } } as never
  await expect(ref.ask({ type: 'headers' }, { headers: bad })).rejects.toThrow(/headers\.trace\.fn is a function/)
  ref.tell({ type: 'args', replyTo: listener(s).ref }, { headers: bad })
  const [letter] = s.system.deadLetters.list().slice(-1)
  expect(letter!.reason).toBe('not-transferable')
  await s.end()
})

test.each([NaN, -1, 0, Infinity, '100', null])('a task with the timeout %s is refused', async (timeout) => {
  const s = stage()
  await expect(s.threads.runTask(url, 'take', [1], { timeout: timeout as never })).rejects.toMatchObject({
    code: 'invalid-option',
    option: 'timeout',
  })
  await s.end()
})

test('a task with a timeout of many years is not given up at once', async () => {
  const s = stage()
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const task = s.threads.runTask(url, 'after', ['done', gate], { timeout: 2 ** 40 })
  let settled = false
  void task.then(
    () => (settled = true),
    () => (settled = true),
  )
  // The host takes a time that is too long for it as 1 ms; by then this thread has answered twenty times.
  for (let i = 0; i < 20; i++) await s.threads.runTask(url, 'take', [i])
  expect(settled).toBe(false)
  Atomics.store(gate, 0, 1)
  expect(await task).toBe('done')
  await s.end()
})

function lengthOf(list: { readonly next: unknown }): number {
  let length = 0
  for (let at: unknown = list; typeof at === 'object' && at !== null; at = (at as { next: unknown }).next) length++
  return length
}
