// Damage of a SQLite journal: what is not what was written is refused with its table and id, what is missing is never taken for a new actor, and
// other ids are not affected. `npm run damage:journal` tries a thousand random ones.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadSqlite } from '@troupe/sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Journal, sqliteJournal } from '@troupe/persistence'
import { examineWal } from '../src/journal/sqlite/sqlite-wal.ts'
import { all, environment, event, owner, run, state } from './contract/stage.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-sqlite-'))
  file = join(folder, 'journal.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const opening = (path = file): Promise<Journal> => sqliteJournal(path).open(environment)

/** A journal with two carts, a box, a snapshot and a timer, closed. */
async function filled(): Promise<void> {
  const journal = await opening()
  await journal.raise('default', 1)
  const marked = event(1, { data: '"needle in a haystack"', tags: ['marked'] })
  await journal.append([run('cart/1', 1, 0, { events: [marked] }), run('cart/2', 1, 3), state('box/1', 0, 1, '"a state in a box"')])
  await journal.append([run('cart/1', 2, 2, { timers: [{ key: 't', due: 5 }] })])
  await journal.saveSnapshot({ id: 'cart/2', seq: 3, version: 1, data: '"a snapshot"', time: 1, ...owner })
  await journal.close()
}
/** Changes a file that no journal has open. */
async function tool(sql: string): Promise<void> {
  const connection = (await loadSqlite()).open(file)
  connection.exec(sql)
  connection.close()
}
/** Replaces a text in the file by another one of its length. */
function overwrite(from: string, to: string): void {
  const bytes = readFileSync(file)
  let found = 0
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1), found++) bytes.write(to, at)
  expect(found).toBeGreaterThan(0)
  writeFileSync(file, bytes)
}
const damage = (where: string, problem: RegExp): object => ({
  code: 'journal-damaged',
  where: expect.stringContaining(where) as string,
  message: expect.stringMatching(problem) as string,
})

test('a row that was changed is refused wherever it is read, and verify lists it; other ids are not affected', async () => {
  await filled()
  overwrite('needle', 'noodle')
  const journal = await opening()
  const parts = await all(
    journal.replay(
      ['cart/1', 'cart/2'].map((id) => ({ id, after: 0 })),
      10,
    ),
  )
  const changed = damage('runs of cart/1#1', /its checksum does not match\. Restore that record from a backup/)
  expect(parts).toMatchObject([
    { id: 'cart/1', damage: changed },
    { id: 'cart/2', first: 1 },
  ])
  for (const query of [{}, { kind: 'cart' }, { tag: 'marked' }])
    await expect(all(journal.events({ ...query, batch: 10, once: true }))).rejects.toMatchObject(changed)
  await expect(all(journal.records())).rejects.toMatchObject({ code: 'journal-damaged' })
  expect((await journal.verify()).damages).toMatchObject([{ id: 'cart/1', seq: 1, problem: 'its checksum does not match' }])
  // What comes after it can still be read, and others can be written.
  expect((await journal.heads(['cart/1']))[0]!.seq).toBe(3)
  await journal.raise('default', 2)
  expect((await journal.append([run('cart/2', 4, 1, { epoch: 2 })]))[0]).toEqual({ is: 'stored' })
  await journal.close()
})

test.each([
  ['a state', '"a state in a box"', '"a stote in a box"', 'states of box/1'],
  ['an epoch', 'default', 'defauld', undefined],
])('%s that was changed is not used', async (_, from, to, where) => {
  await filled()
  overwrite(from, to)
  const journal = await opening()
  if (where !== undefined) expect((await journal.heads(['box/1']))[0]!.damage).toMatchObject(damage(where, /checksum/))
  expect((await journal.verify()).damages.length).toBeGreaterThan(0)
  await journal.close()
})

test('a snapshot that was changed is passed over', async () => {
  await filled()
  overwrite('"a snapshot"', '"a snopshot"')
  const journal = await opening()
  expect((await journal.heads(['cart/2']))[0]).toMatchObject({ seq: 3, snapshot: undefined })
  expect((await journal.verify()).damages).toMatchObject([{ where: expect.stringContaining('snapshots of cart/2#3') as string }])
  await journal.close()
})

test('P7: a write that meets a damaged row stores nothing of it, and says so; others of its group are stored', async () => {
  await filled()
  await tool(`update heads set seq = 7 where id = 'cart/1'`)
  const journal = await opening()
  await journal.raise('default', 2)
  const timers = [{ key: 't', due: undefined }]
  const group = [run('cart/2', 4, 1, { epoch: 2 }), run('cart/1', 8, 1, { timers, epoch: 2 }), state('box/1', 1, 2, '"new"', { epoch: 2 })]
  expect(await journal.append(group)).toMatchObject([
    { is: 'stored' },
    { is: 'failed', cause: damage('heads of cart/1', /checksum/) },
    { is: 'stored' },
  ])
  expect(await journal.due(10, 10)).toEqual([{ id: 'cart/1', key: 't', due: 5 }])
  expect((await journal.stats()).events).toBe(7)
  await journal.close()
})

test('P13: a deletion that meets a damaged run deletes nothing', async () => {
  await filled()
  // Two events of the run are to go, and by this it has no more.
  await tool(`update runs set last = 2 where id = 'cart/2'`)
  const journal = await opening()
  expect(await journal.deleteEvents('cart/2', 2, owner)).toMatchObject({ is: 'failed', cause: damage('runs of cart/2#1', /checksum/) })
  expect((await journal.stats()).events).toBe(6)
  await journal.close()
  await tool(`update runs set last = 3 where id = 'cart/2'`)
  const repaired = await opening()
  expect((await repaired.verify()).damages).toEqual([])
  await repaired.close()
})

test.each(['epochs', 'offsets'])('%s that are missing are noticed before anybody takes them for new', async (table) => {
  await filled()
  const journal = await opening()
  expect(await journal.advance('view', undefined, '1.1', () => Promise.resolve())).toBe('stored')
  await journal.close()
  // As after a page of them was replaced by an empty one, which is whole to SQLite.
  await tool(`delete from ${table}`)
  await expect(opening()).rejects.toMatchObject(damage(table, /it has 0 rows, and there were 1/))
})

test('timers that are missing are found by verify', async () => {
  await filled()
  await tool('delete from timers')
  const journal = await opening()
  expect((await journal.verify()).damages).toMatchObject([{ problem: 'it says 1 timers, and there are 0' }])
  await journal.close()
})

describe('an actor that any table mentions never starts from its initial state because of', () => {
  test.each([
    ['a head that is missing', `delete from heads where id = 'cart/1'`, 'cart/1', 'heads of cart/1', /it is missing, and runs has rows of it/],
    ['the head of a state that is missing', `delete from heads where id = 'box/1'`, 'box/1', 'heads of box/1', /it is missing, and states has rows/],
    ['runs that are missing', `delete from runs where id = 'cart/1'`, 'cart/1', 'runs of cart/1', /its last event is missing, and its head says 3/],
    [
      'a last run that is missing',
      `delete from runs where id = 'cart/1' and first > 1`,
      'cart/1',
      'runs of cart/1',
      /its last event is 1, and its head/,
    ],
    ['a state that is missing', `delete from states`, 'box/1', 'states of box/1', /its revision is missing, and its head says 1/],
    [
      'runs and head that are missing',
      `delete from heads where id = 'cart/2'; delete from runs where id = 'cart/2'`,
      'cart/2',
      'heads of cart/2',
      /snapshots has rows/,
    ],
  ])('%s', async (_, sql, id, where, problem) => {
    await filled()
    await tool(sql)
    const journal = await opening()
    expect((await journal.heads([id]))[0]!.damage).toMatchObject(damage(where, problem))
    // Nor is anything stored that a new actor would write.
    await journal.raise('default', 2)
    const write = id === 'box/1' ? state(id, 0, 1, '"new"', { epoch: 2 }) : run(id, 1, 1, { epoch: 2 })
    const [outcome] = await journal.append([write])
    expect(outcome!.is).toMatch(/^(failed|conflict)$/)
    expect((await journal.verify()).damages.length).toBeGreaterThan(0)
    await journal.close()
  })

  test('a run in the middle that is missing', async () => {
    await filled()
    await tool(`delete from runs where id = 'cart/1' and first = 1`)
    const journal = await opening()
    const parts = await all(journal.replay([{ id: 'cart/1', after: 0 }], 10))
    expect(parts).toMatchObject([{ id: 'cart/1', damage: damage('runs of cart/1#1', /event 1 is missing, and the head says 3/) }])
    await journal.close()
  })
})

describe('the log', () => {
  const page = 4096
  const frame = 24 + page
  /** The files of a journal as a killed process would leave them, without its mark. */
  async function killed(): Promise<{ copy: string; frames: number }> {
    const journal = await opening()
    await journal.raise('default', 1)
    for (let seq = 1; seq <= 10; seq++) await journal.append([run('cart/1', seq)])
    const copy = join(folder, 'copy.db')
    for (const end of ['', '-wal']) cpSync(file + end, copy + end)
    await journal.close()
    return { copy, frames: Math.floor((readFileSync(`${copy}-wal`).length - 32) / frame) }
  }
  function change(path: string, at: number): void {
    const bytes = readFileSync(path)
    bytes[at]! ^= 4
    writeFileSync(path, bytes)
  }

  test('with a bad frame before whole commits is damage, refused before SQLite drops them', async () => {
    const { copy, frames } = await killed()
    expect(examineWal(`${copy}-wal`)).toEqual({ frames })
    for (const at of [32 + 100, 32 + 2 * frame + 17, 32 + 5 * frame + 3000, 20]) {
      change(`${copy}-wal`, at)
      expect(examineWal(`${copy}-wal`).problem).toMatch(/damaged/)
      await expect(opening(copy)).rejects.toMatchObject(damage('copy.db-wal', /damaged, and/))
      change(`${copy}-wal`, at)
    }
    const whole = await opening(copy)
    expect((await whole.heads(['cart/1']))[0]!.seq).toBe(10)
    await whole.close()
  })

  test('with a bad tail is a torn write, which was never acknowledged', async () => {
    const { copy, frames } = await killed()
    change(`${copy}-wal`, 32 + frames * frame - 7)
    expect(examineWal(`${copy}-wal`)).toMatchObject({ frames: expect.any(Number) as number })
    expect(examineWal(`${copy}-wal`).problem).toBeUndefined()
    const journal = await opening(copy)
    expect((await journal.heads(['cart/1']))[0]!.seq).toBe(9)
    expect((await journal.verify()).damages).toEqual([])
    await journal.close()
  })
})

test('after an unclean end a damaged page is found before the first write', async () => {
  await filled()
  await tool(`insert into sessions values ('of a process that was killed', '{}')`)
  writeFileSync(`${file}-wal`, '')
  const bytes = readFileSync(file)
  // The last page that is in use is one of an index or a table.
  bytes.fill(0, bytes.length - 4096)
  writeFileSync(file, bytes)
  const journal = await opening().catch((cause: unknown) => cause as Error)
  if (journal instanceof Error) expect(journal).toMatchObject(damage('journal.db', /quick_check says|SQLite says/))
  else expect.unreachable('it was opened, which writes its session')
  expect(existsSync(file)).toBe(true)
})

test('random damages are refused, found or harmless', () => {
  const main = fileURLToPath(new URL('./damage/main.mjs', import.meta.url))
  const { status, stdout, signal } = spawnSync(
    process.execPath,
    [main, '--damages', '10', '--seed', '3', '--result', join(folder, 'results.jsonl')],
    {
      encoding: 'utf8',
      timeout: 150_000,
    },
  )
  expect(signal).toBeNull()
  expect(stdout).toMatch(/\n10 damages: 0 wrong states, 0 missed, 0 hangs, 0 crashes\n$/)
  expect(status).toBe(0)
  expect(readFileSync(join(folder, 'results.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(10)
})
