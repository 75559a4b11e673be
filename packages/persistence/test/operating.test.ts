// Looking after a journal without a system: opening, looking, copies of a file in use, and an import that did not come to its end.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  backupSqlite,
  eventSourced,
  exportJournal,
  importJournal,
  type Journal,
  journalAt,
  type Kind,
  kindStats,
  listIds,
  memory,
  openJournal,
  showId,
  snapshotKey,
  sqliteJournal,
} from '@troupe/persistence'
import { loadSqlite } from '@troupe/sqlite'
import { event, run } from './contract/stage.ts'

const scratch = mkdtempSync(join(tmpdir(), 'troupe-operating-'))
let made = 0
const file = (): string => join(scratch, `${++made}.db`)
const opened: Journal[] = []
const open = async (source: Parameters<typeof openJournal>[0]): Promise<Journal> => {
  const journal = await openJournal(source)
  opened.push(journal)
  return journal
}
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close()
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const owner = { scope: 'default', epoch: 1 }
async function filled(journal: Journal): Promise<Journal> {
  await journal.raise('default', 1)
  await journal.append([run('cart/1', 1, 5), run('cart/2', 1, 2), run('order/1', 1, 1)])
  await journal.append([
    { write: 'state', id: 'settings/1', expected: 0, revision: 3, version: 1, data: '{}', subject: undefined, time: 1, timers: [], ...owner },
  ])
  await journal.saveSnapshot({ id: 'cart/1', seq: 4, version: 1, data: '{}', time: 1, ...owner })
  await journal.deleteEvents('cart/1', 2, owner)
  return journal
}

test('one id is shown from its first event that is there, from a number on, and not more than was asked for', async () => {
  const journal = await filled(await open(memory()))
  const seqs = async (...args: [string, { after?: number; most?: number }?]): Promise<number[]> =>
    (await showId(journal, ...args)).events.map(({ seq }) => seq)
  expect(await seqs('cart/1')).toEqual([3, 4, 5])
  expect(await seqs('cart/1', { after: 4 })).toEqual([5])
  expect(await seqs('cart/1', { most: 2 })).toEqual([3, 4])
  expect((await showId(journal, 'cart/1', { most: 1 })).events).toEqual([{ ...event(3), seq: 3 }])
  expect(await showId(journal, 'nobody/1')).toEqual({
    head: { id: 'nobody/1', seq: 0, deleted: 0, snapshot: undefined, state: undefined },
    events: [],
  })
})

test('ids are listed beyond a page, and kinds are summed up', async () => {
  const journal = await filled(await open(memory()))
  for (let i = 0; i < 1001; i++) await journal.append([run(`many/${String(i).padStart(4, '0')}`, 1)])
  const ids: string[] = []
  for await (const { id } of listIds(journal, { kind: 'many' })) ids.push(id)
  expect(ids.length).toBe(1001)
  expect(await kindStats(journal)).toEqual([
    { kind: 'cart', ids: 2, events: 5, deleted: 2, snapshots: 1, states: 0 },
    { kind: 'many', ids: 1001, events: 1001, deleted: 0, snapshots: 0, states: 0 },
    { kind: 'order', ids: 1, events: 1, deleted: 0, snapshots: 0, states: 0 },
    { kind: 'settings', ids: 1, events: 0, deleted: 0, snapshots: 0, states: 1 },
  ])
})

test('a place without a journal is refused and stays as it is, unless one may be made', async () => {
  const place = file()
  await expect(openJournal(journalAt(place))).rejects.toMatchObject({
    code: 'journal-unavailable',
    message: expect.stringContaining(`there is no file ${place}`) as string,
  })
  expect(existsSync(place)).toBe(false)
  await open(journalAt(place, { make: true }))
  expect(existsSync(place)).toBe(true)
  await expect(openJournal(journalAt(scratch))).rejects.toMatchObject({
    code: 'journal-refused',
    message: expect.stringContaining(`${scratch} is a directory; name a file in it`) as string,
  })
  await expect(openJournal(journalAt('postgres://x@127.0.0.1:1/x'))).rejects.toMatchObject({ code: 'journal-unavailable' })
})

test('looking takes nothing over: whoever writes goes on', async () => {
  const place = file()
  const writer = await filled(await open(sqliteJournal(place)))
  const other = await open(journalAt(place))
  expect(await other.stats()).toMatchObject({ ids: 4, events: 6 })
  expect((await other.verify()).damages).toEqual([])
  expect((await writer.append([run('cart/1', 6)]))[0]).toEqual({ is: 'stored' })
})

test('a snapshot is taken beside the system that owns the journal, and not after another one does', async () => {
  const journal = await open(memory())
  await journal.raise('default', 3)
  const events = [1, 2, 3].map((n) => event(n, { type: 'added', data: `{"type":"added","by":${n}}` }))
  await journal.append([run('counter/a', 1, 0, { events, epoch: 3 })])
  const counter: Kind<never> = eventSourced('counter', { initial: () => 10, events: { added: (n, e: { by: number }) => n + e.by }, commands: {} })
  expect(await snapshotKey(journal, counter, 'a')).toBe(3)
  expect((await journal.heads(['counter/a']))[0]!.snapshot).toMatchObject({ seq: 3, version: 1, data: '{"state":16}' })
  expect((await journal.append([run('counter/a', 4, 1, { epoch: 3 })]))[0]).toEqual({ is: 'stored' })
  // Somebody else takes over while it reads.
  const heads = journal.heads.bind(journal)
  journal.heads = async (ids) => {
    await journal.raise('default', 4)
    return heads(ids)
  }
  await journal.append([run('counter/b', 1, 0, { events: [event(1, { data: '{"type":"added","by":1}' })], epoch: 3 })])
  await expect(snapshotKey(journal, counter, 'b')).rejects.toMatchObject({
    code: 'retention-refused',
    message: expect.stringContaining('fenced') as string,
  })
})

test('a backup of a journal in use is whole, the same journal, and never overwrites another', async () => {
  const [place, copy] = [file(), file()]
  const journal = await filled(await open(sqliteJournal(place)))
  await backupSqlite(place, copy)
  await journal.append([run('cart/1', 6)])
  const backup = await open(sqliteJournal(copy))
  expect(backup.identity).toBe(journal.identity)
  expect(await backup.stats()).toMatchObject({ ids: 4, events: 6 })
  expect((await backup.verify()).damages).toEqual([])
  await expect(backupSqlite(place, copy)).rejects.toMatchObject({ code: 'journal-refused' })
  await expect(backupSqlite(file(), file())).rejects.toMatchObject({ code: 'journal-unavailable' })
})

test('a journal whose import was broken off by the end of its process is refused until it is removed', async () => {
  const [place, copy] = [file(), file()]
  const source = await filled(await open(memory()))
  const target = await open(sqliteJournal(place))
  let go!: () => void
  const waiting = new Promise<void>((resolve) => (go = resolve))
  let begun!: () => void
  const isBegun = new Promise<void>((resolve) => (begun = resolve))
  const slow = (async function* () {
    yield* exportJournal(source)
    // The last line is there, and the end of the text is not.
    begun()
    await waiting
  })()
  const importing = importJournal(target, slow)
  await isBegun
  // What the file is at this moment is what is left when the process ends.
  await expect(openJournal(sqliteJournal(place))).rejects.toMatchObject({
    code: 'journal-refused',
    message: expect.stringContaining('is under way') as string,
  })
  await copyFile(place, copy)
  await expect(openJournal(sqliteJournal(copy))).rejects.toMatchObject({
    code: 'journal-refused',
    message: expect.stringContaining('is under way, or did not end; if it did not, remove the file and import again') as string,
  })
  go()
  await importing
  expect(await (await open(sqliteJournal(place))).stats()).toMatchObject({ ids: 4, events: 6 })
})

/** By another connection: as a journal it is not let in. */
async function copyFile(from: string, to: string): Promise<void> {
  const connection = (await loadSqlite()).open(from)
  connection.exec(`vacuum into '${to}'`)
  connection.close()
}
