// A PostgreSQL journal over a network that delays, splits, stalls, ends and resets connections by a seed: every request settles, what was
// said to be stored is there and what was said to have failed is not, and no transaction is left open at the server, though the client's end
// of the connection never says that it has gone.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createPostgresSchema, type Journal, postgres } from '@troupe/persistence'
import { findPostgres, type PostgresServer, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { type Fault, FaultProxy } from '../../../tools/fault-proxy.ts'
import { environment, run } from './contract/stage.ts'

const found = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')
const runs = Number(process.env['TROUPE_RUNS'] ?? 4)
const patient = { timeout: 60_000 }
/** The time that journals wait for an answer in this file, in ms. */
const timeout = 500

describe.skipIf(found === undefined)('with PostgreSQL', () => {
  let server: PostgresServer
  let admin: pg.Pool
  const configOf = ({ host, port, user, password, database }: PostgresServer) => ({ host, port, user, password, database })
  /** The transactions that the server has open for connections of this name. */
  const openTransactions = async (name: string): Promise<string[]> => {
    const { rows } = await admin.query<{ state: string; query: string }>(
      "select state, query from pg_stat_activity where application_name = $1 and state like 'idle in transaction%'",
      [name],
    )
    return rows.map(({ state, query }) => `${state}: ${query}`)
  }
  const poolBy = (port: number, name: string): pg.Pool => {
    const pool = new pg.Pool({ ...configOf(server), host: '127.0.0.1', port, max: 4, application_name: name, connectionTimeoutMillis: timeout })
    pool.on('error', () => undefined)
    return pool
  }
  beforeAll(async () => {
    server = await startPostgres(found!)
    admin = new pg.Pool({ ...configOf(server), max: 2 })
    admin.on('error', () => undefined)
  })
  afterAll(async () => {
    await admin?.end()
    await server?.end()
  })

  test('every request settles, and what it said about a write is so', async () => {
    const seen = new Set<Fault>()
    let stored = 0
    for (let seed = 1; seed <= runs; seed++) {
      const schema = `seed_${seed}`
      await createPostgresSchema(admin, { schema })
      await admin.query(`create table ${schema}.totals (n int)`)
      const proxy = await FaultProxy.start(server.port, { seed, within: 20_000 })
      const pool = poolBy(proxy.port, schema)
      const direct = await postgres(configOf(server), { schema }).open(environment)
      await direct.raise('default', 1)
      const opened = async (): Promise<Journal> => {
        for (;;) {
          const journal = await postgres(pool, { schema, timeout, poll: 50 })
            .open(environment)
            .catch((cause: { code?: string }) => {
              expect([seed, cause.code]).toEqual([seed, 'journal-unavailable'])
              return undefined
            })
          if (journal !== undefined) return journal
        }
      }
      const journal = await opened()
      const writer = async (id: string): Promise<void> => {
        let seq = 0
        for (let i = 0; i < 10; i++) {
          const [outcome] = await journal.append([run(id, seq + 1)])
          // The truth, by a way that nothing harms; a write that is still on its way is over when the epoch is raised.
          if (outcome!.is === 'unknown') await direct.raise('default', 1).catch(() => undefined)
          const [head] = await direct.heads([id])
          const at = head?.seq ?? 0
          const expected: Record<string, number[]> = { stored: [seq + 1], failed: [seq], unknown: [seq, seq + 1] }
          expect([seed, outcome!.is, expected[outcome!.is]?.includes(at)]).toEqual([seed, outcome!.is, true])
          if (outcome!.is === 'stored') stored++
          seq = at
        }
      }
      const projection = async (): Promise<void> => {
        let at: string | undefined
        for (let i = 0; i < 6; i++) {
          const to = String(i + 1)
          const outcome = await journal
            .advance('totals', at, to, async (transaction) => {
              await (transaction as pg.PoolClient).query(`insert into ${schema}.totals values (${i})`)
            })
            .catch(() => 'unknown' as const)
          if (outcome === 'unknown') await vi.waitFor(async () => expect(await openTransactions(schema)).toEqual([]), patient)
          const now = await direct.offset('totals')
          if (outcome === 'stored') expect(now).toBe(to)
          const { rows } = await admin.query(`select * from ${schema}.totals`)
          expect(rows).toHaveLength(now === to ? i + 1 : now === undefined ? 0 : Number(now))
          if (now !== to) break
          at = to
        }
      }
      const reader = async (): Promise<void> => {
        for (let i = 0; i < 10; i++)
          await Promise.all([journal.heads(['cart/1']), journal.stats(), journal.verify?.()].map((asked) => asked?.catch(() => undefined)))
      }
      await Promise.all([writer('cart/1'), writer('cart/2'), projection(), reader()])
      for (const { fault } of proxy.plans) seen.add(fault)
      await vi.waitFor(async () => expect(await openTransactions(schema)).toEqual([]), patient)
      proxy.heal()
      await vi.waitFor(async () => expect((await journal.append([run('cart/3', 1)]))[0]!.is).toBe('stored'), patient)
      await journal.close()
      await direct.close()
      await pool.end()
      await proxy.close()
    }
    expect(stored).toBeGreaterThan(runs)
    expect(seen.size).toBeGreaterThan(2)
  })

  test('a network that falls silent in the middle of a transaction: the projection fails, and the server ends the transaction', async () => {
    const schema = 'silent'
    await createPostgresSchema(admin, { schema })
    const proxy = await FaultProxy.start(server.port, { seed: 1, faults: ['none'] })
    const pool = poolBy(proxy.port, schema)
    const journal = await postgres(pool, { schema, timeout }).open(environment)
    const rival = await postgres(configOf(server), { schema, timeout: 10_000 }).open(environment)
    for (const where of ['before a statement of the projection', 'after it', 'before its own']) {
      const name = `totals ${where}`
      const advance = journal.advance(name, undefined, '1', async (transaction) => {
        if (where === 'after it') await (transaction as pg.PoolClient).query('select 1')
        proxy.fallSilent()
        if (where === 'before a statement of the projection') await (transaction as pg.PoolClient).query('select 1')
      })
      await expect(advance).rejects.toThrow(/did not answer within 500 ms/)
      await vi.waitFor(async () => expect(await openTransactions(schema)).toEqual([]), patient)
      // Nothing keeps another process from going on with it.
      expect(await rival.advance(name, undefined, '1', () => Promise.resolve())).toBe('stored')
    }
    await journal.close()
    await rival.close()
    proxy.heal()
    await pool.end()
    await proxy.close()
  })
})
