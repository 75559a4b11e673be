// The order of all events of a PostgreSQL journal: it depends on nothing but the journal's own tables, wherever those are, and no reader passes a
// group that is still being written.

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ActorSystem } from '@troupe/core'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPostgresSchema, type Journal, persistence, postgres, projection, surveyJournals } from '@troupe/persistence'
import { findPostgres, type PostgresServer, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { all, environment, found, places, run } from './contract/stage.ts'

const engine = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')
const dumping =
  engine === undefined
    ? undefined
    : engineOrSkip(
        'pg_dump',
        () => (['pg_dump', 'pg_restore'].every((program) => existsSync(join(engine.bin, program))) ? engine.bin : undefined),
        'Debian has it in postgresql-client.',
      )
const patient = { timeout: 60_000 }

describe.skipIf(engine === undefined)('with PostgreSQL', () => {
  let server: PostgresServer
  let admin: pg.Pool
  let schema: string
  let made = 0
  let handles: Journal[]
  const configOf = ({ host, port, user, password, database }: PostgresServer) => ({ host, port, user, password, database })
  const open = async (): Promise<Journal> => {
    const journal = await postgres(configOf(server), { schema, poll: 20 }).open(environment)
    handles.push(journal)
    return journal
  }
  beforeAll(async () => {
    server = await startPostgres(engine!)
    admin = new pg.Pool({ ...configOf(server), max: 6 })
    admin.on('error', () => undefined)
  })
  afterAll(async () => {
    await admin?.end()
    await server?.end()
  })
  beforeEach(async () => {
    handles = []
    schema = `positions_${++made}`
    await createPostgresSchema(admin, { schema })
  })
  afterEach(async () => {
    for (const handle of handles) await handle.close()
  })

  /** Makes every append of an id wait after it has its position, until the returned client ends its transaction. */
  const holdBack = async (id: string): Promise<pg.PoolClient> => {
    await admin.query(`create function ${schema}.hold() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(4711); return new; end $$`)
    await admin.query(`create trigger hold before insert on ${schema}.runs for each row when (new.id = '${id}') execute function ${schema}.hold()`)
    const holder = await admin.connect()
    await holder.query('begin')
    await holder.query('select pg_advisory_xact_lock(4711)')
    return holder
  }
  const isHeld = async (): Promise<void> => {
    await vi.waitFor(
      async () =>
        expect((await admin.query(`select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`)).rows).toHaveLength(1),
      patient,
    )
  }

  test('another open transaction, in this database or in another, holds no reader back', async () => {
    await admin.query(`create database elsewhere_${made}`)
    const stranger = new pg.Client({ ...configOf(server), database: `elsewhere_${made}` })
    await stranger.connect()
    const neighbor = await admin.connect()
    for (const one of [stranger, neighbor]) {
      await one.query('begin')
      await one.query('create table mine (n int)')
    }
    try {
      const journal = await open()
      await journal.raise('default', 1)
      await journal.append([run('cart/1', 1, 2), run('cart/2', 1)])
      expect(places(await found(journal))).toEqual(['cart/1#1', 'cart/1#2', 'cart/2#1'])
    } finally {
      await neighbor.query('rollback')
      neighbor.release()
      await stranger.end()
    }
  })

  test.each([0, 2 ** 31 - 2, 2 ** 32 - 2, 2 ** 32, 3 * 2 ** 32 + 5])(
    'from position %d on, a group that has its position and is not committed is passed by no reader, and the status says so',
    async (start) => {
      if (start > 0) await admin.query(`select setval('${schema}.positions', ${start})`)
      const [late, early] = [await open(), await open()]
      await late.raise('default', 1)
      await late.append([run('cart/first', 1)])
      const holder = await holdBack('cart/late')
      const writing = late.append([run('cart/late', 1), run('cart/other', 1)])
      await isHeld()
      for (let seq = 1; seq <= 3; seq++) await early.append([run('cart/early', seq)])
      const controller = new AbortController()
      const seen: string[] = []
      const reading = (async () => {
        for await (const batch of early.events({ batch: 10, signal: controller.signal })) seen.push(...places(batch))
      })()
      const once = found(early)
      await vi.waitFor(() => expect(early.heldBack).toBeDefined(), patient)
      const { rows } = await admin.query<{ pid: number }>(`select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`)
      expect(early.heldBack!.why).toBe(
        `a group that process ${rows[0]!.pid} of the server is writing is not committed; pg_stat_activity shows what it waits for`,
      )
      await vi.waitFor(() => expect(early.heldBack!.for).toBeGreaterThan(50), patient)
      expect(seen).toEqual(['cart/first#1'])
      expect(late.heldBack).toBeUndefined()
      await holder.query('commit')
      holder.release()
      expect((await writing).map(({ is }) => is)).toEqual(['stored', 'stored'])
      const everything = ['cart/first#1', 'cart/late#1', 'cart/other#1', 'cart/early#1', 'cart/early#2', 'cart/early#3']
      await vi.waitFor(() => expect(seen).toEqual(everything), patient)
      expect(places(await once)).toEqual(everything)
      await vi.waitFor(() => expect(early.heldBack).toBeUndefined(), patient)
      controller.abort()
      await reading
    },
  )

  test('a group that waits for another writer has no position yet, and holds no reader back', async () => {
    const [late, early] = [await open(), await open()]
    await late.raise('default', 1)
    await late.append([run('cart/late', 1)])
    const holder = await admin.connect()
    await holder.query('begin')
    await holder.query(`select 1 from ${schema}.heads where id = 'cart/late' for update`)
    const writing = late.append([run('cart/other', 1), run('cart/late', 2)])
    await vi.waitFor(
      async () =>
        expect((await admin.query(`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%owned as%'`)).rows).toHaveLength(1),
      patient,
    )
    await early.append([run('cart/early', 1)])
    expect(places(await found(early))).toEqual(['cart/late#1', 'cart/early#1'])
    await holder.query('commit')
    holder.release()
    await writing
    expect(places(await found(early))).toEqual(['cart/late#1', 'cart/early#1', 'cart/other#1', 'cart/late#2'])
  })

  test('a group that fails leaves a position that no reader waits for', async () => {
    const journal = await open()
    await journal.raise('default', 1)
    await journal.append([run('cart/1', 1)])
    const holder = await holdBack('cart/late')
    const writing = journal.append([run('cart/late', 1)])
    await isHeld()
    await journal.append([run('cart/1', 2)])
    const { rows } = await admin.query<{ pid: number }>(`select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`)
    await admin.query('select pg_terminate_backend($1)', [rows[0]!.pid])
    expect((await writing).map(({ is }) => is)).toEqual(['unknown'])
    expect(places(await found(journal))).toEqual(['cart/1#1', 'cart/1#2'])
    await holder.query('rollback')
    holder.release()
  })

  test('tables that were restored without their sequence are refused, with the statement that mends them', async () => {
    const journal = await open()
    await journal.raise('default', 1)
    for (let seq = 1; seq <= 3; seq++) await journal.append([run('cart/1', seq)])
    await admin.query(`drop sequence ${schema}.positions; create sequence ${schema}.positions`)
    const remedy = `select setval('"${schema}".positions', 3)`
    await expect(open()).rejects.toMatchObject({ code: 'journal-refused', message: expect.stringContaining(remedy) as string })
    await admin.query(remedy)
    const again = await open()
    await again.append([run('cart/1', 4)])
    expect(places(await found(again))).toEqual(['cart/1#1', 'cart/1#2', 'cart/1#3', 'cart/1#4'])
  })

  test.skipIf(dumping === undefined)(
    'a projection goes on after pg_dump under load and a restore into another server: every event that is there, once and in order',
    { timeout: 300_000 },
    async () => {
      await admin.query(`create table ${schema}.handled (n bigserial, id text, seq int)`)
      /** Writes on, with several groups under way, until `until` says so. */
      const load = async (at: PostgresServer, epoch: number, until: () => boolean): Promise<void> => {
        const journals = await Promise.all([1, 2, 3, 4].map(() => postgres(configOf(at), { schema }).open(environment)))
        await journals[0]!.raise('load', epoch)
        await Promise.all(
          journals.map(async (journal, w) => {
            const ids = [0, 1, 2].map((i) => `cart/${w}-${i}`)
            const next = (await journal.heads(ids)).map(({ seq }) => seq + 1)
            while (!until()) {
              const group = ids.map((id, i) => run(id, next[i]!, 1 + ((next[i]! + i) % 4), { scope: 'load', epoch }))
              expect(new Set((await journal.append(group)).map(({ is }) => is))).toEqual(new Set(['stored']))
              for (const [i, { events }] of group.entries()) next[i]! += events.length
            }
          }),
        )
        for (const journal of journals) await journal.close()
      }
      const project = (at: PostgresServer): ActorSystem => {
        const system = ActorSystem.create('view', { logger: false, extensions: [persistence({ journal: postgres(configOf(at), { schema }) })] })
        system.spawn(
          projection({
            name: 'handled',
            batch: 100,
            handle: async (events, transaction) => {
              const columns = [events.map(({ id }) => id), events.map(({ seq }) => seq)]
              // All in one statement: it has to keep up with four that write, also where the machine is busy.
              const client = transaction as pg.PoolClient
              await client.query(`insert into ${schema}.handled (id, seq) select * from unnest($1::text[], $2::int[])`, columns)
            },
          }),
        )
        return system
      }
      const handledIn = async (pool: pg.Pool): Promise<readonly string[]> => {
        const { rows } = await pool.query<{ id: string; seq: number }>(`select id, seq from ${schema}.handled order by n`)
        return rows.map(({ id, seq }) => `${id}#${seq}`)
      }
      const folder = mkdtempSync(join(tmpdir(), 'troupe-dump-'))
      const other = await startPostgres(engine!)
      const restored = new pg.Pool({ ...configOf(other), max: 2 })
      restored.on('error', () => undefined)
      try {
        const before = project(server)
        let isOver = false
        const writing = load(server, 1, () => isOver)
        await vi.waitFor(async () => expect((await handledIn(admin)).length).toBeGreaterThan(300), patient)
        const tool = (program: string, at: PostgresServer, ...args: string[]) =>
          promisify(execFile)(join(engine!.bin, program), ['-h', at.host, '-p', String(at.port), '-U', at.user, '-d', at.database, ...args], {
            env: { ...process.env, PGPASSWORD: at.password },
          })
        await tool('pg_dump', server, '-Fc', '-n', schema, '-f', join(folder, 'dump'))
        isOver = true
        await writing
        await before.shutdown()
        await tool('pg_restore', other, join(folder, 'dump'))
        const dumped = await handledIn(restored)
        expect(dumped.length).toBeGreaterThan(300)

        const after = project(other)
        let groups = 0
        await load(other, 2, () => groups++ > 100)
        const reader = await postgres(configOf(other), { schema }).open(environment)
        const everything = places(await found(reader))
        expect(everything.length).toBeGreaterThan(dumped.length)
        const { events } = await reader.stats()
        expect(everything.length).toBe(events)
        await vi.waitFor(async () => expect(await handledIn(restored)).toEqual(everything), patient)
        expect(surveyJournals(after)[0]!.heldBack).toBeUndefined()
        const exported = (await all(reader.records())).flat()
        expect(exported.filter(({ record }) => record === 'event')).toHaveLength(events)
        expect(exported.find(({ record }) => record === 'place')).toMatchObject({ projection: 'handled' })
        await reader.close()
        await after.shutdown()
      } finally {
        await restored.end()
        await other.end()
        rmSync(folder, { recursive: true, force: true })
      }
    },
  )
})
