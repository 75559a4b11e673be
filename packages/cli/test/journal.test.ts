// `troupe journal` on journals that a system uses meanwhile: what it prints, as text and as JSON, by what it ends, and as a process in a pipe.
// What the functions behind it promise is tested with them, in packages/persistence. Run `npm run build` first; `npm test` does.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ActorRef, ActorSystem } from '@troupe/core'
import {
  eventSourced,
  type JournalSource,
  type Kind,
  openJournal,
  persistence,
  postgres,
  projection,
  sqliteJournal,
  takeSnapshot,
} from '@troupe/persistence'
import pg from 'pg'
import { afterAll, expect, test, vi } from 'vitest'
import { findPostgres, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { root } from '../../../tools/markdown.ts'
import { runCommand } from '../src/program.ts'

const engine = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')
const scratch = mkdtempSync(join(tmpdir(), 'troupe-journal-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
async function journal(...argv: readonly string[]): Promise<Ran> {
  let [out, err] = ['', '']
  const code = await runCommand(['journal', ...argv], {
    screen: { isTTY: false, columns: 100, rows: 30, colours: false, write: (text) => void (out += text) },
    keys: undefined,
    complain: (text) => void (err += `${text}\n`),
    version: '1.2.3',
  })
  return { code, out, err }
}
const ok = async (...argv: readonly string[]): Promise<string> => {
  const { code, out, err } = await journal(...argv)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}
/** The same as a process of its own. */
function troupe(argv: readonly string[], input = ''): Promise<Ran> {
  const child = spawn(process.execPath, [join(root, 'packages/cli/dist/main.js'), 'journal', ...argv])
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
  child.stdin.end(input)
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}

const shop = (source: JournalSource): ActorSystem =>
  ActorSystem.create('shop', { logger: false, askTimeout: 30_000, extensions: [persistence({ journal: source })] })

type Counter = { type: 'add'; replyTo: ActorRef<number> }
const counter: Kind<Counter> = eventSourced('counter', {
  initial: () => 0,
  events: { added: (n, e: { by: number }) => n + e.by },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added', by: 2 })
      ctx.tell(m.replyTo, ctx.state)
    },
  },
  tags: () => ['sum'],
})

test('projections are listed with what they read, and one is removed by its name', async () => {
  const data = join(scratch, 'projections.db')
  const system = shop(sqliteJournal(data))
  await system.spawn(counter('a')).ask({ type: 'add' })
  let handled = 0
  system.spawn(projection({ name: 'totals', from: { kind: counter, tag: 'sum' }, handle: (events) => void (handled += events.length) }))
  const other = await openJournal(sqliteJournal(data))
  await vi.waitFor(async () => expect(await other.offset('totals')).toBeDefined(), { timeout: 30_000 })
  await other.close()
  expect(handled).toBe(1)
  await system.shutdown()
  expect(await ok('projections', data)).toMatch(/^totals {2}reads counter, tag sum {2}has handled up to [\d.]+\n$/)
  expect(JSON.parse(await ok('projections', data, '--json'))).toMatchObject([{ projection: 'totals', kind: 'counter', tag: 'sum' }])
  expect(await ok('projections', data, '--remove', 'totals')).toBe('totals is removed: events that it has not handled may be deleted\n')
  expect(await ok('projections', data)).toBe('no projections\n')
  expect(await journal('projections', data, '--remove', 'totals')).toMatchObject({ code: 1 })
})

test('a journal that a system uses is listed, shown, verified, copied, exported and imported, and the system goes on', async () => {
  const [data, back, copy, text] = ['data.db', 'back.db', 'copy.db', 'out.txt'].map((name) => join(scratch, name)) as [string, string, string, string]
  expect(await ok('create', data)).toMatch(/^journal [0-9a-f-]{36} is there\n$/)
  const system = shop(sqliteJournal(data))
  const refs = ['a', 'b'].map((key) => system.spawn(counter(key)))
  for (const ref of [refs[0]!, refs[0]!, refs[1]!]) await ref.ask({ type: 'add' })

  expect(await ok('ls', data)).toMatch(/^counter\/a +2$[^]*^counter\/b +1$/m)
  expect(await ok('ls', data, '--most', '1')).toMatch(/^counter\/a +2\n… and more; --most 10 shows them$/m)
  expect(await ok('show', data, 'counter/a', '--most', '1')).toMatch(
    /^counter\/a: last event 2\n1 {2}\d{4}-.*Z {2}added@1 {2}{"type":"added","by":2} {2}#sum\n… up to 2; --after 1 goes on\n$/,
  )
  expect(await ok('verify', data)).toBe('2 ids, 3 events, 0 snapshots: all as it was written\n')
  expect(await ok('stats', data)).toMatch(/^counter +2 +3 +0 +0 +0\nin all +2 +3/m)
  expect(await ok('export', data, '--to', text)).toBe(`exported to ${text}\n`)
  expect(await ok('backup', data, '--to', back)).toBe(`copied to ${back}\n`)
  expect(await ok('verify', back)).toMatch(/all as it was written\n$/)
  expect(await ok('import', copy, '--from', text)).toMatch(/^imported 2 ids, 3 events, 0 keys of journal [0-9a-f-]{36}, exported \d{4}-/)

  // As processes: what is piped is nothing but what was asked for, and another process uses the journal.
  const all = readFileSync(text, 'utf8')
  const [exported, piped, torn] = await Promise.all([
    troupe(['export', data]),
    troupe(['import', join(scratch, 'piped.db'), '--json'], all),
    troupe(['import', join(scratch, 'cut.db')], all.slice(0, -40)),
  ])
  // Each line begins with a sum, which goes on from the one before it; the first says when it was exported.
  const records = (lines: string): string[] => lines.split('\n').flatMap((line) => (line.includes('"record":') ? line.slice(9) : []))
  expect({ ...exported, out: records(exported.out) }).toEqual({ code: 0, err: '', out: records(all) })
  expect(records(all)).toHaveLength(5)
  expect({ ...piped, out: JSON.parse(piped.out) as unknown }).toMatchObject({ code: 0, err: '', out: { counts: { id: 2, event: 3 } } })
  expect(torn).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^Cannot import line \d+: .*\n$/) as string })

  // Whoever looked took nothing over.
  expect(await refs[0]!.ask({ type: 'add' })).toBe(6)
  await system.shutdown()
})

test('with --json each is one value a line, also of what is damaged; exit codes tell what is wrong', async () => {
  const data = join(scratch, 'json.db')
  await ok('create', data)
  const system = shop(sqliteJournal(data))
  for (const key of ['a', 'b']) await system.spawn(counter(key)).ask({ type: 'add' })
  const json = async (...argv: readonly string[]): Promise<unknown[]> =>
    (await ok(...argv, '--json'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
  expect(await json('ls', data)).toMatchObject([
    { id: 'counter/a', seq: 1 },
    { id: 'counter/b', seq: 1 },
  ])
  expect(await ok('ls', data, '--kind', 'cart', '--json')).toBe('')
  expect(await json('show', data, 'counter/a')).toMatchObject([{ head: { seq: 1 }, events: [{ seq: 1, type: 'added', tags: ['sum'] }] }])
  expect(await json('verify', data)).toMatchObject([{ ids: 2, events: 2, damages: [] }])
  expect(await json('stats', data)).toMatchObject([{ ids: 2, events: 2, kinds: [{ kind: 'counter', ids: 2 }] }])
  await system.shutdown()

  const bytes = readFileSync(data)
  const at = bytes.lastIndexOf('{"type":"added"')
  bytes[at + 20]! ^= 1
  writeFileSync(data, bytes)
  const { code, out } = await journal('verify', data)
  expect(code).toBe(1)
  expect(out).toMatch(/^DAMAGED {2}.*counter\/[ab].*\n[^]*1 damage\n$/)
  writeFileSync(data, 'something else')
  expect(await journal('verify', data)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is not a SQLite file') as string })
  writeFileSync(data, '')
  expect(await journal('verify', data)).toMatchObject({ code: 1, err: expect.stringMatching(/is damaged at .*json\.db: it is empty/) as string })
})

test('what is missing is one line with what to do, and 1; what was called wrongly is 2, with a suggestion', async () => {
  const [data, kinds] = [join(scratch, 'refusing.db'), join(scratch, 'kinds.mjs')]
  await ok('create', data)
  const system = shop(sqliteJournal(data))
  await system.spawn(counter('anna')).ask({ type: 'add' })
  writeFileSync(kinds, 'export const nothing = 1\n')
  const counters = join(scratch, 'counters.mjs')
  writeFileSync(counters, 'export const counter = Object.assign(() => {}, { kind: "counter" })\n')
  expect(await ok('ls', data, '--kind', 'cuonter')).toBe('There is none of kind cuonter in this journal. Did you mean counter?\n')
  expect(await ok('ls', data, '--kind', 'cart')).toBe('There is none of kind cart in this journal. There are: counter.\n')
  const text = join(scratch, 'kinds.mjs')
  const refusals: readonly (readonly [argv: readonly string[], code: number, says: string])[] = [
    [['import', data, '--from', text], 1, 'would overwrite|Cannot import'],
    [['export', data, '--to', text], 1, 'is there already'],
    [['import', join(scratch, 'x.db'), '--from', join(scratch, 'y')], 1, 'There is no file'],
    [['ls', join(scratch, 'nowhere')], 1, 'there is no file'],
    [['show', data, 'counter/z'], 1, 'There is no counter/z in this journal\\. For a list: troupe journal ls'],
    [['show', data, 'counter/ana'], 1, 'Did you mean counter/anna\\?'],
    [['erase', data, 'anna'], 1, 'has no subject "anna"'],
    [['snapshot', data, 'cart/a', '--with', kinds], 1, 'exports no kind cart'],
    [['snapshot', data, 'counter/ana', '--with', counters], 1, 'There is no counter/ana in this journal\\. Did you mean counter/anna\\?'],
    [['snapshot', data, 'cart/a', '--with', join(scratch, 'z.mjs')], 2, 'There is no module'],
    [['create', join(scratch, 'z.db'), '--role', 'shop'], 2, 'Roles are for a journal in PostgreSQL'],
    [['backup', 'postgres://127.0.0.1:1/x', '--to', 'y'], 2, 'pg_dump'],
    [['snapshot', data, 'cart/a'], 2, '--with'],
    [['backup', data], 2, '--to'],
    [['backup', data, '--to', 'x', '--keys', 'only'], 2, 'Allowed choices are with, without'],
    [['show', data], 2, "missing required argument 'id'"],
    [['ls'], 2, "missing required argument 'journal'"],
    [['ls', data, '--most', '0'], 2, 'whole number from 1 on'],
    [['ls', data, 'more'], 2, 'too many arguments'],
    [['verfy', data], 2, 'Did you mean verify\\?'],
    [['ls', data, '--knd', 'x'], 2, 'Did you mean --kind\\?'],
  ]
  for (const [argv, code, says] of refusals) {
    const ran = await journal(...argv)
    expect({ argv, ...ran }).toEqual({ argv, code, out: '', err: expect.stringMatching(new RegExp(says)) as string })
  }
  await system.shutdown()
  const help = await ok('--help')
  for (const name of ['ls', 'show', 'verify', 'stats', 'export', 'import', 'backup', 'create', 'snapshot', 'erase', 'projections']) {
    expect(help).toContain(`\n  ${name} `)
    expect(await ok(name, '--help')).toMatch(/^Usage: troupe journal /)
  }
})

test('a snapshot is taken by the kind that a module exports', async () => {
  const [data, kinds] = [join(scratch, 'pictured.db'), join(scratch, 'counter.mjs')]
  const system = shop(sqliteJournal(data))
  const ref = system.spawn(counter('a'))
  for (let i = 0; i < 2; i++) await ref.ask({ type: 'add' })
  writeFileSync(
    kinds,
    `import { eventSourced } from ${JSON.stringify(import.meta.resolve('@troupe/persistence'))}
     export const counter = eventSourced('counter', { initial: () => 0, events: { added: (n, e) => n + e.by }, commands: {} })`,
  )
  expect(await troupe(['snapshot', data, 'counter/a', '--with', kinds])).toEqual({
    code: 0,
    out: 'a snapshot of counter/a stands for its events up to 2\n',
    err: '',
  })
  expect(await ok('show', data, 'counter/a')).toMatch(/^snapshot at 2, version 1, .*: {"state":4}$/m)
  await system.shutdown()
})

test('what is sealed is not printed but for its length, and numbers of one list have one form', async () => {
  const data = join(scratch, 'sealed.db')
  type Note = { type: 'note'; text: string; replyTo: ActorRef<boolean> }
  const notes: Kind<Note> = eventSourced('notes', {
    initial: () => 0,
    events: { noted: (n, _e: { text: string }) => n + 1 },
    commands: {
      note(ctx, { text, replyTo }) {
        ctx.persist({ type: 'noted', text })
        ctx.tell(replyTo, true)
      },
    },
    subject: () => 'anna',
  })
  const system = shop(sqliteJournal(data))
  const ref = system.spawn(notes('a'))
  await ref.ask({ type: 'note', text: 'x'.repeat(3000) })
  await Promise.all(Array.from({ length: 1200 }, () => ref.ask({ type: 'note', text: 'y' })))
  await takeSnapshot(system, notes, 'a')
  await system.shutdown()
  const shown = await ok('show', data, 'notes/a', '--most', '1')
  expect(shown).toMatch(/noted@1 {2}sealed, 4,\d+ letters {2}of anna$/m)
  expect(await ok('show', data, 'notes/a', '--most', '1', '--json')).toMatch(/"v\\?":\\?"[\w+/]{4000}/)
  expect(await ok('ls', data)).toMatch(/^notes\/a +1,201 +1,201( 1,000)?$/m)
})

test.skipIf(engine === undefined)('tables of PostgreSQL are made by a command, for a role that may write; the rest is the same', async () => {
  const server = await startPostgres(engine!)
  try {
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query("create role shop login password 'x'")
    const app = server.url.replace(/\/\/.*@/, '//shop:x@')
    expect(await journal('ls', app)).toMatchObject({ code: 1, err: expect.stringContaining('create the schema') as string })
    expect(await ok('create', server.url, '--role', 'shop')).toMatch(/^journal [0-9a-f-]{36} is there\n$/)
    const system = shop(postgres({ connectionString: app }))
    const ref = system.spawn(counter('a'))
    expect(await ref.ask({ type: 'add' })).toBe(2)
    // Who may not, and what is not there, is not told to make tables that are there.
    await admin.query("insert into troupe.keys (subject, key) values ('anna', 'x')")
    const refused = await journal('erase', app, 'anna')
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/permission denied.*a keeper what deleting and erasing take/) as string })
    const nobody = await journal('create', server.url, '--schema', 'third', '--role', 'nosuch')
    expect(nobody).toMatchObject({ code: 1, err: expect.stringMatching(/"nosuch" does not exist.*create role/) as string })
    for (const { err } of [refused, nobody]) expect(err).not.toContain('create the schema')
    const text = join(scratch, 'pg.txt')
    expect(await ok('ls', app)).toMatch(/^counter\/a +1$/m)
    expect(await ok('verify', app)).toBe('1 id, 1 event, 0 snapshots: all as it was written\n')
    await ok('export', app, '--to', text)
    await ok('create', server.url, '--schema', 'other', '--role', 'shop')
    expect(await ok('import', app, '--schema', 'other', '--from', text)).toMatch(/^imported 1 id, 1 event,/)
    expect(await ok('show', app, 'counter/a', '--schema', 'other')).toMatch(/^counter\/a: last event 1\n/)
    expect(await ref.ask({ type: 'add' })).toBe(4)
    await system.shutdown()
    await admin.end()
  } finally {
    await server.end()
  }
})
