// Connections of a PostgreSQL journal that end unexpectedly, and a pooler between it and the server.

import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createPostgresSchema, type Journal, postgres } from '@troupe/persistence'
import { findPgbouncer, type PgbouncerServer, startPgbouncer } from '../../../tools/engines/pgbouncer.mjs'
import { findPostgres, type PostgresServer, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { all, environment, found, places, run, state } from './contract/stage.ts'

const engine = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')
const pooler = engineOrSkip('pgbouncer', findPgbouncer, 'Debian has it in pgbouncer.')
const patient = { timeout: 60_000 }

/** A message of PostgreSQL's protocol. */
function message(kind: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(kind), length, body])
}

test('a connection that is ended together with its greeting is an answer, and ends no process', async () => {
  const greeting = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]
  const farewell = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'))
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.concat([...greeting, farewell])))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const pool = new pg.Pool({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, user: 'x', database: 'x' })
  for (let i = 0; i < 20; i++) await expect(postgres(pool).open(environment)).rejects.toMatchObject({ code: 'journal-unavailable' })
  expect(pool.listenerCount('error')).toBe(0)
  await pool.end()
  await new Promise((resolve) => server.close(resolve))
})

test('a pool that knows no callback is asked for a promise, and one that gives no connection is refused', async () => {
  const closed = new Error('no server')
  await expect(postgres({ connect: () => Promise.reject(closed) }).open(environment)).rejects.toMatchObject({
    code: 'journal-unavailable',
    cause: closed,
  })
  for (const gives of [null, 7, {}, { query: () => undefined, on: () => undefined }])
    await expect(postgres({ connect: () => Promise.resolve(gives as never) }).open(environment)).rejects.toMatchObject({
      code: 'journal-refused',
      message: expect.stringContaining('use a pool of pg') as string,
    })
})

describe.skipIf(engine === undefined)('with PostgreSQL', () => {
  let server: PostgresServer
  const configOf = ({ host, port, user, password, database }: PostgresServer) => ({ host, port, user, password, database })
  beforeAll(async () => {
    server = await startPostgres(engine!)
  })
  afterAll(() => server?.end())

  test('a server that restarts ends no process whose pool has no listener of its own, and nothing listens after the last journal is closed', async () => {
    const pool = new pg.Pool({ ...configOf(server), max: 8 })
    await createPostgresSchema(pool, { schema: 'restarts' })
    expect(pool.listenerCount('error')).toBe(0)
    const journals = await Promise.all(Array.from({ length: 12 }, () => postgres(pool, { schema: 'restarts' }).open(environment)))
    // One for all of them: Node takes more than ten for a leak.
    expect(pool.listenerCount('error')).toBe(1)
    const [journal] = journals as [Journal]
    await journal.raise('default', 1)
    let seq = 0
    for (const end of [() => server.stop(), () => server.crash()]) {
      await Promise.all(Array.from({ length: 8 }, () => journal.epoch('default')))
      // Some are idle when it ends, and one is in the middle of a statement.
      const writing = journal.append([run('cart/1', ++seq)])
      await end()
      const [outcome] = await writing
      expect(['stored', 'unknown', 'failed']).toContain(outcome!.is)
      await server.start()
      const head = await vi.waitFor(async () => (await journal.heads(['cart/1']))[0]!, patient)
      expect(outcome!.is === 'stored' ? [seq] : [seq - 1, seq]).toContain(head.seq)
      seq = head.seq
    }
    expect((await journal.append([run('cart/1', seq + 1)])).map(({ is }) => is)).toEqual(['stored'])
    for (const one of journals) await one.close()
    await journal.close()
    expect(pool.listenerCount('error')).toBe(0)
    pool.on('error', () => undefined)
    await pool.end()
  })

  test('a durable state, a snapshot and an event of a version above 2^31 are kept, copied and read', async () => {
    const admin = new pg.Pool({ ...configOf(server), max: 2 })
    admin.on('error', () => undefined)
    for (const schema of ['versions', 'copies']) await createPostgresSchema(admin, { schema })
    const [journal, copy] = await Promise.all(['versions', 'copies'].map((schema) => postgres(admin, { schema }).open(environment)))
    const version = 2 ** 31 + 5
    await journal!.raise('default', 1)
    const outcomes = await journal!.append([
      state('account/1', 0, 1, '{}', { version }),
      run('cart/1', 1, 0, { events: [{ type: 'added', version, data: '{}', tags: [], subject: undefined, time: 1 }] }),
    ])
    expect(outcomes.map(({ is }) => is)).toEqual(['stored', 'stored'])
    expect((await journal!.append([state('account/1', 1, 2, '{"n":1}', { version: version + 1 })]))[0]!.is).toBe('stored')
    const snapshot = { id: 'cart/1', seq: 1, version: Number.MAX_SAFE_INTEGER, data: '{}', time: 1, scope: 'default', epoch: 1 }
    expect((await journal!.saveSnapshot(snapshot)).is).toBe('stored')
    await copy!.restore(journal!.records())
    for (const one of [journal!, copy!]) {
      expect(await one.heads(['account/1', 'cart/1'])).toMatchObject([
        { state: { revision: 2, version: version + 1 } },
        { seq: 1, snapshot: { version: Number.MAX_SAFE_INTEGER } },
      ])
      expect(await found(one)).toMatchObject([{ id: 'cart/1', version }])
    }
    expect((await admin.query('select version from versions.events')).rows).toEqual([{ version: String(version) }])
    for (const one of [journal!, copy!]) await one.close()
    await admin.end()
  })

  describe.skipIf(pooler === undefined)('behind pgbouncer, which gives each transaction to another connection of the server', () => {
    let bouncer: PgbouncerServer
    beforeAll(async () => {
      bouncer = await startPgbouncer(pooler!, server)
    })
    afterAll(() => bouncer?.end())

    test('every append is stored, and readers in other processes are woken without NOTIFY', async () => {
      const { host, port, user, database } = bouncer
      const pools = [1, 2, 3].map(() => new pg.Pool({ host, port, user, database, max: 4 }))
      await createPostgresSchema(pools[0]!, { schema: 'pooled' })
      const journals = await Promise.all(pools.map((pool) => postgres(pool, { schema: 'pooled', poll: 50 }).open(environment)))
      await journals[0]!.raise('default', 1)
      const seen: string[] = []
      const controller = new AbortController()
      const reading = (async () => {
        for await (const batch of journals[2]!.events({ batch: 100, signal: controller.signal })) seen.push(...places(batch))
      })()
      const outcomes = await Promise.all(
        journals.flatMap((journal, j) =>
          [0, 1, 2].map(async (i) => {
            const each: string[] = []
            for (let seq = 1; seq <= 20; seq++) each.push(...(await journal.append([run(`cart/${j}-${i}`, seq)])).map(({ is }) => is))
            return each
          }),
        ),
      )
      expect(outcomes.flat()).toEqual(Array.from({ length: 180 }, () => 'stored'))
      await vi.waitFor(() => expect(seen).toHaveLength(180), patient)
      expect(new Set(seen).size).toBe(180)
      controller.abort()
      await reading
      expect((await all(journals[1]!.records())).flat().filter(({ record }) => record === 'event')).toHaveLength(180)
      for (const journal of journals) await journal.close()
      for (const pool of pools) await pool.end()
    })
  })
})
