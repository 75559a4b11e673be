// A journal that was exported and imported is the same journal, whatever either is made of; what is damaged, foreign or would overwrite is
// refused, and leaves nothing behind. TROUPE_RUNS for more journals.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  createPostgresSchema,
  exportJournal,
  type FoundEvent,
  importJournal,
  type Journal,
  type JournalRecord,
  type JournalSource,
  memory,
  openJournal,
  postgres,
  sqliteJournal,
  type StoredEvent,
} from '@troupe/persistence'
import { findPostgres, type PostgresServer, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { event, run, state } from './contract/stage.ts'

const engine = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')
const runs = Number(process.env['TROUPE_RUNS'] ?? 12)
const scratch = mkdtempSync(join(tmpdir(), 'troupe-copying-'))
let made = 0
let server: PostgresServer | undefined
let admin: pg.Pool | undefined
const opened: Journal[] = []
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close()
})
afterAll(async () => {
  await admin?.end()
  await server?.end()
  rmSync(scratch, { recursive: true, force: true })
})

type Store = 'memory' | 'sqlite' | 'postgres'
/** A store that has nothing. */
async function empty(store: Store): Promise<JournalSource> {
  if (store === 'memory') return memory()
  if (store === 'sqlite') return sqliteJournal(join(scratch, `${++made}.db`))
  const schema = `copy_${++made}`
  await createPostgresSchema(admin!, { schema })
  return postgres(admin!, { schema })
}
async function open(source: JournalSource): Promise<Journal> {
  const journal = await openJournal(source)
  opened.push(journal)
  return journal
}

const owner = { scope: 'default', epoch: 1 }
const ids = ['cart/1', 'cart/2', 'order/x', 'ord er/\u0000\u0001/é', 'plain']
/** Text of the codec, as every actor writes it: an import refuses other. JSON escapes no U+2028, and nothing above it but lone surrogates. */
const text = fc
  .oneof(fc.constantFrom('{"n":1}', '', '\u0000', '\ud800x', '\u0001a', 'é\u2028\n"', 'x'.repeat(3000)), fc.string({ unit: 'binary' }))
  .map((one) => JSON.stringify(one))
const storedEvent: fc.Arbitrary<StoredEvent> = fc.record({
  type: fc.constantFrom('added', 'é"', '$sent'),
  version: fc.integer({ min: 1, max: 3 }),
  data: text,
  tags: fc.subarray(['a', 'b,"}', 'ü']),
  subject: fc.option(fc.constantFrom('anna', 'b\u0000b'), { nil: undefined }),
  time: fc.oneof(fc.integer(), fc.constantFrom(0.5, 1.7e12)),
})
const id = fc.constantFrom(...ids)
type Step =
  | { is: 'append'; group: { id: string; events: StoredEvent[]; timer: { key: string; due: number | undefined } | undefined }[] }
  | { is: 'state'; id: string; by: number; data: string | undefined; subject: string | undefined }
  | { is: 'snapshot' | 'delete'; id: string; part: number }
  | { is: 'key'; subject: string; erase: boolean }
  | { is: 'project'; projection: string; tag: string | undefined; most: number }
const timer = fc.record({ key: fc.constantFrom('t', 'u\u0000'), due: fc.option(fc.constantFrom(5, 1e12, 0.25), { nil: undefined }) })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      is: fc.constant('append' as const),
      group: fc.uniqueArray(
        fc.record({ id, events: fc.array(storedEvent, { minLength: 1, maxLength: 4 }), timer: fc.option(timer, { nil: undefined }) }),
        { selector: (one) => one.id, minLength: 1, maxLength: 3 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant('state' as const),
      id: fc.constantFrom('settings/1', 'cart/1'),
      by: fc.integer({ min: 1, max: 3 }),
      data: fc.option(text, { nil: undefined }),
      subject: fc.option(fc.constant('anna'), { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constantFrom('snapshot' as const, 'delete' as const), id, part: fc.constantFrom(0, 0.3, 0.6, 1) }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('key' as const), subject: fc.constantFrom('anna', 'b\u0000b'), erase: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant('project' as const),
      projection: fc.constantFrom('view', 'mail'),
      tag: fc.option(fc.constant('a'), { nil: undefined }),
      most: fc.integer({ min: 1, max: 9 }),
    }),
  },
)

/** Does to a journal what systems would have done. */
async function live(journal: Journal, steps: readonly Step[]): Promise<void> {
  await journal.raise('default', 1)
  for (const one of steps) {
    if (one.is === 'append') {
      const heads = await journal.heads(one.group.map((write) => write.id))
      const group = one.group.map((write, i) =>
        run(write.id, heads[i]!.seq + 1, 0, { events: write.events, timers: write.timer === undefined ? [] : [write.timer] }),
      )
      expect((await journal.append(group)).map(({ is }) => is)).toEqual(group.map(() => 'stored'))
    } else if (one.is === 'state') {
      const expected = (await journal.heads([one.id]))[0]!.state?.revision ?? 0
      const { data, subject } = one
      await journal.append([
        { write: 'state', id: one.id, expected, revision: expected + one.by, version: 1, data, subject, time: 7, timers: [], ...owner },
      ])
    } else if (one.is === 'key') {
      if (one.erase) await journal.eraseKey(one.subject)
      else await journal.addKey(one.subject, new Uint8Array([1, 2, one.subject.length]))
    } else if (one.is === 'project') {
      const from = await journal.offset(one.projection)
      const seen = await found(journal, { after: from, tag: one.tag })
      const last = seen.slice(0, one.most).at(-1)
      if (last !== undefined) await journal.advance(one.projection, from, last.offset, () => Promise.resolve())
    } else {
      const { seq, deleted } = (await journal.heads([one.id]))[0]!
      const at = deleted + Math.round((seq - deleted) * one.part)
      if (seq === 0) continue
      if (one.is === 'delete') await journal.deleteEvents(one.id, at, owner)
      else await journal.saveSnapshot({ id: one.id, seq: at, version: 2, data: `"state at ${at}"`, time: at, ...owner })
    }
  }
}

async function found(journal: Journal, query: { after?: string | undefined; tag?: string | undefined; kind?: string } = {}): Promise<FoundEvent[]> {
  const all: FoundEvent[] = []
  for await (const some of journal.events({ batch: 100, once: true, ...query })) all.push(...some)
  return all
}
async function allText(journal: Journal, options: Parameters<typeof exportJournal>[1] = {}): Promise<string> {
  let all = ''
  for await (const some of exportJournal(journal, options)) all += some
  return all
}
async function recordsOf(journal: Journal): Promise<JournalRecord[]> {
  const all: JournalRecord[] = []
  for await (const some of journal.records()) all.push(...some)
  return all
}
/** In pieces that know nothing of lines. */
async function* pieces(whole: string, size = 700): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(whole)
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

/** All that can be asked of a journal, but for what is its own: identity and offsets. */
async function answers(journal: Journal): Promise<unknown> {
  const plain = (one: FoundEvent): unknown => ({ ...one, offset: undefined })
  const behind = async (projection: string, tag?: string): Promise<unknown> =>
    (await found(journal, { after: await journal.offset(projection), tag })).map(plain)
  const { bytes: _, ...stats } = await journal.stats()
  return {
    ids: await journal.ids({ most: 100 }),
    heads: await journal.heads([...ids, 'settings/1']),
    events: (await found(journal)).map(plain),
    tagged: (await found(journal, { tag: 'b,"}' })).map(plain),
    carts: (await found(journal, { kind: 'cart' })).map(plain),
    due: (await journal.due(Infinity, 100)).toSorted((a, b) => (`${a.id} ${a.key}` < `${b.id} ${b.key}` ? -1 : 1)),
    keys: [await journal.key('anna'), await journal.key('b\u0000b')],
    projections: [await behind('view'), await behind('view', 'a'), await behind('mail')],
    stats,
  }
}

/** Keys come in the order that their journal has them in, which means nothing: SQLite has it from the file that they are appended to. */
function keysByName(records: readonly JournalRecord[]): readonly JournalRecord[] {
  const nameOf = (one: JournalRecord): string => (one.record === 'key' ? one.subject : '')
  const keys = records.filter(({ record }) => record === 'key').toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  return records.map((one) => (one.record === 'key' ? keys.shift()! : one))
}

async function roundTrip(from: Store, to: Store, steps: readonly Step[]): Promise<void> {
  const source = await open(await empty(from))
  const target = await open(await empty(to))
  await live(source, steps)
  const before = await allText(source)
  const imported = await importJournal(target, pieces(before))
  expect(imported.from).toBe(source.identity)
  expect(target.identity).not.toBe(source.identity)
  expect(await answers(target)).toEqual(await answers(source))
  expect(keysByName(await recordsOf(target))).toEqual(keysByName(await recordsOf(source)))
  expect((await target.verify()).damages).toEqual([])
  // It goes on where it stood.
  await target.raise('default', 1)
  for (const one of ids.slice(0, 2)) {
    const { seq } = (await target.heads([one]))[0]!
    expect((await target.append([run(one, seq + 1), run(`new/${one}`, 1)])).map(({ is }) => is)).toEqual(['stored', 'stored'])
  }
  expect((await target.verify()).damages).toEqual([])
  for (const journal of opened.splice(0)) await journal.close()
}

const unsorted: readonly Step[] = ['b\u0000b', 'anna'].map((subject) => ({ is: 'key', subject, erase: false }))

/** A projection that has passed an event, the only one, which is then deleted: there is nothing that it stands at. */
const passed: readonly Step[] = [
  { is: 'append', group: [{ id: 'order/x', events: [event(1)], timer: undefined }] },
  { is: 'project', projection: 'view', tag: undefined, most: 1 },
  { is: 'delete', id: 'order/x', part: 1 },
]

const stores: Store[] = ['memory', 'sqlite']
const ways = stores
  .flatMap((from) => stores.map((to) => [from, to] as const))
  .filter(([from, to]) => from === to || from === 'memory' || to === 'memory')
test.each(ways)('a random journal that goes from %s to %s is the same journal', async (from, to) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), (steps) => roundTrip(from, to, steps)),
    {
      numRuns: from === 'memory' && to === 'memory' ? runs * 4 : from === 'sqlite' || to === 'sqlite' ? Math.ceil(runs / 4) : runs,
      examples: [[[...passed]], [[...unsorted]]],
    },
  )
})

describe.skipIf(engine === undefined)('with PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres(engine!)
    const { host, port, user, password, database } = server
    admin = new pg.Pool({ host, port, user, password, database, max: 8 })
    admin.on('error', () => undefined)
  })
  test.each([
    ['postgres', 'postgres'],
    ['postgres', 'sqlite'],
    ['sqlite', 'postgres'],
  ] as const)('a random journal that goes from %s to %s is the same journal', async (from, to) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), (steps) => roundTrip(from, to, steps)),
      { numRuns: Math.ceil(runs / 3), examples: [[[...passed]], [[...unsorted]]] },
    )
  })
  refusals('postgres')
})
describe.each(stores)('of %s', (store) => {
  refusals(store)
})

/** A journal with something of everything. */
async function filled(store: Store): Promise<Journal> {
  const journal = await open(await empty(store))
  await journal.raise('default', 1)
  await journal.append([run('cart/1', 1, 5), run('cart/2', 1, 2, { timers: [{ key: 't', due: 5 }] })])
  await journal.append([run('cart/1', 6, 3, { events: [6, 7, 8].map((n) => event(n, { tags: ['a'], subject: 'anna' })) })])
  await journal.saveSnapshot({ id: 'cart/1', seq: 4, version: 1, data: '{}', time: 1, ...owner })
  await journal.deleteEvents('cart/1', 4, owner)
  await journal.addKey('anna', new Uint8Array([1, 2, 3]))
  return journal
}

function refusals(store: Store): void {
  const refused = async (journal: Journal, whole: string, says: string): Promise<void> => {
    await expect(importJournal(journal, pieces(whole))).rejects.toMatchObject({
      code: 'import-refused',
      message: expect.stringContaining(says) as string,
    })
    expect(await recordsOf(journal)).toEqual([])
  }

  test('every line that is changed, lost, doubled, moved or cut is refused by its number, and nothing is imported', async () => {
    const lines = (await allText(await filled(store))).trimEnd().split('\n')
    const target = await open(await empty(store))
    const whole = (changed: readonly string[]): string => `${changed.join('\n')}\n`
    for (const i of [1, 4, lines.length - 1]) {
      const at = Math.floor(lines[i]!.length / 2)
      const line = lines[i]!
      const other = `${line.slice(0, at)}${line[at] === 'x' ? 'y' : 'x'}${line.slice(at + 1)}`
      await refused(target, whole(lines.with(i, other)), `line ${i + 1}: its sum does not match`)
      await refused(target, whole(lines.toSpliced(i, 1)), 'line ')
      await refused(target, whole(lines.toSpliced(i, 0, line)), 'line ')
    }
    await refused(target, whole(lines.toSpliced(3, 2, lines[4]!, lines[3]!)), 'line 4: its sum')
    await refused(target, whole(lines.slice(0, -1)), 'its last line is missing')
    await refused(target, whole(lines).slice(0, -30), 'its sum does not match')
    await refused(target, whole([...lines, 'more']), 'there is something after the end')
    // What was refused left it as it was: it takes the whole.
    await importJournal(target, pieces(whole(lines)))
    expect((await target.verify()).damages).toEqual([])
  })

  test('what is no export, or one of another version, is refused', async () => {
    const target = await open(await empty(store))
    await refused(target, '', 'line 1: there is nothing')
    await refused(target, 'hello\n', 'line 1: it is not the export of a journal')
    await refused(target, 'troupe journal export 2\n', 'line 1: it has version "2" of the format, and this version of Troupe reads 1')
  })

  test('a journal that has something is not overwritten', async () => {
    const journal = await filled(store)
    const before = await allText(journal)
    await expect(importJournal(journal, pieces(before))).rejects.toMatchObject({
      code: 'journal-refused',
      message: expect.stringContaining('would overwrite') as string,
    })
    const strip = (whole: string): string[] => whole.split('\n').slice(2, -2)
    expect(strip(await allText(journal)).map((line) => line.slice(9))).toEqual(strip(before).map((line) => line.slice(9)))
  })

  test('an export has one moment, though the journal is written to meanwhile', async () => {
    const journal = await filled(store)
    const target = await open(await empty(store))
    const expected = await recordsOf(journal)
    const parts = exportJournal(journal)[Symbol.asyncIterator]()
    const header = (await parts.next()).value as string
    const first = (await parts.next()).value as string
    await journal.append([run('cart/1', 9, 2), run('cart/3', 1, 1)])
    await journal.deleteEvents('cart/1', 9, owner)
    await journal.eraseKey('anna')
    const rest = (async function* () {
      yield header + first
      for (let next = await parts.next(); next.done !== true; next = await parts.next()) yield next.value
    })()
    await importJournal(target, rest)
    // A key that is erased meanwhile may be gone already: that is what whoever erases it wants.
    const kept = (records: readonly JournalRecord[]): JournalRecord[] => records.filter(({ record }) => record !== 'key')
    expect(kept(await recordsOf(target))).toEqual(kept(expected))
  })

  test('keys go apart: a subject that was erased since stays so in what was exported before', async () => {
    const journal = await filled(store)
    const [data, keys] = [await allText(journal, { keys: 'without' }), await allText(journal, { keys: 'only' })]
    expect(data).not.toContain('"record":"key"')
    const target = await open(await empty(store))
    await importJournal(target, pieces(data))
    expect(await target.key('anna')).toEqual({ is: 'none' })
    await importJournal(target, pieces(keys))
    expect(await target.key('anna')).toMatchObject({ is: 'key' })
    await target.eraseKey('anna')
    await importJournal(target, pieces(keys))
    expect(await target.key('anna')).toEqual({ is: 'erased' })
    const other = await open(await empty(store))
    await other.addKey('anna', new Uint8Array([9]))
    await expect(importJournal(other, pieces(keys))).rejects.toMatchObject({ code: 'import-refused' })
  })

  test('of keys that belong to another journal none is imported; what another process adds meanwhile is counted', async () => {
    const journal = await filled(store)
    await journal.addKey('zoe', new Uint8Array([4]))
    const keys = await allText(journal, { keys: 'only' })
    const other = await open(await empty(store))
    await other.addKey('zoe', new Uint8Array([9]))
    await expect(importJournal(other, pieces(keys))).rejects.toMatchObject({
      code: 'import-refused',
      line: 4,
      message: expect.stringMatching(/^Cannot import line 4: subject "zoe" has another key .* Nothing was imported; /) as string,
    })
    expect(await other.key('anna')).toEqual({ is: 'none' })
    const raced = new Proxy(await open(await empty(store)), {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown
        if (typeof value !== 'function') return value
        return async (...args: unknown[]): Promise<unknown> => {
          if (name === 'addKey' && args[0] === 'zoe') await target.addKey('zoe', new Uint8Array([9]))
          return (value as (...given: unknown[]) => unknown).apply(target, args)
        }
      },
    })
    await expect(importJournal(raced, pieces(keys))).rejects.toThrow(/subject "zoe" has another key .* 1 key before it was imported; /)
    expect(await raced.key('anna')).toMatchObject({ is: 'key' })
  })

  test('data that no actor could decode is refused, of events, states and snapshots', async () => {
    const target = await open(await empty(store))
    const from = async (fill: (journal: Journal) => Promise<unknown>): Promise<string> => {
      const journal = await open(await empty(store))
      await journal.raise('default', 1)
      await fill(journal)
      return allText(journal)
    }
    const bad = (data: string) => run('cart/1', 1, 0, { events: [event(1), event(2, { data })] })
    await refused(target, await from((journal) => journal.append([bad('{"n":')])), 'line 5: the data of the event cart/1#2 cannot be decoded')
    await refused(target, await from((journal) => journal.append([bad('{"$":"sealed","x":1}')])), 'the sealed data of the event cart/1#2 has no text')
    const badState = state('account/1', 0, 1, 'x')
    await refused(target, await from((journal) => journal.append([badState])), 'line 4: the data of the state account/1 cannot be decoded')
    const snapshot = { id: 'cart/1', seq: 1, version: 1, data: '{', time: 1, ...owner }
    const withSnapshot = await from(async (journal) => {
      await journal.append([run('cart/1', 1)])
      await journal.saveSnapshot(snapshot)
    })
    await refused(target, withSnapshot, 'the data of the snapshot cart/1#1 cannot be decoded')
  })
}
