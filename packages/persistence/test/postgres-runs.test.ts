// Runs as rows of PostgreSQL: what is in the middle of one is found, kept, deleted and missed as if each event had a row of its own.

import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPostgresSchema, type Journal, type JournalRecord, postgres, type StoredEvent } from '@troupe/persistence'
import { findPostgres, type PostgresServer, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { readRun, writeRun } from '../src/journal/postgres/run-text.ts'
import { isWellFormed } from '../src/values/names.ts'
import { all, environment, event, found, owner, places, replayed, run } from './contract/stage.ts'

const engine = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')

/** Everything that PostgreSQL cannot keep, or that could be taken for what parts one text from the next. */
const hostile = ['\0', '\u0001', '\u0001a', '\u0001,', '\ud800', '\udc00', '\n', '\u0001\n', '\\n', '😀', 'ä"\\', '\r\n', '\u2028', '{"a":\n1}\n', '']
const events = (count: number, of: (n: number) => Partial<StoredEvent> = () => ({})): StoredEvent[] =>
  Array.from({ length: count }, (_, i) => event(i + 1, of(i + 1)))

describe('the text of a run', () => {
  test('gives back every event as it was, whatever is in it', () => {
    const mixed = hostile.map((text, i) =>
      event(i, { type: text, version: i, data: text, tags: hostile.slice(i, i + 2), subject: i % 3 === 0 ? undefined : text }),
    )
    for (const some of [mixed, ...mixed.map((one) => [one]), ...mixed.map((one) => [one, one, one])]) {
      const { head, data } = writeRun(some)
      expect(readRun(head, data, some.length)).toEqual(some)
      expect(data.split('\n')).toHaveLength(some.length + 1)
      expect(head + data).not.toContain('\0')
      expect(isWellFormed(head + data)).toBe(true)
    }
  })

  test('that was cut, joined or changed is not read', () => {
    const { head, data } = writeRun(events(3))
    expect(() => readRun(head, data, 2)).toThrow('its data has 3 events, and it says 2')
    expect(() => readRun(head, data.slice(0, -1), 3)).toThrow('its data is cut')
    expect(() => readRun(head, `${data}x`, 3)).toThrow('its data is cut')
    expect(() => readRun(head, '', 3)).toThrow('its data has 0 events, and it says 3')
    for (const bad of ['', '{', 'null', '7']) expect(() => readRun(bad, data, 3)).toThrow('its head cannot be read')
    for (const bad of [{}, { type: 1 }, { type: 'a', version: 1, times: [1, 2] }, { type: 'a', version: 1, time: 1, tags: 'x' }])
      expect(() => readRun(JSON.stringify(bad), data, 3)).toThrow(/its head does not say the (type|time|tags) of 3 events/)
  })
})

describe.skipIf(engine === undefined)('with PostgreSQL', () => {
  let server: PostgresServer
  let admin: pg.Pool
  let schema: string
  let journal: Journal
  let made = 0
  beforeAll(async () => {
    server = await startPostgres(engine!)
    const { host, port, user, password, database } = server
    admin = new pg.Pool({ host, port, user, password, database, max: 6 })
    admin.on('error', () => undefined)
  })
  afterAll(async () => {
    await admin?.end()
    await server?.end()
  })
  beforeEach(async () => {
    schema = `runs_${++made}`
    await createPostgresSchema(admin, { schema })
    journal = await postgres(admin, { schema }).open(environment)
    await journal.raise('default', 1)
  })
  afterEach(() => journal.close())
  const rows = async (): Promise<number> => (await admin.query(`select from ${schema}.runs`)).rows.length
  const store = async (...group: Parameters<Journal['append']>[0]): Promise<void> =>
    expect(new Set((await journal.append(group)).map(({ is }) => is))).toEqual(new Set(['stored']))
  /** A journal of the same tables; `seen` is given each answer, and the next query waits for it. */
  const watched = (seen: (rows: readonly Record<string, unknown>[], query: pg.QueryConfig) => Promise<unknown> | void): Promise<Journal> =>
    postgres(
      {
        connect: async () => {
          const client = await admin.connect()
          return Object.assign(Object.create(client) as pg.PoolClient, {
            query: async (query: pg.QueryConfig) => {
              const answer = await client.query(query)
              // The beginning of a transaction is two statements, and has the answers of both.
              if (!Array.isArray(answer)) await seen(answer.rows as Record<string, unknown>[], query)
              return answer
            },
            on: client.on.bind(client),
            removeListener: client.removeListener.bind(client),
            release: client.release.bind(client),
          })
        },
      },
      { schema },
    ).open(environment)
  const tagged = (n: number): Partial<StoredEvent> => ({ tags: n % 3 === 0 ? ['third', 'all'] : ['all'] })

  test('a run is one row, and as many events', async () => {
    await store(run('cart/1', 1, 1000), run('cart/2', 1))
    await store(run('cart/1', 1001, 5))
    expect(await rows()).toBe(3)
    expect(await journal.stats()).toMatchObject({ ids: 2, events: 1006 })
    expect(await journal.verify()).toMatchObject({ ids: 2, events: 1006, damages: [] })
  })

  test('a reader goes on after every event of every run, by all, by kind and by tag', async () => {
    await store(
      run('cart/1', 1, 0, { events: events(7, tagged) }),
      run('order/1', 1, 0, { events: events(4, tagged) }),
      run('cart/2', 1, 0, { events: events(1) }),
      run('cart/3', 1, 0, { events: events(5, tagged) }),
    )
    await store(run('cart/1', 8, 0, { events: events(6, tagged) }))
    for (const query of [{}, { kind: 'cart' }, { tag: 'third' }, { tag: 'all', kind: 'cart' }]) {
      const everything = await found(journal, query)
      expect(new Set(everything.map(({ offset }) => offset)).size).toBe(everything.length)
      for (const [i, { offset }] of everything.entries())
        for (const batch of [1, 2, 3, 100]) {
          const rest = await all(journal.events({ ...query, batch, once: true, after: offset }))
          expect(rest.every((some) => some.length > 0 && some.length <= batch)).toBe(true)
          expect(rest.flat()).toEqual(everything.slice(i + 1))
        }
    }
    expect(places(await found(journal, { tag: 'third' }))).toEqual(['cart/1#3', 'cart/1#6', 'order/1#3', 'cart/3#3', 'cart/1#10', 'cart/1#13'])
    // An offset of one query serves another: it is a place among all.
    const [third] = await found(journal, { tag: 'third' })
    expect(places(await found(journal, { kind: 'cart', after: third!.offset })).slice(0, 2)).toEqual(['cart/1#4', 'cart/1#5'])
  })

  test('a batch smaller than a run is not exceeded, and a run is not asked for again for each', async () => {
    await store(run('cart/1', 1, 1000), run('cart/2', 1, 10))
    let queries = 0
    const counting = { connect: () => (queries++, admin.connect()) }
    const reader = await postgres(counting, { schema }).open(environment)
    queries = 0
    const batches = await all(reader.events({ batch: 7, once: true }))
    expect(batches.every(({ length }) => length <= 7)).toBe(true)
    expect(batches.flat().map(({ id, seq }) => `${id}#${seq}`)).toEqual([
      ...Array.from({ length: 1000 }, (_, i) => `cart/1#${i + 1}`),
      ...Array.from({ length: 10 }, (_, i) => `cart/2#${i + 1}`),
    ])
    expect(queries).toBeLessThan(8)
    await reader.close()
  })

  test('a reader lets the loop turn between the rows of an answer, and between its batches', async () => {
    await store(...Array.from({ length: 20 }, (_, i) => run(`cart/${i}`, 1, 0, { events: events(100, tagged) })))
    const offset = (await found(journal))[0]!.offset
    for (const query of [{ tag: 'all' }, { kind: 'cart' }, { after: offset }]) {
      // A slow clock makes each row and each batch a slice.
      let now = 0
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 5))
      const turns = vi.spyOn(globalThis, 'setImmediate')
      const seen = await all(journal.events({ ...query, batch: 50, once: true }))
      const count = turns.mock.calls.length
      clock.mockRestore()
      turns.mockRestore()
      expect(seen.length).toBe(40)
      expect(count).toBeGreaterThanOrEqual(20 + seen.length)
    }
  })

  test('an answer has few long runs, one at least, and nothing is left out or told as missing', async () => {
    const data = 'x'.repeat(300_000)
    for (let first = 1; first <= 19; first += 6) await store(run('cart/1', first, 0, { events: events(6, () => ({ data })) }))
    await store(run('cart/2', 1, 3))
    const sizes: number[] = []
    const reader = await watched(
      (answer) => void sizes.push(answer.reduce((sum, { data: text }) => sum + (typeof text === 'string' ? text.length : 0), 0)),
    )
    const seen = await replayed(reader, [
      { id: 'cart/1', after: 2 },
      { id: 'cart/2', after: 0 },
    ])
    expect([seen.get('cart/1')!.length, seen.get('cart/2')!.length]).toEqual([22, 3])
    expect(await found(reader)).toHaveLength(27)
    const records: JournalRecord[] = (await all(reader.records())).flat()
    expect(records.filter(({ record }) => record === 'event')).toHaveLength(27)
    expect((await reader.verify()).damages).toEqual([])
    expect(Math.max(...sizes)).toBeLessThan(4_000_000 + 2_000_000)
    await reader.close()
  })

  test('a run that is deleted in part has only the rest of it, for everybody; the row goes with its last event', async () => {
    await store(run('cart/1', 1, 0, { events: events(10, tagged) }), run('cart/2', 1, 2))
    const offsets = (await found(journal)).map(({ offset }) => offset)
    await journal.advance('totals', undefined, offsets[4]!, () => Promise.resolve())
    expect(await journal.deleteEvents('cart/1', 4, owner)).toEqual({ is: 'stored' })
    const left = [5, 6, 7, 8, 9, 10].map((n) => `cart/1#${n}`)
    expect(await rows()).toBe(2)
    expect(places(await found(journal, { kind: 'cart' }))).toEqual([...left, 'cart/2#1', 'cart/2#2'])
    expect(places(await found(journal, { after: offsets[1]! }))[0]).toBe('cart/1#5')
    expect(places(await found(journal, { tag: 'third' }))).toEqual(['cart/1#6', 'cart/1#9'])
    expect((await replayed(journal, [{ id: 'cart/1', after: 0 }])).get('cart/1')!.map(({ time }) => time - 1000)).toEqual([5, 6, 7, 8, 9, 10])
    expect(await journal.stats()).toMatchObject({ events: 8 })
    expect(await journal.verify()).toMatchObject({ events: 8, damages: [] })
    const place = async (): Promise<unknown[]> => {
      const records = (await all(journal.records())).flat()
      expect(records.filter(({ record }) => record === 'event').length).toBe((await journal.stats()).events)
      return records.flatMap((one) => (one.record === 'place' ? [`${one.id}#${one.seq}`] : []))
    }
    expect(await place()).toEqual(['cart/1#5'])
    const { rows: seen } = await admin.query<{ id: string; seq: string }>(`select id, seq from ${schema}.events order by position, pos`)
    expect(seen.map(({ id, seq }) => `${id}#${seq}`)).toEqual([...left, 'cart/2#1', 'cart/2#2'])
    expect(await journal.deleteEvents('cart/1', 7, owner)).toEqual({ is: 'stored' })
    // Nothing that it has passed is left.
    expect(await place()).toEqual([])
    expect(await journal.deleteEvents('cart/1', 10, owner)).toEqual({ is: 'stored' })
    expect(await rows()).toBe(1)
    expect((await admin.query(`select from ${schema}.run_tags`)).rows).toHaveLength(0)
    expect(await journal.heads(['cart/1'])).toMatchObject([{ seq: 10, deleted: 10 }])
    await store(run('cart/1', 11, 2))
    expect(places(await found(journal))).toEqual(['cart/2#1', 'cart/2#2', 'cart/1#11', 'cart/1#12'])
  })

  test('an import in the middle of a run lets projections go on there', async () => {
    await store(run('cart/0', 1, 2), run('cart/1', 1, 0, { events: events(9, tagged) }))
    const offsets = (await found(journal)).map(({ offset }) => offset)
    await journal.advance('totals', undefined, offsets[5]!, () => Promise.resolve())
    await journal.deleteEvents('cart/1', 2, owner)
    await createPostgresSchema(admin, { schema: `${schema}_copy` })
    const copy = await postgres(admin, { schema: `${schema}_copy` }).open(environment)
    await copy.restore(journal.records())
    expect(places(await found(copy, { after: await copy.offset('totals') }))).toEqual(['cart/1#5', 'cart/1#6', 'cart/1#7', 'cart/1#8', 'cart/1#9'])
    expect(places(await found(copy, { tag: 'third', after: await copy.offset('totals') }))).toEqual(['cart/1#6', 'cart/1#9'])
    expect((await copy.verify()).damages).toEqual([])
    await copy.close()
  })

  test('text of every kind is kept, found and shown', async () => {
    const group = hostile.map((text, i) =>
      run(`cart/${i}`, 1, 0, { events: [event(1, { data: text, type: text, tags: [`t${text}`], subject: text })] }),
    )
    await store(...group, run('cart/all', 1, 0, { events: hostile.map((data, i) => event(i + 1, { data })) }))
    for (const { id, events: kept } of group) expect((await replayed(journal, [{ id, after: 0 }])).get(id)).toEqual(kept)
    expect((await replayed(journal, [{ id: 'cart/all', after: 0 }])).get('cart/all')!.map(({ data }) => data)).toEqual(hostile)
    for (const [i, text] of hostile.entries())
      expect(await found(journal, { tag: `t${text}` })).toMatchObject([{ id: `cart/${i}`, data: text, type: text, subject: text }])
    expect((await journal.verify()).damages).toEqual([])
    expect((await admin.query(`select * from ${schema}.events`)).rows).toHaveLength(2 * hostile.length)
  })

  test('people find each event in the view, with all its fields', async () => {
    await store(run('cart/1', 1, 0, { events: [event(1, { tags: ['a'], subject: 'anna' }), event(2, { type: 'opened', version: 2 }), event(3)] }))
    await store(run('cart/1', 4, 0, { events: [event(4, { data: '', tags: ['b'], subject: 'bert' })] }))
    const { rows: seen } = await admin.query(
      `select seq::int, kind, type, version::int, data, tags, subject, round(extract(epoch from time) * 1000)::int as time from ${schema}.events where id = 'cart/1'`,
    )
    expect(seen).toEqual([
      { seq: 1, kind: 'cart', type: 'added', version: 1, data: '{"n":1}', tags: ['a'], subject: 'anna', time: 1001 },
      { seq: 2, kind: 'cart', type: 'opened', version: 2, data: '{"n":2}', tags: [], subject: null, time: 1002 },
      { seq: 3, kind: 'cart', type: 'added', version: 1, data: '{"n":3}', tags: [], subject: null, time: 1003 },
      { seq: 4, kind: 'cart', type: 'added', version: 1, data: '', tags: ['b'], subject: 'bert', time: 1004 },
    ])
  })

  test.each([
    ['data that is cut', `set data = left(data, length(data) - 3)`, 'its data is cut'],
    ['data of which a line is gone', `set data = substr(data, 9)`, 'its data has 2 events, and it says 3'],
    ['a head that is no head', `set head = 'x'`, 'its head cannot be read'],
    ['a head of fewer events', `set head = '{"type":"a","version":1,"times":[1,2]}'`, 'its head does not say the time of 3 events'],
    ['an end that is not its own', `set last = 5`, 'its data has 3 events, and it says 2'],
  ])('a run with %s is told by whoever reads it, and by verify', async (_, damage, problem) => {
    for (const first of [1, 4]) await store(run('cart/1', first, 3), run('cart/2', first, 3))
    await admin.query(`update ${schema}.runs ${damage} where id = 'cart/1' and first = 4`)
    const where = `"${schema}".runs, cart/1#4`
    const parts = await all(
      journal.replay(
        ['cart/1', 'cart/2'].map((id) => ({ id, after: 0 })),
        100,
      ),
    )
    expect(parts).toMatchObject([
      { id: 'cart/1', first: 1, events: { length: 3 } },
      { id: 'cart/1', damage: { code: 'journal-damaged', where } },
      { id: 'cart/2', first: 1, events: { length: 6 } },
    ])
    await expect(found(journal)).rejects.toMatchObject({ code: 'journal-damaged', where })
    await expect(all(journal.records())).rejects.toMatchObject({ code: 'journal-damaged', where })
    const { damages, events: counted } = await journal.verify()
    expect(damages).toContainEqual({ where, id: 'cart/1', seq: 4, problem })
    expect(counted).toBe(9)
  })

  test('what actors wrote one by one is replayed by one row for each actor, whatever its size', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `cart/${i}`)
    const written = events(40)
    for (const [n, one] of written.entries()) await store(...ids.map((id) => run(id, n + 1, 0, { events: [one] })))
    let answered = 0
    const reader = await watched((answer) => void (answered += answer.length))
    answered = 0
    const from = ids.map((id, i) => ({ id, after: i }))
    const seen = await replayed(reader, from, 7)
    for (const { id, after } of from) expect(seen.get(id)).toEqual(written.slice(after))
    // A head and its events of each id.
    expect(answered).toBe(2 * ids.length)
    await reader.close()
  })

  test('rows of every size and kind in any order are replayed as they were written', async () => {
    let seed = 5
    const below = (most: number): number => ((seed = (seed * 16_807) % 2_147_483_647) >> 8) % most
    const written: StoredEvent[] = []
    while (written.length < 300) {
      const count = below(4) > 0 ? 1 : 1 + below(9)
      const some = Array.from({ length: count }, (_, i) => {
        const n = written.length + i + 1
        return event(
          n,
          [
            { type: '","version":1,"time":5', time: 0.5 },
            { tags: [',"time":7'], subject: 'anna' },
            { data: hostile[below(hostile.length)]!, version: 2 },
            { data: JSON.stringify('x'.repeat(5000)) },
            { data: JSON.stringify('ä'.repeat(300_000)) },
            { time: 2 ** 53 },
          ][below(40)] ?? {},
        )
      })
      await store(run('cart/1', written.length + 1, 0, { events: some }))
      written.push(...some)
    }
    for (let after = 0; after < written.length; after += 1 + below(23))
      for (const batch of [3, 1000]) expect((await replayed(journal, [{ id: 'cart/1', after }], batch)).get('cart/1')).toEqual(written.slice(after))
  })

  test('data that has in it what parts rows from each other moves no other row', async () => {
    for (let n = 1; n <= 5; n++) await store(run('cart/1', n), run('cart/2', n))
    const odd = '"\u0001,"'
    await admin.query(`update ${schema}.runs set data = E'"\\x01,"\\n' where id = 'cart/1' and first = 3`)
    const ids = ['cart/1', 'cart/2'].map((id) => ({ id, after: 0 }))
    const seen = await replayed(journal, ids)
    expect(seen.get('cart/1')).toEqual(events(5, (n) => (n === 3 ? { data: odd } : {})))
    expect(seen.get('cart/2')).toEqual(events(5))
  })

  test.each([
    ['says less than it has', `update runs set data = data || data where first = 3`, 3, 2, 'its data has 2 events, and it says 1'],
    ['says that it ends before it begins', `update runs set last = 1 where first = 3`, 3, 2, 'event 3 is missing'],
    ['says more than it has', `update runs set last = 4 where first = 3`, 3, 2, 'its data has 1 events, and it says 2'],
    ['is empty', `update runs set data = '' where first = 3`, 3, 2, 'its data has 0 events, and it says 1'],
    ['is cut', `update runs set data = left(data, -1) where first = 3`, 3, 2, 'its data is cut'],
    ['has no head', `update runs set head = 'x' where first = 3`, 3, 2, 'its head cannot be read'],
    ['is missing', `delete from runs where first = 3`, 3, 2, 'event 3 is missing'],
    ['is missing at the end', `delete from runs where first = 6`, 6, 5, 'event 6 is missing'],
    ['is long, and missing', `delete from runs where first = 4`, 4, 3, 'event 4 is missing'],
    [
      'has what the one before it has',
      `update runs set last = 3, data = data || data where first = 2; update runs set head = '{"type":"added","version":1,"time":1}' where first = 2`,
      3,
      3,
      'event 3 is there twice',
    ],
  ] as const)('a row of one event that %s is refused before any of it is replayed', async (_, damage, seq, whole, problem) => {
    const long = event(4, { data: JSON.stringify('x'.repeat(5000)) })
    for (let n = 1; n <= 6; n++) await store(run('cart/1', n, 0, { events: [n === 4 ? long : event(n)] }), run('cart/2', n))
    await admin.query(damage.replaceAll('runs', `${schema}.runs`).replaceAll('where', `where id = 'cart/1' and`))
    const parts = await all(
      journal.replay(
        ['cart/1', 'cart/2'].map((id) => ({ id, after: 0 })),
        100,
      ),
    )
    expect(parts).toMatchObject([
      { id: 'cart/1', first: 1, events: { length: whole } },
      { id: 'cart/1', damage: { code: 'journal-damaged', where: `"${schema}".runs, cart/1#${seq}`, message: expect.stringContaining(problem) } },
      { id: 'cart/2', first: 1, events: { length: 6 } },
    ])
  })

  test('what is deleted while it is replayed is not told as missing', async () => {
    const long = JSON.stringify('x'.repeat(5000))
    for (let n = 1; n <= 4; n++) await store(run('cart/1', n, 0, { events: [event(n, { data: n === 3 ? long : '1' })] }))
    const reader = await watched(async (_rows, { text }) => {
      if (text.includes('is_short')) await journal.deleteEvents('cart/1', 3, owner)
    })
    expect(await all(reader.replay([{ id: 'cart/1', after: 0 }], 100))).toMatchObject([
      { events: { length: 2 } },
      { damage: { message: expect.stringContaining('it was deleted while it was read; read it again') } },
    ])
    expect((await replayed(reader, [{ id: 'cart/1', after: 0 }])).get('cart/1')).toHaveLength(1)
    await reader.close()
  })

  test('a run that is there twice in part is told', async () => {
    await store(run('cart/1', 1, 3))
    await store(run('cart/1', 4, 3))
    await admin.query(`insert into ${schema}.runs (id, first, last, position, pos, kind, head, data)
      select id, 2, 4, position, 9, kind, head, data from ${schema}.runs where first = 1`)
    expect((await journal.verify()).damages.map(({ seq, problem }) => `${seq}: ${problem}`)).toEqual([
      '2: event 2 is there twice',
      '4: event 4 is there twice',
    ])
    expect(await all(journal.replay([{ id: 'cart/1', after: 0 }], 100))).toMatchObject([
      { events: { length: 3 } },
      { damage: { code: 'journal-damaged', where: `"${schema}".runs, cart/1#2` } },
    ])
  })
})
