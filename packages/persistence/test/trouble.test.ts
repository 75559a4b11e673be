// Whole systems on journals that are away, cannot be used, are full or damaged: a clear error or the documented policy, and nothing is lost.
// On real time, because the stores are real; nothing is asserted about how long anything takes.

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ActorRef, ActorSystem } from '@troupe/core'
import {
  createPostgresSchema,
  eventSourced,
  type JournalSource,
  type Kind,
  persistence,
  type PersistenceOptions,
  postgres,
  projection,
  sqliteJournal,
} from '@troupe/persistence'
import { loadSqlite } from '@troupe/sqlite'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { findPostgres, type PostgresServer, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'

type Counter = { type: 'add'; by: number; text?: string; replyTo: ActorRef<number> } | { type: 'get'; replyTo: ActorRef<number> }

const counter: Kind<Counter> = eventSourced('counter', {
  initial: () => 0,
  events: { added: (n, e: { by: number; text?: string }) => n + e.by },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added', by: m.by, ...(m.text === undefined ? {} : { text: m.text }) })
      ctx.tell(m.replyTo, ctx.state)
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
  snapshotEvery: 4,
})

let systems: ActorSystem[] = []
let folder: string
beforeEach(() => {
  systems = []
  folder = mkdtempSync(join(tmpdir(), 'troupe-trouble-'))
})
afterEach(async () => {
  for (const system of systems) await system.shutdown({ deadline: 2000 })
  rmSync(folder, { recursive: true, force: true })
})
function systemWith(journal: JournalSource, options: Partial<PersistenceOptions> = {}): ActorSystem {
  const system = ActorSystem.create('shop', { extensions: [persistence({ journal, ...options })], logger: false, askTimeout: 30_000 })
  systems.push(system)
  return system
}
/** How a start ended: the cause of its failure, if it failed for good. */
const startOf = (system: ActorSystem): Promise<unknown> =>
  system.started(system.spawn(counter('a'))).then(
    () => 'started',
    (cause: { cause: unknown }) => cause.cause,
  )
/** Asks until that is answered. */
async function patiently(ref: ActorRef<Counter>, by: number): Promise<number> {
  for (;;) {
    try {
      return await ref.ask({ type: 'add', by })
    } catch {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

describe('on SQLite', () => {
  test('a directory that cannot be made, and a foreign file, end the start with their error; a missing directory is made', async () => {
    writeFileSync(join(folder, 'file'), '')
    mkdirSync(join(folder, 'foreign'))
    writeFileSync(join(folder, 'foreign', 'journal.db'), 'once upon a time '.repeat(2000))
    expect(await startOf(systemWith(sqliteJournal(join(folder, 'foreign', 'journal.db'))))).toMatchObject({ code: 'journal-refused' })
    expect(await startOf(systemWith(sqliteJournal(join(folder, 'deep', 'new', 'place', 'journal.db'))))).toBe('started')
    const system = systemWith(sqliteJournal(join(folder, 'file', 'data', 'journal.db')))
    const ref = system.spawn(counter('a'))
    // Trying again may help: somebody may make it. Until then whoever asks hears why not.
    const asked = ref.ask({ type: 'get' }, { timeout: 60_000 }).catch((cause: { code: string }) => cause.code)
    expect(await asked).toBe('journal-unavailable')
    const isToldWhy = (): void => expect(system.failures.list().at(-1)?.cause).toMatchObject({ code: 'journal-unavailable' })
    await vi.waitFor(isToldWhy, { timeout: 30_000 })
  })

  test('a second actor for an id is refused by name, and harms nothing', async () => {
    const system = systemWith(sqliteJournal(join(folder, 'journal.db')))
    const first = system.spawn(counter('a'))
    await first.ask({ type: 'add', by: 1 })
    expect(await startOf(system)).toMatchObject({ code: 'id-in-use', message: expect.stringContaining(first.path) as string })
    expect(await first.ask({ type: 'add', by: 1 })).toBe(2)
  })

  test('a damaged snapshot is passed over: all events are replayed; a damaged head is refused for that id alone', async () => {
    const system = systemWith(sqliteJournal(join(folder, 'journal.db')))
    const [a, b] = [system.spawn(counter('a')), system.spawn(counter('b'))]
    for (let i = 0; i < 9; i++) await a.ask({ type: 'add', by: 1000 + i })
    for (let i = 0; i < 7; i++) await b.ask({ type: 'add', by: 1 })
    const total = await a.ask({ type: 'get' })
    await system.shutdown()
    const file = join(folder, 'journal.db')
    const bytes = readFileSync(file)
    const flip = (text: string): number => {
      let flipped = 0
      for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1), flipped++) bytes[at + text.length - 2]! ^= 1
      return flipped
    }
    // The states that the snapshots of a say.
    expect(flip('{"state":4006}') + flip('{"state":8028}')).toBeGreaterThan(1)
    writeFileSync(file, bytes)
    const warned: string[] = []
    const logger = { debug() {}, info() {}, warn: (_: unknown, text?: string) => void warned.push(text ?? ''), error() {} }
    const again = ActorSystem.create('shop', { extensions: [persistence({ journal: sqliteJournal(join(folder, 'journal.db')) })], logger })
    systems.push(again)
    expect(await again.spawn(counter('a')).ask({ type: 'get' })).toBe(total)
    expect(await again.spawn(counter('b')).ask({ type: 'get' })).toBe(7)
    await again.shutdown()
    // As a tool would change it, which knows nothing of checksums.
    const connection = (await loadSqlite()).open(file)
    connection.exec(`update heads set seq = 8 where id = 'counter/a'`)
    connection.close()
    const last = systemWith(sqliteJournal(join(folder, 'journal.db')))
    const [failed, fine] = await Promise.all([startOf(last), last.spawn(counter('b')).ask({ type: 'get' })])
    expect(failed).toMatchObject({ code: 'journal-damaged', where: expect.stringContaining('heads of counter/a') as string })
    expect(fine).toBe(7)
    expect(warned).toContain('a snapshot cannot be read; an earlier one, or all events, are used')
  })

  const limited = process.platform === 'linux'
  test.skipIf(!limited)('a full disk: asks are rejected, nothing acknowledged is lost, and with room again it goes on by itself', () => {
    const child = fileURLToPath(new URL('./full-disk-child.mjs', import.meta.url))
    const run = (...front: string[]): Record<string, unknown> => {
      const [program, ...args] = [...front, process.execPath, child, folder]
      const { stdout } = spawnSync(program, args, { encoding: 'utf8', timeout: 150_000 })
      return JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, unknown>
    }
    const full = run('sh', '-c', 'trap \'\' XFSZ; ulimit -f 3000; exec "$@"', 'sh')
    expect(full['code']).toMatch(/^persist-(failed|unknown)$/)
    expect(full['acknowledged']).toBeGreaterThan(0)
    const after = run()
    expect(after['found']).toBeGreaterThanOrEqual(full['acknowledged'] as number)
    expect(after['code']).toBeUndefined()
  })

  const mounts = limited && spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
  if (limited && !mounts) process.stderr.write('\nSKIPPED: a disk with no room: a small one cannot be mounted here.\n')
  test.skipIf(!mounts)(
    'a disk with no room: a journal that is to be made there is refused; one that is waited for goes on with room again, and nothing fails',
    () => {
      const child = fileURLToPath(new URL('./no-room-child.mjs', import.meta.url))
      const script = 'mount -t tmpfs -o size=6m tmpfs "$2" && exec "$0" "$1" "$2"'
      const { stdout, stderr, signal } = spawnSync('unshare', ['-rm', 'sh', '-c', script, process.execPath, child, folder], {
        encoding: 'utf8',
        timeout: 150_000,
      })
      expect({ stderr, signal }).toEqual({ stderr: '', signal: null })
      const { anew, before, ...rest } = JSON.parse(stdout) as Record<string, unknown>
      expect(anew).toMatch(/^journal-unavailable .*new.journal\.db cannot be written \(.*; its disk has \d+ bytes left\); make room/)
      expect(before).toBeGreaterThan(8)
      expect(rest).toEqual({
        failed: [],
        trouble: expect.stringMatching(/journal\.db cannot be written \(its disk has \d+ bytes left.*\); make room/) as string,
        went: true,
      })
    },
  )

  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'a directory that it may not write is told, and used once it may be',
    async () => {
      chmodSync(folder, 0o555)
      const system = systemWith(sqliteJournal(join(folder, 'journal.db')))
      const ref = system.spawn(counter('a'))
      expect(await ref.ask({ type: 'get' }, { timeout: 60_000 }).catch((cause: { code: string }) => cause.code)).toBe('journal-unavailable')
      chmodSync(folder, 0o755)
      expect(await patiently(ref, 1)).toBe(1)
    },
  )
})

const found = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')
describe.skipIf(found === undefined)('on PostgreSQL', () => {
  let server: PostgresServer
  let admin: pg.Pool
  let made = 0
  const config = () => {
    const { host, port, user, password, database } = server
    return { host, port, user, password, database }
  }
  beforeAll(async () => {
    server = await startPostgres(found!)
    admin = new pg.Pool({ ...config(), max: 2 })
    admin.on('error', () => undefined)
  })
  afterAll(async () => {
    await admin?.end()
    await server?.end()
  })
  async function schemaOf(): Promise<string> {
    const schema = `whole_${++made}`
    await createPostgresSchema(admin, { schema })
    return schema
  }

  test.each(['reject', 'wait'] as const)(
    'away at the start, and later: with %s it comes back by itself, and nothing acknowledged is lost',
    async (whenAway) => {
      const schema = await schemaOf()
      await server.stop()
      const system = systemWith(postgres(config(), { schema, timeout: 5000 }), { whenAway })
      const ref = system.spawn(counter('a'))
      const early = ref.ask({ type: 'add', by: 1 }, { timeout: 60_000 }).catch((cause: { code: string }) => cause.code)
      if (whenAway === 'reject') expect(await early).toBe('journal-unavailable')
      await server.start()
      // Recovery is the start: what was asked meanwhile waited in the mailbox.
      expect(whenAway === 'wait' ? await early : await patiently(ref, 1)).toBe(1)
      await server.crash()
      const during = ref.ask({ type: 'add', by: 10 }).then(
        () => 'answered',
        (cause: { code: string }) => cause.code,
      )
      await server.start()
      // One that was under way when the server went may be unknown, whatever is to be done about others.
      expect(await during).toMatch(whenAway === 'wait' ? /^(answered|persist-unknown)$/ : /^(answered|persist-failed|persist-unknown)$/)
      const total = await patiently(ref, 100)
      expect([101, 111]).toContain(total)
      const again = systemWith(postgres(config(), { schema }))
      expect(await again.spawn(counter('a')).ask({ type: 'get' })).toBe(total)
    },
  )

  test('P12: a projection and its place are stored in one transaction: killed, failing and begun anew it has each event once', async () => {
    const schema = await schemaOf()
    await admin.query(`create table ${schema}.seen (id text, seq int)`)
    const system = systemWith(postgres(config(), { schema, poll: 20 }))
    let fails = 3
    const view = projection({
      name: 'seen',
      batch: 4,
      async handle(events, transaction) {
        for (const { id, seq } of events) await (transaction as pg.PoolClient).query(`insert into ${schema}.seen values ($1, $2)`, [id, seq])
        // After its work: only a transaction takes that back.
        if (fails-- > 0) throw new Error('not now')
      },
    })
    let ref = system.spawn(view)
    const counters = ['a', 'b', 'c'].map((key) => system.spawn(counter(key)))
    for (let i = 0; i < 12; i++) {
      await Promise.all(counters.map((one) => one.ask({ type: 'add', by: 1 })))
      if (i === 5) {
        system.kill(ref)
        await system.whenTerminated(ref)
        ref = system.spawn(view)
      }
    }
    for (;;) {
      const { rows } = await admin.query<{ count: string }>(`select count(*) from ${schema}.seen`)
      if (Number(rows[0]!.count) >= 36) break
    }
    const { rows } = await admin.query<{ id: string; seqs: number[] }>(
      `select id, array_agg(seq) as seqs from ${schema}.seen group by id order by id`,
    )
    expect(rows).toEqual(['a', 'b', 'c'].map((key) => ({ id: `counter/${key}`, seqs: Array.from({ length: 12 }, (_, i) => i + 1) })))
  })
})
