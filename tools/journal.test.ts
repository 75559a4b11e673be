// `npm run journal` from end to end, as processes of their own, on a journal that a system uses meanwhile. What the functions behind it
// promise is tested with them, in packages/persistence. Run `npm run build` first; `npm test` does.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ActorRef, ActorSystem } from '@troupe/core'
import { eventSourced, type Kind, lmdb, persistence, postgres } from '@troupe/persistence'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { findPostgres, startPostgres } from './engines/postgres.mjs'
import { engineOrSkip } from './engines/require.mjs'
import { root } from './markdown.ts'

const engine = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')
const scratch = mkdtempSync(join(tmpdir(), 'troupe-journal-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
function journal(args: readonly string[], input = ''): Promise<Ran> {
  const child = spawn(process.execPath, [join(root, 'tools/journal/main.mjs'), ...args])
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
  child.stdin.end(input)
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}
const ok = async (...args: string[]): Promise<string> => {
  const { code, out, err } = await journal(args)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

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

test('a directory that a system uses is listed, shown, verified, copied, exported and imported, and the system goes on', async () => {
  const [data, back, copy, text] = ['data', 'back', 'copy', 'out.txt'].map((name) => join(scratch, name)) as [string, string, string, string]
  await ok('create', data)
  const system = ActorSystem.create('shop', { extensions: [persistence({ journal: lmdb(data) })] })
  const refs = ['a', 'b'].map((key) => system.spawn(counter(key)))
  for (const ref of [refs[0]!, refs[0]!, refs[1]!]) await ref.ask({ type: 'add' })

  // All at once: each is a process of its own, and takes longer to begin than to work.
  const kinds = join(scratch, 'counter.mjs')
  writeFileSync(
    kinds,
    `import { eventSourced } from ${JSON.stringify(import.meta.resolve('@troupe/persistence'))}
     export const counter = eventSourced('counter', { initial: () => 0, events: { added: (n, e) => n + e.by }, commands: {} })`,
  )
  const [listed, some, shown, verified, sizes, exported, snapshot] = await Promise.all([
    ok('ls', data),
    ok('ls', data, '--most', '1'),
    ok('show', data, 'counter/a', '--most', '1'),
    ok('verify', data),
    ok('stats', data),
    ok('export', data, '--to', text),
    ok('snapshot', data, 'counter/a', '--with', kinds),
    ok('backup', data, '--to', back),
  ])
  expect(listed).toMatch(/^counter\/a +2( .*)?$[^]*^counter\/b +1$/m)
  expect(some).toMatch(/^counter\/a +2.*\n… and more; --most 10 shows them$/m)
  expect(shown).toMatch(/^counter\/a: last event 2\n(snapshot .*\n)?1 {2}\d{4}-.*Z {2}added@1 {2}{"type":"added","by":2} {2}#sum\n… up to 2/)
  expect(verified).toMatch(/^2 ids, 3 events, [01] snapshots?: all as it was written\n$/)
  expect(sizes).toMatch(/^counter +2 +3 +0 +[01] +0$/m)
  expect(exported).toBe(`exported to ${text}\n`)
  expect(snapshot).toBe('a snapshot of counter/a stands for its events up to 2\n')

  const all = readFileSync(text, 'utf8')
  const [imported, piped, cut, shownAgain, inBackup] = await Promise.all([
    ok('import', copy, '--from', text),
    journal(['import', join(scratch, 'piped')], all),
    journal(['import', join(scratch, 'cut')], all.slice(0, -40)),
    ok('show', data, 'counter/a'),
    ok('verify', back),
  ])
  expect(imported).toMatch(/^imported 2 ids, 3 events, 0 keys of journal [0-9a-f-]{36}, exported \d{4}-/)
  expect(piped).toMatchObject({ code: 0, err: '' })
  expect(cut).toMatchObject({ code: 1, err: expect.stringMatching(/^Cannot import line \d+: .*\n$/) as string })
  expect(shownAgain).toMatch(/^snapshot at 2, version 1, .*: {"state":4}$/m)
  expect(inBackup).toMatch(/^2 ids, 3 events, .*: all as it was written\n$/)

  const refusals = [
    [['import', copy, '--from', text], 'would overwrite'],
    [['export', data, '--to', text], 'is there already'],
    [['import', join(scratch, 'x'), '--from', join(scratch, 'y')], 'There is no file'],
    [['ls', join(scratch, 'nowhere')], 'there is none in'],
    [['show', data, 'counter/z'], 'There is no counter/z in this journal'],
    [['erase', data, 'anna'], 'has no subject "anna"'],
    [['snapshot', data, 'cart/a', '--with', kinds], 'exports no kind cart'],
  ] as const
  const refused = await Promise.all(refusals.map(([args]) => journal(args)))
  for (const [n, [, says]] of refusals.entries())
    expect(refused[n]).toEqual({ code: 1, out: '', err: expect.stringMatching(new RegExp(`^.*${says}.*\\n$`)) as string })

  // Whoever looked took nothing over.
  expect(await refs[0]!.ask({ type: 'add' })).toBe(6)
  await system.shutdown()
  writeFileSync(join(data, 'journal.mdb'), 'something else')
  expect(await journal(['verify', data])).toMatchObject({ code: 1, err: expect.stringContaining('is not a journal') as string })
})

test.skipIf(engine === undefined)('tables of PostgreSQL are made by a command, for a role that may write; the rest is the same', async () => {
  const server = await startPostgres(engine!)
  try {
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query("create role shop login password 'x'")
    const app = server.url.replace(/\/\/.*@/, '//shop:x@')
    expect(await journal(['ls', app])).toMatchObject({ code: 1, err: expect.stringContaining('create the schema') as string })
    expect(await ok('create', server.url, '--role', 'shop')).toMatch(/^journal [0-9a-f-]{36} is there\n$/)
    const system = ActorSystem.create('shop', { extensions: [persistence({ journal: postgres({ connectionString: app }) })] })
    const ref = system.spawn(counter('a'))
    expect(await ref.ask({ type: 'add' })).toBe(2)
    const text = join(scratch, 'pg.txt')
    const [listed, verified] = await Promise.all([
      ok('ls', app),
      ok('verify', app),
      ok('export', app, '--to', text),
      ok('create', server.url, '--schema', 'other', '--role', 'shop'),
    ])
    expect(listed).toMatch(/^counter\/a +1$/m)
    expect(verified).toBe('1 id, 1 event, 0 snapshots: all as it was written\n')
    expect(await ok('import', app, '--schema', 'other', '--from', text)).toMatch(/^imported 1 id, 1 event,/)
    expect(await ok('show', app, 'counter/a', '--schema', 'other')).toMatch(/^counter\/a: last event 1\n/)
    expect(await ref.ask({ type: 'add' })).toBe(4)
    await system.shutdown()
    await admin.end()
  } finally {
    await server.end()
  }
})
