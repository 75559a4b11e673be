// Every public function of @troupe/persistence with wrong input in every place; what is accepted is spawned. A new export without an
// entry fails.

import type { ActorRef } from '@troupe/core'
import * as p from '@troupe/persistence'
import * as testing from '@troupe/persistence/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { countedInputs, type Entry, entry, holds } from '../../core/test/wrong-input.ts'
import { kitWith } from './counter.ts'

type Anything = (...given: readonly unknown[]) => unknown
const isError = (value: unknown): boolean => typeof value === 'function' && value.prototype instanceof Error

/** Calls it, and makes a behavior of what it gave. */
const kindOf =
  (f: unknown): Entry['act'] =>
  (args) =>
    void ((f as Anything)(...args) as Anything)('a')
const call =
  (f: unknown): Entry['act'] =>
  (args) =>
    void (f as Anything)(...args)

/** One with a journal, in which nothing is. */
const bare = kitWith(p.memory())
const commands = { get: () => undefined }
const schema = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } }
const counter: p.Kind<{ type: 'get'; replyTo: ActorRef<number> }> = p.eventSourced('counter', {
  initial: () => 0,
  events: { added: (n) => n + 1 },
  commands: { get: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
})

const empty = await p.openJournal(p.memory())

const box: p.Kind<{ type: 'get' }> = p.durableState('box', { initial: () => 0, commands })

const functions: Record<string, Entry> = {
  memory: entry(call(p.memory), () => [
    { name: 'x', faults: { fail: 0.5, partial: 0.5, unknown: 0.5, read: 0.5, snapshot: 0.5, spoil: 0.5, delay: 5 } },
  ]),
  sqliteJournal: entry(call(p.sqliteJournal), () => ['./data.db', { name: 'x', synchronous: 'normal', pollMs: 5 }]),
  postgres: entry(call(p.postgres), () => [
    { host: 'x', port: 5, user: 'x', password: 'x', database: 'x', max: 1, connectionString: 'postgres://x', ssl: false },
    { name: 'x', schema: 'x', timeout: 5, poll: 5 },
  ]),
  postgresSchema: entry(call(p.postgresSchema), () => [{ schema: 'x', role: 'x', keeper: 'x' }]),
  createPostgresSchema: entry(
    (args) => (p.createPostgresSchema as Anything)(...args),
    () => [{ connect: () => Promise.reject(new p.JournalUnavailable('x', 'nobody is there')) }, { schema: 'x', role: 'x', keeper: 'x' }],
    true,
  ),
  persistence: entry(call(p.persistence), () => [
    {
      journal: p.memory(),
      scope: 'x',
      whenAway: 'wait',
      find: () => undefined,
      redeliverEvery: 5,
      immutableCheck: true,
      recovery: { timeout: 5, permits: 1 },
    },
  ]),
  eventSourced: entry(kindOf(p.eventSourced), () => [
    'x',
    {
      initial: () => 0,
      events: { added: (n: number) => n },
      commands,
      snapshotEvery: 5,
      snapshotWhen: () => false,
      tags: () => [],
      version: 2,
      upcast: () => [],
      upcastState: () => 0,
      schema,
      subject: () => 'anna',
      erased: () => [],
    },
  ]),
  'eventSourced that deletes': entry(kindOf(p.eventSourced), () => ['x', { initial: () => 0, events: {}, commands, keepEvents: 5 }]),
  durableState: entry(kindOf(p.durableState), () => [
    'x',
    { initial: () => 0, commands, version: 2, upcast: () => 0, schema, subject: () => 'anna' },
  ]),
  'a kind': entry(call(counter), () => ['key']),
  EventSourced: entry(
    (args) => {
      class Cart extends p.EventSourced<number, { type: 'x' }> {
        static readonly persistence = args[1] as never
        protected initial(): number {
          return 0
        }
        protected apply(n: number): number {
          return n
        }
      }
      return void new Cart(args[0]!)
    },
    () => ['key', { kind: 'cart' }],
  ),
  DurableState: entry(
    (args) => {
      class Box extends p.DurableState<number> {
        static readonly persistence = args[1] as never
        protected initial(): number {
          return 0
        }
      }
      return void new Box(args[0]!)
    },
    () => ['key', { kind: 'box' }],
  ),
  eraseSubject: entry(
    (args) => (p.eraseSubject as Anything)(...args),
    () => [bare.system, 'anna'],
    true,
  ),
  trimEvents: entry(
    (args) => (p.trimEvents as Anything)(...args),
    () => [bare.system, counter, 'a', { upTo: 5 }],
    true,
  ),
  takeSnapshot: entry(
    (args) => (p.takeSnapshot as Anything)(...args),
    () => [bare.system, counter, 'a'],
    true,
  ),
  journalEvents: entry(
    (args) => void (p.journalEvents as Anything)(...args),
    () => [bare.system, { kind: 'x', tag: 'x', after: '1', once: true, signal: new AbortController().signal }],
  ),
  surveyJournals: entry(call(p.surveyJournals), () => [bare.system], true),
  projection: entry(call(p.projection), () => [
    { name: 'x', from: { kind: counter, tag: 'x' }, handle: () => undefined, batch: 5, onDeleted: 'skip' },
  ]),
  kindOf: entry(call(p.kindOf), () => ['cart/1'], true),
  journalAt: entry(call(p.journalAt), () => ['./data', { schema: 'x', make: false }]),
  openJournal: entry(
    (args) => (p.openJournal as Anything)(...args),
    () => [p.memory()],
    true,
  ),
  exportJournal: entry(
    async (args) => {
      const journal = await p.openJournal(p.memory())
      for await (const _ of (p.exportJournal as (...given: unknown[]) => AsyncIterable<string>)(journal, ...args)) continue
    },
    () => [{ keys: 'without', signal: new AbortController().signal }],
  ),
  importJournal: entry(
    async (args) => void (await (p.importJournal as Anything)(await p.openJournal(p.memory()), ...args)),
    () => [p.exportJournal(empty)],
    true,
  ),
  showId: entry(
    async (args) => void (await (p.showId as Anything)(empty, ...args)),
    () => ['cart/1', { after: 0, most: 5 }],
  ),
  listIds: entry(
    async (args) => {
      for await (const _ of (p.listIds as (...given: unknown[]) => AsyncIterable<unknown>)(empty, ...args)) continue
    },
    () => [{ kind: 'x' }],
  ),
  kindStats: entry(
    (args) => (p.kindStats as Anything)(...args),
    () => [empty],
    true,
  ),
  listProjections: entry(
    (args) => (p.listProjections as Anything)(...args),
    () => [empty],
    true,
  ),
  removeProjection: entry(
    async (args) => void (await (p.removeProjection as Anything)(empty, ...args)),
    () => ['totals'],
    true,
  ),
  snapshotKey: entry(
    async (args) => void (await (p.snapshotKey as Anything)(empty, ...args)),
    () => [counter, 'a', { scope: 'x' }],
  ),
  backupSqlite: entry(
    (args) => (p.backupSqlite as Anything)(...args),
    () => ['./no-journal-is-here', './nor-here', { keys: 'without' }],
    true,
  ),
  run: entry(call(testing.run), () => [counter, [{ type: 'added' }], { type: 'get', replyTo: undefined }, { key: 'a', now: 5, timers: ['x'] }], true),
  runState: entry(call(testing.runState), () => [box, 5, { type: 'get' }, { key: 'a', now: 5, timers: ['x'] }], true),
}

describe('whatever it is given, it is refused with a code or does something sensible:', () => {
  for (const [name, calls] of Object.entries(functions))
    test(name, async () => {
      const before = countedInputs()
      await holds(calls)
      expect(countedInputs()).toBeGreaterThan(before)
    })
})

test('there is an entry for every export', () => {
  const names = Object.entries({ ...p, ...testing }).flatMap(([name, value]) => (isError(value) ? [] : [name]))
  expect(names.filter((name) => !(name in functions))).toEqual([])
})

afterAll(() => bare.end())
