// A place is a function of its ports: several live in one process here. And what comes by them is not believed.

import { ActorSystem } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { describe, expect, test } from 'vitest'
import type { Control } from '../../border/src/way/control.ts'
import { checkControl } from '../../border/src/way/control.ts'
import type { ThreadLost } from '../src/threads/index.ts'
import { counter } from './actors/counter.ts'
import { inProcess } from './in-process.ts'

const silentLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Waits for what happens on other places, by looking. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

describe.each([
  ['shared memory', true],
  ['ports', false],
])('in one process, by %s', (_how, shared) => {
  test('an actor on a place is told and asked as any, and the ledger of all adds up', async () => {
    const system = ActorSystem.create('one', { askTimeout: 30_000 })
    const { pool, places } = inProcess(system, 2, shared)
    const refs = [0, 1].map((thread) => system.spawn(counter(), { dispatcher: 'parallel', placement: { thread } }))
    for (const ref of refs) for (let i = 0; i < 100; i++) ref.tell({ type: 'add', by: 1 })
    expect(await Promise.all(refs.map((ref) => ref.ask({ type: 'get' })))).toEqual([100, 100])
    expect(places.size).toBe(2)
    const { sent, handled } = await pool.ledger()
    expect(handled).toBe(sent)
    await system.shutdown()
  })

  test.each([
    ['a record that is in no list', { op: 'nonsense' }],
    ['a record without a name', { uid: 1 }],
    ['no record at all', 7],
    ['a field that is missing', { op: 'stub.started' }],
    ['a field of another type', { op: 'up', epoch: 'one' }],
    ['a field too many', { op: 'up', epoch: 1, more: true }],
    [
      'a record that is for other threads',
      { op: 'hosted.spawn', uid: 1, path: '/x', url: 'data:text/javascript,', name: 'x', args: [], options: {}, incarnation: 0 },
    ],
    ['a verb that is no verb', { op: 'verb', uid: 1, command: { verb: 'proceed' } }],
  ])('%s ends the thread that sent it, by name, and nothing else', async (_what, record) => {
    const system = ActorSystem.create('one', { askTimeout: 30_000, logger: silentLogger })
    const losses: ThreadLost[] = []
    system.events.listen((e) => void losses.push((e as { cause: ThreadLost }).cause), 'thread.lost')
    const { pool, places } = inProcess(system, 2, shared)
    const other = system.spawn(counter(), { dispatcher: 'parallel', placement: { thread: 1 } })
    await other.ask({ type: 'get' })
    const first = places.get(1)!
    first.exchange.knownCrossing(0)!.control(record as Control)
    await until(() => losses.length > 0)
    expect(losses[0]).toMatchObject({ code: 'thread-lost', why: 'bad-record', thread: 0, cause: { code: 'bad-record' } })
    expect(await other.ask({ type: 'get' })).toBe(0)
    const again = system.spawn(counter(), { dispatcher: 'parallel', placement: { thread: 0 } })
    expect(await again.ask({ type: 'get' })).toBe(0)
    expect(places.has(3)).toBe(true)
    const { sent, handled, failed, unhandled, dropped, deadLettered, unknown, queued, stashed, inProgress } = await pool.ledger()
    expect(sent).toBe(handled + failed + unhandled + dropped + deadLettered + unknown + queued + stashed + inProgress)
    await system.shutdown()
  })

  test('what the main thread says and a place cannot read ends that place', async () => {
    const system = ActorSystem.create('one', { askTimeout: 30_000, logger: silentLogger })
    const losses: ThreadLost[] = []
    system.events.listen((e) => void losses.push((e as { cause: ThreadLost }).cause), 'thread.lost')
    const { pool } = inProcess(system, 2, shared)
    pool.exchange.tell(2, { op: 'log', level: 'info', fields: {}, message: 'not for you' })
    await until(() => losses.length > 0)
    expect(losses[0]).toMatchObject({ why: 'bad-record', thread: 1 })
    await system.shutdown()
  })

  test('what one place cannot read of another ends the one that wrote it', async () => {
    const system = ActorSystem.create('one', { askTimeout: 30_000, logger: silentLogger })
    const losses: ThreadLost[] = []
    system.events.listen((e) => void losses.push((e as { cause: ThreadLost }).cause), 'thread.lost')
    const { places } = inProcess(system, 2, shared)
    await until(() => places.size === 2)
    places
      .get(1)!
      .exchange.crossingTo(2)!
      .control({ op: 'nonsense' } as never)
    await until(() => losses.length > 0)
    expect(losses.map((l) => [l.why, l.thread])).toEqual([['bad-record', 0]])
    await system.shutdown()
  })
})

test('a system on a thread tells its reporter of turns, of dead letters, and of what it observes only while that listens', async () => {
  const system = ActorSystem.create('one', { askTimeout: 30_000 })
  const { places, pool } = inProcess(system)
  await until(() => places.size === 2)
  const core = coreOf(places.get(1)!.system)
  expect(core.listening).toBe(false)
  system.events.listen(() => {}, 'actor.spawned')
  pool.tellListening()
  await until(() => core.listening)
  expect(coreOf(system).reporter).toBeUndefined()
  await system.shutdown()
})

test('a record is checked field by field: what only looks like a ref is none', () => {
  expect(checkControl({ op: 'gone', uid: 1, reason: 'normal', cause: undefined })).toMatchObject({ op: 'gone' })
  const forged = { path: '/user/secret', uid: 1 }
  expect(() => checkControl({ op: 'found', id: 1, ref: forged })).toThrow('field ref of record "found"')
  expect(() => checkControl({ op: 'toString' })).toThrow('no record "toString"')
  expect(() => checkControl({ op: 'verb', uid: 1, command: { verb: 'constructor' } })).toThrow('field command')
})
