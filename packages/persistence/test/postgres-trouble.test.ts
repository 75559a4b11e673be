// What a PostgreSQL journal does about a server that is away, restarts, cuts connections or is not what it should be.

import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPostgresSchema, type Journal, postgres, postgresSchema } from '@troupe/persistence'
import { findPostgres, type PostgresServer, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { environment, event, run } from './contract/stage.ts'

const found = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')

test('the schema as text names its role, and what it may do', () => {
  const text = postgresSchema({ schema: 'sh"op', role: 'app' })
  expect(text).toContain('create schema if not exists "sh""op"')
  expect(text).toContain('grant select, insert on "sh""op".runs to "app"')
  expect(text).toContain('grant select on "sh""op".events to "app"')
  expect(text).not.toMatch(/grant .*update.* on "sh""op"\.(runs|events) /)
  expect(postgresSchema()).not.toContain('grant')
  expect(() => postgresSchema({ schema: '' })).toThrow(expect.objectContaining({ code: 'invalid-option' }) as Error)
  expect(() => postgres('postgres://x' as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }) as Error)
})

test('a server that cannot be reached is told at opening', async () => {
  await expect(postgres({ host: '127.0.0.1', port: 1, user: 'x', database: 'x' }).open(environment)).rejects.toMatchObject({
    code: 'journal-unavailable',
    message: expect.stringMatching(/^Journal postgres\(troupe\) is not available: PostgreSQL cannot be used now \(.*ECONNREFUSED/) as string,
  })
})

describe.skipIf(found === undefined)('with PostgreSQL', () => {
  let server: PostgresServer
  let admin: pg.Pool
  let schema: string
  let made = 0
  let handles: Journal[]
  const config = () => {
    const { host, port, user, password, database } = server
    return { host, port, user, password, database }
  }
  const open = async (options: object = {}): Promise<Journal> => {
    const journal = await postgres(config(), { schema, timeout: 10_000, ...options }).open(environment)
    handles.push(journal)
    return journal
  }
  beforeAll(async () => {
    server = await startPostgres(found!)
    admin = new pg.Pool({ ...config(), max: 4 })
    admin.on('error', () => undefined)
  })
  afterAll(async () => {
    await admin?.end()
    await server?.end()
  })
  beforeEach(async () => {
    handles = []
    schema = `trouble_${++made}`
    await createPostgresSchema(admin, { schema })
  })
  afterEach(async () => {
    for (const handle of handles) await handle.close()
  })
  const stored = async (journal: Journal, seq: number, epoch = 1): Promise<string> =>
    (await journal.append([run('cart/1', seq, 1, { epoch })]))[0]!.is

  test('tables that are missing, of another version, or not ours to use are refused with the remedy', async () => {
    await expect(open({ schema: 'nowhere' })).rejects.toMatchObject({
      code: 'journal-refused',
      message: expect.stringContaining('create the schema by createPostgresSchema') as string,
    })
    await admin.query("create role stranger login password 'x'")
    await expect(postgres({ ...config(), user: 'stranger', password: 'x' }, { schema }).open(environment)).rejects.toMatchObject({
      code: 'journal-refused',
    })
    await admin.query(`update ${schema}.meta set value = '1' where key = 'version'`)
    for (const attempt of [() => open(), () => createPostgresSchema(admin, { schema })])
      await expect(attempt()).rejects.toMatchObject({
        code: 'journal-refused',
        message: expect.stringMatching(
          /have version 1, and .* 3; use a new schema, .* export it with the version that wrote it .* import that into the new schema/,
        ) as string,
      })
  })

  test('the role that writes can neither change nor delete an event, nor touch the tables; a keeper can delete and erase, and no more', async () => {
    await admin.query("create role writer login password 'x'")
    await admin.query("create role keeper login password 'x'")
    await createPostgresSchema(admin, { schema, role: 'writer', keeper: 'keeper' })
    const as = (user: string): Promise<Journal> =>
      postgres({ ...config(), user, password: 'x' }, { schema })
        .open(environment)
        .then((journal) => {
          handles.push(journal)
          return journal
        })
    const [writer, keeper] = [await as('writer'), await as('keeper')]
    await writer.raise('default', 1)
    expect(await writer.append([run('cart/1', 1, 3, { events: [event(1, { tags: ['a'] }), event(2), event(3)] })])).toEqual([{ is: 'stored' }])
    await writer.saveSnapshot({ id: 'cart/1', seq: 2, version: 1, data: '{}', time: 1, scope: 'default', epoch: 1 })
    await writer.addKey('anna', new Uint8Array([1]))
    const direct = new pg.Client({ ...config(), user: 'writer', password: 'x' })
    await direct.connect()
    for (const statement of [
      `update ${schema}.runs set data = ''`,
      `delete from ${schema}.runs`,
      `delete from ${schema}.run_tags`,
      `update ${schema}.keys set key = null`,
      `update ${schema}.meta set value = '2'`,
      `delete from ${schema}.heads`,
      `truncate ${schema}.runs`,
      `alter table ${schema}.runs drop column data`,
      `drop table ${schema}.runs`,
      `create table ${schema}.mine (n int)`,
    ])
      await expect(direct.query(statement)).rejects.toThrow(/permission denied|must be owner/)
    await direct.end()
    expect(await writer.deleteEvents('cart/1', 2, { scope: 'default', epoch: 1 })).toMatchObject({ is: 'failed' })
    await expect(writer.eraseKey('anna')).rejects.toMatchObject({ code: 'journal-refused' })
    expect(await keeper.deleteEvents('cart/1', 2, { scope: 'default', epoch: 1 })).toEqual({ is: 'stored' })
    await keeper.eraseKey('anna')
    expect(await writer.key('anna')).toEqual({ is: 'erased' })
    expect(await writer.heads(['cart/1'])).toMatchObject([{ seq: 3, deleted: 2 }])
  })

  test('a server that does not flush is refused', async () => {
    await admin.query("create role hasty login superuser password 'x'")
    await admin.query('alter role hasty set synchronous_commit = off')
    await expect(postgres({ ...config(), user: 'hasty', password: 'x' }, { schema }).open(environment)).rejects.toMatchObject({
      code: 'journal-refused',
      message: expect.stringContaining('synchronous_commit is off') as string,
    })
  })

  test('making the tables again, even by two at once, changes nothing', async () => {
    const journal = await open()
    await journal.raise('default', 1)
    expect(await stored(journal, 1)).toBe('stored')
    await Promise.all([createPostgresSchema(admin, { schema }), createPostgresSchema(admin, { schema })])
    const again = await open()
    expect(again.identity).toBe(journal.identity)
    expect((await again.heads(['cart/1']))[0]!.seq).toBe(1)
    const fresh = `fresh_${made}`
    await Promise.all([1, 2, 3].map(() => createPostgresSchema(admin, { schema: fresh })))
    expect((await (await open({ schema: fresh })).stats()).events).toBe(0)
  })

  /** Waits until a statement of ours waits for a lock. */
  const blocked = async (): Promise<number> => {
    for (;;) {
      const { rows } = await admin.query<{ pid: number }>(
        "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%owned as%' and pid <> pg_backend_pid()",
      )
      if (rows.length > 0) return rows[0]!.pid
    }
  }

  test('an append whose connection is cut is unknown; after the epoch is raised it is there or never comes', async () => {
    const journal = await open()
    await journal.raise('default', 1)
    expect(await stored(journal, 1)).toBe('stored')
    const holder = await admin.connect()
    await holder.query('begin')
    await holder.query(`select 1 from ${schema}.heads where id = 'cart/1' for update`)
    const appending = stored(journal, 2)
    await admin.query('select pg_terminate_backend($1)', [await blocked()])
    expect(await appending).toBe('unknown')
    await holder.query('rollback')
    holder.release()
    await journal.raise('default', 2)
    const [head] = await journal.heads(['cart/1'])
    expect(head!.seq).toBe(1)
    expect(await stored(journal, 2, 1)).toBe('fenced')
    expect(await stored(journal, 2, 2)).toBe('stored')
  })

  test('a takeover waits for an append that is open, and then sees it', async () => {
    const [journal, next] = [await open(), await open()]
    await journal.raise('default', 1)
    expect(await stored(journal, 1)).toBe('stored')
    const holder = await admin.connect()
    await holder.query('begin')
    await holder.query(`select 1 from ${schema}.heads where id = 'cart/1' for update`)
    const appending = stored(journal, 2)
    await blocked()
    let raised = false
    const raising = next.raise('default', 2).then(() => (raised = true))
    // The append has the fence: whoever looks at the owners now sees the raise wait for it.
    for (;;) {
      const { rows } = await admin.query("select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into%owners%'")
      if (rows.length > 0) break
    }
    expect(raised).toBe(false)
    await holder.query('commit')
    holder.release()
    expect(await appending).toBe('stored')
    await raising
    expect((await next.heads(['cart/1']))[0]!.seq).toBe(2)
  })

  test('a statement that has no answer in time is unknown, and the journal goes on with another connection', async () => {
    const owner = await open()
    await owner.raise('default', 1)
    expect(await stored(owner, 1)).toBe('stored')
    // Its questions may take too long on a busy machine: it is opened until they do not.
    const journal = await vi.waitFor(() => open({ timeout: 1_000 }), { timeout: 30_000 })
    const holder = await admin.connect()
    await holder.query('begin')
    await holder.query(`select 1 from ${schema}.heads where id = 'cart/1' for update`)
    const [outcome] = await journal.append([run('cart/1', 2)])
    expect(outcome).toMatchObject({ is: 'unknown', cause: { message: 'PostgreSQL did not answer within 1000 ms' } })
    await holder.query('rollback')
    holder.release()
    const patient = await open()
    await patient.raise('default', 2)
    const [head] = await patient.heads(['cart/1'])
    expect([1, 2]).toContain(head!.seq)
    expect(await stored(patient, head!.seq + 1, 2)).toBe('stored')
  })

  test('writers that commit in another order than they began: a reader waits for the late one, and skips nothing', async () => {
    const [late, early] = [await open(), await open()]
    await late.raise('default', 1)
    expect((await late.append([run('cart/late', 1), run('cart/early', 1)])).map(({ is }) => is)).toEqual(['stored', 'stored'])
    const holder = await admin.connect()
    await holder.query('begin')
    await holder.query(`select 1 from ${schema}.heads where id = 'cart/late' for update`)
    // It has its number, and stands at the row.
    const writing = late.append([run('cart/other', 1), run('cart/late', 2)])
    await blocked()
    expect((await early.append([run('cart/early', 2)]))[0]!.is).toBe('stored')
    const controller = new AbortController()
    const seen: string[] = []
    const reading = (async () => {
      for await (const batch of early.events({ batch: 10, signal: controller.signal })) {
        for (const { id, seq } of batch) seen.push(`${id}#${seq}`)
        if (seen.length >= 5) controller.abort()
      }
    })()
    while (seen.length < 2) await new Promise((resolve) => setImmediate(resolve))
    await holder.query('commit')
    holder.release()
    expect((await writing).map(({ is }) => is)).toEqual(['stored', 'stored'])
    await reading
    expect(seen.toSorted()).toEqual(['cart/early#1', 'cart/early#2', 'cart/late#1', 'cart/late#2', 'cart/other#1'])
  })

  test('a projection and its offset are stored together or not at all, and of two under one name one moves', async () => {
    await admin.query(`create table ${schema}.totals (n int)`)
    const [journal, rival] = [await open(), await open()]
    await journal.raise('default', 1)
    await journal.append([run('cart/1', 1, 2)])
    const add = async (transaction: unknown): Promise<void> =>
      void (await (transaction as pg.PoolClient).query(`insert into ${schema}.totals values (1)`))
    const failure = new Error('no')
    await expect(
      journal.advance('totals', undefined, '1.1', async (transaction) => {
        await add(transaction)
        throw failure
      }),
    ).rejects.toBe(failure)
    const count = async (): Promise<number> => (await admin.query(`select * from ${schema}.totals`)).rows.length
    expect(await count()).toBe(0)
    const both = await Promise.all([journal, rival].map((one) => one.advance('totals', undefined, '1.1', add)))
    expect(both.toSorted()).toEqual(['conflict', 'stored'])
    expect(await count()).toBe(1)
  })

  test('a server that restarts or crashes: what was acknowledged is there, what was tried meanwhile is told, readers go on', async () => {
    const journal = await open()
    await journal.raise('default', 1)
    let acknowledged = 0
    for (let seq = 1; seq <= 5; seq++) if ((await stored(journal, seq)) === 'stored') acknowledged = seq
    for (const end of [() => server.crash(), () => server.stop()]) {
      await end()
      await expect(journal.heads(['cart/1'])).rejects.toMatchObject({ code: 'journal-unavailable' })
      const [outcome] = await journal.append([run('cart/1', acknowledged + 1)])
      expect(['failed', 'unknown']).toContain(outcome!.is)
      await expect(open()).rejects.toMatchObject({ code: 'journal-unavailable' })
      await server.start()
      const [head] = await journal.heads(['cart/1'])
      expect(head!.seq).toBe(acknowledged)
      expect(await stored(journal, ++acknowledged)).toBe('stored')
    }
    expect((await journal.verify()).damages).toEqual([])
  })

  test('runs that somebody removed by hand are told as damage, by replay and by verify', async () => {
    const journal = await open()
    await journal.raise('default', 1)
    for (const first of [1, 4, 7]) await journal.append([run('cart/1', first, 3), run('cart/2', first, 3)])
    await admin.query(`delete from ${schema}.runs where id = 'cart/1' and first = 4`)
    const parts = []
    for await (const part of journal.replay(
      ['cart/1', 'cart/2'].map((id) => ({ id, after: 0 })),
      100,
    ))
      parts.push(part)
    expect(parts).toMatchObject([
      { id: 'cart/1', first: 1, events: { length: 3 } },
      { id: 'cart/1', damage: { code: 'journal-damaged', where: `"${schema}".runs, cart/1#4` } },
      { id: 'cart/2', first: 1, events: { length: 9 } },
    ])
    const { damages, events } = await journal.verify()
    expect(damages).toMatchObject([{ id: 'cart/1', seq: 4, where: `"${schema}".runs, cart/1#4`, problem: 'events 4 to 6 are missing' }])
    expect(events).toBe(15)
    await admin.query(`delete from ${schema}.heads where id = 'cart/2'`)
    await admin.query(`update ${schema}.heads set seq = 8 where id = 'cart/1'`)
    expect((await journal.verify()).damages.map(({ id, seq, problem }) => `${id}#${seq} ${problem}`)).toEqual([
      'cart/1#4 events 4 to 6 are missing',
      'cart/1#7 it goes on to 9, and the head says 8',
      ...[1, 4, 7].map((first) => `cart/2#${first} there is no head for it`),
    ])
  })

  test('thousands of ids are recovered by few queries, whole', async () => {
    const journal = await open()
    await journal.raise('default', 1)
    const ids = Array.from({ length: 1200 }, (_, i) => `cart/${i}`)
    for (let i = 0; i < ids.length; i += 400)
      await journal.append(ids.slice(i, i + 400).map((id) => run(id, 1, 0, { events: Array.from({ length: 9 }, (_, n) => event(n + 1)) })))
    let queries = 0
    const pool = new pg.Pool({ ...config(), max: 2 })
    // The end of a pool does not wait for its connections: they may still hear that the server ends.
    pool.on('error', () => undefined)
    const counting = {
      connect: async () => {
        queries++
        return pool.connect()
      },
    }
    const reader = await postgres(counting, { schema }).open(environment)
    queries = 0
    const counts = new Map<string, number>()
    for await (const part of reader.replay(
      ids.map((id) => ({ id, after: 2 })),
      100,
    )) {
      if ('damage' in part) throw part.damage
      expect(part.first).toBe((counts.get(part.id) ?? 2) + 1)
      counts.set(part.id, part.first + part.events.length - 1)
    }
    expect([...counts.values()].every((last) => last === 9)).toBe(true)
    expect(counts.size).toBe(ids.length)
    expect(queries).toBeLessThan(12)
    await reader.close()
    await pool.end()
  })
})
