// When a persistent actor is back after a failure: at once where a command threw, after a pause that grows where the journal failed, and
// never where it could not start at all.

import { type ActorRef, child, supervisor, supervisorClient } from '@troupe/core'
import { EventSourced, eventSourced, type JournalSource, JournalUnavailable, type Kind, memory } from '@troupe/persistence'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { counter, kitWith } from './counter.ts'

/** How a promise ends within some milliseconds. */
async function within(kit: TestKit, ms: number, promise: Promise<unknown>): Promise<unknown> {
  const ended: unknown[] = []
  promise.then(
    (value) => ended.push(value),
    (cause: { code?: string; message: string }) => ended.push(cause.code ?? cause.message),
  )
  await kit.settle()
  for (let gone = 0; gone < ms && ended.length === 0; gone += 10) await kit.advance(10)
  return ended.length === 0 ? 'pending' : ended[0]
}

test('what a command throws may be unreadable: its actor is back all the same', async () => {
  const bang = (): never => {
    throw new Error('bang')
  }
  const thrown = [new Proxy({}, { get: bang, getPrototypeOf: bang }), Object.defineProperties({}, { code: { get: bang }, kind: { get: bang } })]
  const kind: Kind<{ type: 'go' } | { type: 'get'; replyTo: ActorRef<number> }> = eventSourced('odd', {
    initial: () => 1,
    events: {},
    commands: {
      go: () => {
        throw thrown.pop()
      },
      get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
    },
  })
  const kit = kitWith(memory())
  const ref = kit.system.spawn(kind('1'))
  for (let i = 0; i < 2; i++) {
    ref.tell({ type: 'go' })
    expect(await within(kit, 0, ref.ask({ type: 'get' }))).toBe(1)
  }
  await kit.end()
})

test('an actor whose commands throw again and again is there for everybody else', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(counter('a'))
  expect(await within(kit, 0, ref.ask({ type: 'add', by: 1 }))).toBe(1)
  for (let i = 0; i < 100; i++) {
    expect(await within(kit, 0, ref.ask({ type: 'fail', by: 10 }))).toBe('failed at 11')
    expect(await within(kit, 0, ref.ask({ type: 'get' }))).toBe(1)
    await kit.advance(50)
  }
  await kit.end()
})

test('what a command that throws changed in place is healed before the next one', async () => {
  type Bag = { type: 'spoil'; replyTo: ActorRef<number> } | { type: 'get'; replyTo: ActorRef<number> }
  const bag: Kind<Bag> = eventSourced('bag', {
    initial: () => ({ items: [] as string[] }),
    events: { put: (s, e: { item: string }) => ({ items: [...s.items, e.item] }) },
    commands: {
      spoil(ctx) {
        ctx.state.items.push('never stored')
        throw new Error('spoiled')
      },
      get: (ctx, m) => ctx.tell(m.replyTo, ctx.state.items.length),
    },
  })
  const kit = kitWith(memory())
  const ref = kit.system.spawn(bag('a'))
  const [spoilt, got] = [ref.ask({ type: 'spoil' }), ref.ask({ type: 'get' })]
  expect(await within(kit, 0, spoilt)).toBe('spoiled')
  expect(await within(kit, 0, got)).toBe(0)
  await kit.end()
})

test('a journal that refuses is tried after pauses that grow, up to ten seconds, whatever commands threw before', async () => {
  const journal = memory({ faults: { fail: 0 } })
  const kit = kitWith(journal)
  const ref = kit.system.spawn(counter('a'))
  for (let i = 0; i < 20; i++) expect(await within(kit, 0, ref.ask({ type: 'fail', by: 1 }))).toBe('failed at 1')
  journal.faults.fail = 1
  const pauses: number[] = []
  for (let i = 0; i < 12; i++) {
    expect(await within(kit, 0, ref.ask({ type: 'add', by: 1 }))).toBe('persist-failed')
    const answer = ref.ask({ type: 'get' }, { timeout: 30_000 })
    let pause = 0
    while ((await within(kit, 0, answer)) === 'pending') await kit.advance((pause += 10) && 10)
    pauses.push(pause)
  }
  expect(pauses[0]).toBeLessThanOrEqual(30)
  expect(pauses[5]).toBeGreaterThan(300)
  expect(pauses[11]).toBeGreaterThan(8900)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(11_010)
  journal.faults.fail = 0
  // Well for a second: the next trouble is a new one.
  expect(await within(kit, 0, ref.ask({ type: 'add', by: 1 }))).toBe(1)
  await kit.advance(2000)
  journal.faults.fail = 1
  expect(await within(kit, 0, ref.ask({ type: 'add', by: 1 }))).toBe('persist-failed')
  expect(await within(kit, 40, ref.ask({ type: 'get' }))).toBe(1)
  await kit.end()
})

test('one whose start fails is tried again after pauses that grow, and can be stopped meanwhile', async () => {
  let tries = 0
  class Unready extends EventSourced<number, { type: 'added' }> {
    static readonly persistence = { kind: 'unready' }
    constructor(key: string) {
      super(key)
      tries++
      throw new Error('not ready')
    }
    protected initial(): number {
      return 0
    }
    protected apply(n: number): number {
      return n + 1
    }
  }
  const kit = kitWith(memory())
  const ref = kit.system.spawn(Unready, { args: ['a'] })
  await kit.advance(60_000)
  expect(tries).toBeGreaterThan(5)
  expect(tries).toBeLessThan(20)
  kit.system.stop(ref)
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('one that can never start as it was spawned fails its start at once, and is not tried again', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(counter('a'))
  const started = kit.system.started(ref)
  const asked = ref.ask({ type: 'get' }).catch((cause: { code: string }) => cause.code)
  expect(await within(kit, 0, started)).toBe('actor-initialization')
  await expect(started).rejects.toMatchObject({
    cause: { code: 'not-allowed', message: expect.stringContaining('persistence({ journal })') as string },
  })
  expect(await within(kit, 0, asked)).toBe('ask-target-stopped')
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
  const other = kitWith(memory())
  const reentrant = other.system.spawn(counter('b'), { reentrant: true })
  expect(await within(other, 0, other.system.started(reentrant))).toBe('actor-initialization')
  await other.end()
})

test('what a command does that is not allowed fails the command, and never ends its actor', async () => {
  type M = { type: 'bad'; replyTo: ActorRef<number> } | { type: 'get'; replyTo: ActorRef<number> }
  const kind: Kind<M> = eventSourced('bad', {
    initial: () => 7,
    events: {},
    commands: { bad: (ctx) => ctx.persist({ type: 'unknown' } as never), get: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
  })
  const kit = kitWith(memory())
  const ref = kit.system.spawn(kind('a'))
  expect(await within(kit, 0, ref.ask({ type: 'bad' }))).toBe('not-allowed')
  expect(await within(kit, 0, ref.ask({ type: 'get' }))).toBe(7)
  await kit.end()
})

test('under a supervisor a journal that fails is waited for as without one: no intensity counts it', async () => {
  const journal = memory({ faults: { fail: 0 } })
  const kit = kitWith(journal)
  const spec = child('counter', counter('a'))
  const found = supervisorClient(kit.system.spawn(supervisor({ children: [spec] }), { name: 'top' })).refOf(spec)
  await kit.settle()
  const ref = await found
  expect(await within(kit, 0, ref.ask({ type: 'add', by: 1 }))).toBe(1)
  journal.faults.fail = 1
  for (let i = 0; i < 8; i++) expect(await within(kit, 20_000, ref.ask({ type: 'add', by: 1 }, { timeout: 30_000 }))).toBe('persist-failed')
  journal.faults.fail = 0
  expect(await within(kit, 20_000, ref.ask({ type: 'add', by: 1 }, { timeout: 30_000 }))).toBe(2)
  // What a command throws is the child's, and counts.
  const thrown = [1, 2, 3, 4].map(() => ref.ask({ type: 'fail', by: 1 }).catch(() => 'failed'))
  await kit.advance(100)
  await Promise.all(thrown)
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('under a supervisor one that cannot be read yet comes up when the journal is back', async () => {
  const journal = memory()
  let away = true
  const source = {
    ...journal,
    open: (environment: never) =>
      away ? Promise.reject(Object.assign(new Error('away'), { code: 'journal-unavailable' })) : journal.open(environment),
  }
  const kit = kitWith(source)
  const spec = child('counter', counter('a'))
  const top = kit.system.spawn(supervisor({ children: [spec] }))
  const started = kit.system.started(top)
  await kit.advance(5000)
  away = false
  expect(await within(kit, 15_000, started)).not.toBe('actor-initialization')
  const found = supervisorClient(top).refOf(spec)
  await kit.settle()
  expect(await within(kit, 0, (await found).ask({ type: 'add', by: 1 }))).toBe(1)
  await kit.end()
})

/** A journal that cannot be opened before it is `back`. */
function awayJournal(): { readonly source: JournalSource; readonly back: () => void } {
  const journal = memory()
  let away = true
  const source: JournalSource = {
    name: journal.name,
    open: (environment) => (away ? Promise.reject(new JournalUnavailable('memory', 'connection refused')) : journal.open(environment)),
  }
  return { source, back: () => void (away = false) }
}

test('with whenAway: reject, an actor that cannot start because of the journal refuses questions at once, until it is up', async () => {
  const { source, back } = awayJournal()
  const kit = kitWith(source)
  const ref = kit.system.spawn(counter('a'))
  const told = ref.ask({ type: 'add', by: 1 }, { timeout: 60_000 })
  ref.tell({ type: 'inc', by: 10 })
  expect(await within(kit, 0, told)).toBe('journal-unavailable')
  // In pauses between two starts, and in starts.
  for (let i = 0; i < 20; i++) {
    expect(await within(kit, 0, ref.ask({ type: 'get' }, { timeout: 60_000 }))).toBe('journal-unavailable')
    await kit.advance(97)
  }
  back()
  await kit.advance(12_000)
  // What was told has waited; what was refused never happens.
  expect(await within(kit, 0, ref.ask({ type: 'get' }))).toBe(10)
  await kit.end()
})

test('the timeout of a question says what keeps its target from coming up', async () => {
  const { source } = awayJournal()
  const kit = kitWith(source, { whenAway: 'wait' })
  const starting = kit.system.spawn(counter('a')).ask({ type: 'get' }, { timeout: 50 })
  const failed = starting.catch((cause: unknown) => cause)
  await kit.advance(60)
  expect(await failed).toMatchObject({
    code: 'ask-timeout',
    phase: 'starting',
    cause: { code: 'journal-unavailable' },
    message: expect.stringContaining('connection refused') as string,
  })
  await kit.end()

  // One that restarts: what it failed with.
  const journal = memory({ faults: { fail: 0 } })
  const other = kitWith(journal)
  const ref = other.system.spawn(counter('b'))
  expect(await within(other, 0, ref.ask({ type: 'add', by: 1 }))).toBe(1)
  journal.faults.fail = 1
  for (let i = 0; i < 6; i++) expect(await within(other, 5000, ref.ask({ type: 'add', by: 1 }, { timeout: 5000 }))).toBe('persist-failed')
  const late = ref.ask({ type: 'get' }, { timeout: 50 }).catch((cause: unknown) => cause)
  await other.advance(60)
  expect(await late).toMatchObject({
    code: 'ask-timeout',
    phase: 'restarting',
    cause: { code: 'persist-failed' },
    message: expect.stringContaining('the journal refused it') as string,
  })
  await other.end()
})
