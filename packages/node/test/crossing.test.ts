// What crosses the border between threads: buffers, functions that must not, credits, placement, tasks.

import { expect, test } from 'vitest'
import { bounded, child, supervise, supervisor } from '@troupe/core'
import { transfer } from '@troupe/node'
import { Cart } from '../dist-test/cart.js'
import type * as tasks from '../dist-test/subject.js'
import { subject } from '../dist-test/subject.js'
import { type Stage, stagesOfTests } from './stage.ts'

const stage = stagesOfTests()
const url = new URL('../dist-test/subject.js', import.meta.url).href

test('what cannot be cloned is a dead letter that names the field, and an ask of it is refused', async () => {
  const s = stage()
  const ref = s.subject({ name: 'a', dispatcher: 'parallel' })
  await s.system.started(ref)
  ref.tell({ type: 'note', value: { list: [1, { fn: () => 1 }] } })
  const [letter] = s.system.deadLetters.list()
  expect(letter!.reason).toBe('not-transferable')
  expect(letter!.recipient).toBe(ref)
  await expect(ref.ask({ type: 'echo', value: { deep: Symbol('s') } })).rejects.toMatchObject({
    code: 'ask-refused',
    message: expect.stringContaining('value.deep') as unknown,
  })
  ref.tell({ type: 'note', value: Promise.resolve() })
  ref.tell({ type: 'note', value: 'after' })
  await s.hears('note after')
  expect(s.system.deadLetters.count).toBe(3)
  await s.end()
})

test('what went wrong while writing a message leaves no trace in the next ones', async () => {
  const s = stage()
  const ref = s.subject({ name: 'a', dispatcher: 'parallel' })
  for (let i = 0; i < 50; i++) {
    const bad = { [`key${i}`]: 'new words', ref: s.report, fn: () => i }
    ref.tell({ type: 'note', value: bad })
    expect(await ref.ask({ type: 'echo', value: { [`key${i}`]: 'new words', ref: s.report } })).toEqual({ [`key${i}`]: 'new words', ref: s.report })
  }
  await s.end()
})

test('buffers are moved, shared memory is shared, large and cyclic messages come through, all in order', async () => {
  const s = stage({ ringBytes: 64 * 1024 })
  const ref = s.subject({ name: 'a', dispatcher: 'parallel', script: { quiet: true } })
  const pixels = new Uint8Array(1000).fill(7)
  const moved = ref.ask((replyTo) => transfer({ type: 'echo', value: pixels, replyTo } as const, [pixels.buffer]))
  expect(pixels.length === 0 || (await s.system.started(ref), true)).toBe(true)
  expect(await moved).toEqual(new Uint8Array(1000).fill(7))
  expect(pixels).toHaveLength(0)
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const back = (await ref.ask({ type: 'echo', value: shared })) as Int32Array
  back[0] = 42
  expect(shared[0]).toBe(42)
  const cycle: { self?: unknown; ref: unknown } = { ref: s.report }
  cycle.self = cycle
  const answer = (await ref.ask({ type: 'echo', value: cycle })) as typeof cycle
  expect(answer.self).toBe(answer)
  expect(answer.ref).toBe(s.report)
  for (let i = 0; i < 200; i++)
    ref.tell({
      type: 'note',
      value: i % 3 === 0 ? { i, big: 'x'.repeat(40_000) } : i % 3 === 1 ? { i, set: transfer({ b: new ArrayBuffer(8) }, []) } : { i },
    })
  await s.until('200 notes', () => s.reports.length >= 200)
  expect(s.reports.map((r) => (r.value as { i: number }).i)).toEqual(Array.from({ length: 200 }, (_, i) => i))
  await s.end()
})

test('a message is what it was when it was told', async () => {
  const s = stage()
  const ref = s.subject({ name: 'a', dispatcher: 'parallel' })
  await s.system.started(ref)
  const message = { type: 'note' as const, value: { n: 1 } }
  ref.tell(message)
  message.value.n = 2
  await s.hears('note {"n":1}')
  await s.end()
})

test('T3: a slow actor does not fill its thread: beyond its credit messages wait with the sender, and the others pass', async () => {
  const s = stage()
  const slow = s.subject({ name: 'slow', dispatcher: 'parallel', placement: { thread: 0 }, script: { quiet: true } })
  const quick = s.subject({ name: 'quick', dispatcher: 'parallel', placement: { thread: 0 }, script: { quiet: true } })
  slow.tell({ type: 'never' })
  await s.hears('waiting for ever')
  for (let i = 0; i < 30_000; i++) slow.tell({ type: 'note', value: i })
  expect(await quick.ask({ type: 'echo', value: 'passed' })).toBe('passed')
  const { queued } = await s.system.inspect(slow)
  expect(queued).toBe(30_000)
  s.system.kill(slow)
  await s.system.whenTerminated(slow)
  await s.checkLedger()
  await s.end()
})

test('placement: by key always the same thread, by number that one, round robin all of them', async () => {
  const s = stage()
  const where = (placement: 'round-robin' | { key: string } | { thread: number }): Promise<number> =>
    s.subject({ dispatcher: 'parallel', placement, script: { quiet: true } }).ask({ type: 'where' })
  expect(await where({ key: 'k' })).toBe(await where({ key: 'k' }))
  expect(await where({ thread: 1 })).toBe(await where({ thread: 1 }))
  expect(await where({ thread: 1 })).not.toBe(await where({ thread: 0 }))
  expect(new Set([await where('round-robin'), await where('round-robin')]).size).toBe(2)
  await expect(s.system.started(s.subject({ dispatcher: 'parallel', placement: { thread: 9 } }))).rejects.toMatchObject({
    cause: { code: 'invalid-option' },
  })
  expect(() => s.subject({ dispatcher: 'parallel', placement: 'nowhere' as never })).toThrow(/placement/)
  await s.end()
})

test('children live beside their parent; the tree shows where each actor lives', async () => {
  const s = stage()
  const a = s.subject({ name: 'a', dispatcher: 'parallel', placement: { thread: 1 }, script: { quiet: true } })
  a.tell({ type: 'spawn', name: 'kid' })
  await s.until('the child', () => s.reports.some((r) => r.what === 'spawned'))
  const kid = s.reports.find((r) => r.what === 'spawned')!.value as typeof a
  expect(await kid.ask({ type: 'where' })).toBe(await a.ask({ type: 'where' }))
  const tree = await s.system.inspect()
  const shown = tree.children.find((c) => c.name === 'a')
  expect(shown).toMatchObject({ thread: 1, dispatcher: 'parallel', children: [{ path: '/user/a/kid', phase: 'running' }] })
  expect(s.threads.vitals()).toHaveLength(2)
  await s.end()
})

test('two threads that find each other at the same moment share one way', async () => {
  const s = stage()
  const a = s.subject({ name: 'a', dispatcher: 'parallel', placement: { thread: 0 }, script: { quiet: true } })
  const b = s.subject({ name: 'b', dispatcher: 'parallel', placement: { thread: 1 }, script: { quiet: true } })
  await Promise.all([s.system.started(a), s.system.started(b)])
  a.tell({ type: 'ask', ref: b, value: 1 })
  b.tell({ type: 'ask', ref: a, value: 2 })
  await s.hears('answer 1')
  await s.hears('answer 2')
  await s.end()
})

test('tasks: results and errors come back, abort and timeout end them, kill only where asked', async () => {
  const s = stage()
  const t = s.threads
  expect(await t.runTask<typeof tasks.add>(url, 'add', [2, 3])).toBe(5)
  await expect(t.runTask(url, 'failing', ['no'])).rejects.toMatchObject({ name: 'RangeError', message: 'no', code: 'E_TASK' })
  await expect(t.runTask(url, 'absent')).rejects.toMatchObject({ code: 'not-on-thread' })
  const control = new AbortController()
  const aborted = t.runTask(url, 'untilAborted', [1], { signal: control.signal })
  control.abort()
  await expect(aborted).rejects.toMatchObject({ code: 'cancelled' })
  await expect(t.runTask(url, 'spin', [], { timeout: 200, kill: true })).rejects.toMatchObject({ code: 'task-cancelled' })
  const many = await Promise.all(Array.from({ length: 20 }, (_, i) => t.runTask<typeof tasks.add>(url, 'add', [i, 1])))
  expect(many).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  await s.end()
})

test('options: arguments and options that hold functions are refused at spawn, by name', () => {
  const s = stage()
  expect(() => s.system.spawn(subject({ report: s.report, fn: () => 1 } as never), { dispatcher: 'parallel' })).toThrow(
    /: args\[0\]\.fn is a function/,
  )
  expect(() => s.subject({ dispatcher: 'parallel', childSupervision: supervise({ decide: () => 'stop' }) })).toThrow(/childSupervision/)
})

test('every ask settles and leaves nothing behind', async () => {
  const s = stage()
  const ref = s.subject({ name: 'a', dispatcher: 'parallel', script: { quiet: true } })
  await Promise.all(Array.from({ length: 5000 }, (_, i) => ref.ask({ type: 'echo', value: i })))
  await s.end()
})

test('a bounded mailbox governs what waits with the sender: refused, dropped, or waited for by offer', async () => {
  const s = stage()
  const blocked = async (name: string, mailbox: ReturnType<typeof bounded>): Promise<[ReturnType<Stage['subject']>, () => void]> => {
    const ref = s.subject({ name, dispatcher: 'parallel', mailbox, script: { quiet: true } })
    const gate = s.gate()
    ref.tell({ type: 'ask', ref: gate.ref, value: name, await: true })
    await gate.reached
    return [ref, () => gate.open()]
  }
  const [rejecting, freeRejecting] = await blocked('rejecting', bounded(16, 'reject'))
  for (let i = 0; i < 100; i++) rejecting.tell({ type: 'note', value: i })
  const { queued } = await s.system.inspect(rejecting)
  expect(queued).toBeLessThanOrEqual(18)
  expect(s.system.deadLetters.list().filter((l) => l.reason === 'mailbox-full').length).toBeGreaterThanOrEqual(82)
  freeRejecting()
  const [blocking, freeBlocking] = await blocked('blocking', bounded(8, 'block'))
  let taken = 0
  const offers = Array.from({ length: 50 }, (_, i) => blocking.offer({ type: 'note', value: `offered ${i}` }).then(() => taken++))
  await new Promise((resolve) => setImmediate(resolve))
  expect(taken).toBeLessThanOrEqual(10)
  freeBlocking()
  await Promise.all(offers)
  await s.hears('note offered 49')
  expect(s.heard('blocking').filter((h) => h.startsWith('note offered'))).toEqual(Array.from({ length: 50 }, (_, i) => `note offered ${i}`))
  await s.end()
})

test('a declared child may live on a thread: its supervisor restarts it, also when the thread is lost', async () => {
  const s = stage()
  const root = s.system.spawn(
    supervisor({
      intensity: 5,
      period: 60_000,
      children: [
        child('worker', subject({ report: s.report, quiet: true }), { restart: 'permanent', dispatcher: 'parallel', placement: { thread: 0 } }),
      ],
    }),
    { name: 'root' },
  )
  await s.until('the worker', () => s.system.find('/user/root/worker') !== undefined)
  const worker = s.system.find('/user/root/worker') as ReturnType<Stage['subject']>
  await s.system.started(worker)
  worker.tell({ type: 'throw', message: 'bad' })
  expect(await worker.ask({ type: 'state' })).toMatchObject({ incarnation: 1 })
  s.threads.terminate(0)
  await s.until('the loss', () => s.logs.some((l) => l.fields['why'] === 'terminated'))
  expect(await worker.ask({ type: 'state' })).toMatchObject({ incarnation: 2 })
  root.stop()
  await s.system.whenTerminated(root)
  await s.end()
})

test('class actors live on threads as behaviors do: args, methods, failures, a handle of their own', async () => {
  const s = stage()
  const cart = s.system.spawn(Cart, { name: 'cart', args: ['book'], dispatcher: 'parallel', supervision: supervise({ backoff: { min: 0, max: 0 } }) })
  cart.tell.add('pen')
  expect(await cart.ask.addLater('ink')).toBe(3)
  expect(await cart.ask.items()).toEqual(['book', 'pen', 'ink'])
  const { thread, path } = await cart.ask.where()
  expect(thread).not.toBe(0)
  expect(path).toBe('/user/cart')
  await expect(cart.ask.add('')).rejects.toMatchObject({ name: 'RangeError', message: 'an empty item' })
  expect(await cart.ask.items()).toEqual(['book'])
  await s.end()
})

test('an actor is found by its path on whatever thread it lives, also one below another thread', async () => {
  const s = stage()
  const a = s.subject({ name: 'a', dispatcher: 'parallel', placement: { thread: 0 }, script: { quiet: true } })
  a.tell({ type: 'spawn', name: 'kid' })
  a.tell({ type: 'spawn', name: 'far', dispatcher: 'pinned' })
  await s.until('both children', () => s.reports.filter((r) => r.what === 'spawned').length === 2)
  const [kid, far] = s.reports.map((r) => r.value as typeof a)
  far!.tell({ type: 'spawn', name: 'grandchild' })
  await s.until('the grandchild', () => s.reports.filter((r) => r.what === 'spawned').length === 3)
  const grandchild = s.reports[2]!.value as typeof a
  for (const ref of [a, kid!, far!, grandchild]) expect((await s.threads.find(ref.path)) === ref).toBe(true)
  expect(s.system.find('/user/a/kid')).toBe(undefined)
  expect(await s.threads.find('/user/a/nobody')).toBe(undefined)
  await s.end()
})
