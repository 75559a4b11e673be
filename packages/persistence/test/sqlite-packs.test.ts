// Copies of events that were written one by one, for replay: the same events come out of them, and nothing depends on them.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSqlite, type SqliteRow } from '@troupe/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Journal, sqliteJournal, type StoredEvent } from '@troupe/persistence'
import type { WriteRow } from '../src/journal/sqlite/sqlite-protocol.ts'
import { SqliteWriter } from '../src/journal/sqlite/sqlite-writer.ts'
import { all, environment, event, owner, run } from './contract/stage.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-packs-'))
  file = join(folder, 'journal.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const opening = (): Promise<Journal> => sqliteJournal(file, { synchronous: 'normal' }).open(environment)
async function tool(sql: string): Promise<readonly SqliteRow[]> {
  const connection = (await loadSqlite()).open(file)
  try {
    if (!sql.startsWith('select')) connection.exec(sql)
    return sql.startsWith('select') ? connection.prepare(sql).all() : []
  } finally {
    connection.close()
  }
}
/** The events of an id after a number, in order. */
async function replayed(journal: Journal, id: string, after = 0): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (const part of await all(journal.replay([{ id, after }], 10))) {
    if ('damage' in part) throw part.damage
    expect(part.first).toBe(after + events.length + 1)
    expect(part.events.length).toBeLessThanOrEqual(10)
    events.push(...part.events)
  }
  return events
}
/** A journal in which one actor has written its events one by one, closed. */
async function oneByOne(count: number): Promise<StoredEvent[]> {
  const journal = await opening()
  await journal.raise('default', 1)
  const events = Array.from({ length: count }, (_, i) => event(i + 1))
  for (let n = 1; n <= count; n++) expect(await journal.append([run('cart/1', n), run('cart/2', n)])).toEqual([{ is: 'stored' }, { is: 'stored' }])
  await journal.close()
  return events
}

test('what an actor wrote one by one is replayed from copies of 16 events each, and the rest from its rows', async () => {
  const events = await oneByOne(40)
  expect(await tool(`select first, last from packs where id = 'cart/1' order by first`)).toMatchObject([
    { first: 1, last: 16 },
    { first: 17, last: 32 },
  ])
  // Nothing but the copies has these events now.
  await tool(`delete from runs where id = 'cart/1' and first between 2 and 32`)
  const journal = await opening()
  for (const after of [0, 5, 16, 31, 36]) expect(await replayed(journal, 'cart/1', after)).toEqual(events.slice(after))
  expect((await journal.verify()).damages.length).toBeGreaterThan(0)
  await journal.close()
})

test.each([
  ['changed', `update packs set data = replace(data, '"n":3}', '"n":4}') where id = 'cart/1'`],
  ['missing', `delete from packs where id = 'cart/1'`],
])('a copy that is %s is passed over', async (_, sql) => {
  const events = await oneByOne(40)
  await tool(sql)
  const journal = await opening()
  expect(await replayed(journal, 'cart/1')).toEqual(events)
  expect(await replayed(journal, 'cart/2', 7)).toEqual(events.slice(7))
  expect((await journal.verify()).damages.map(({ where }) => where)).toEqual(sql.startsWith('update') ? [`${file}, packs of cart/1#1`] : [])
  await journal.close()
})

test('copies go with the events that are deleted', async () => {
  const events = await oneByOne(40)
  const journal = await opening()
  await journal.raise('default', 2)
  expect(await journal.deleteEvents('cart/1', 20, { ...owner, epoch: 2 })).toEqual({ is: 'stored' })
  expect(await replayed(journal, 'cart/1', 20)).toEqual(events.slice(20))
  await journal.close()
  expect(await tool('select id, first from packs order by id, first')).toMatchObject([
    { id: 'cart/1', first: 17 },
    { id: 'cart/2', first: 1 },
    { id: 'cart/2', first: 17 },
  ])
})

test('whatever runs an actor has written, and by however many processes, the same events come back', async () => {
  let seed = 3
  const below = (most: number): number => ((seed = (seed * 16_807) % 2_147_483_647) >> 8) % most
  const written: StoredEvent[] = []
  let journal = await opening()
  await journal.raise('default', 1)
  for (let epoch = 1; written.length < 400;) {
    // Mostly one, and mostly alike.
    const count = below(8) > 0 ? 1 : 1 + below(9)
    const events = Array.from({ length: count }, (_, i) => {
      const odd = below(60)
      const n = written.length + i + 1
      if (odd === 0) return event(n, { type: '","version":1,"time":5', time: 0.5 })
      if (odd === 1) return event(n, { tags: [',"time":7'], subject: 'anna' })
      if (odd === 2) return event(n, { data: `"a\n\u0001 line ${n}"`, version: 2 })
      if (odd === 3) return event(n, { data: JSON.stringify('x'.repeat(5000)) })
      return event(n)
    })
    expect(await journal.append([run('cart/1', written.length + 1, 0, { events, epoch })])).toEqual([{ is: 'stored' }])
    written.push(...events)
    if (below(40) > 0) continue
    await journal.close()
    journal = await opening()
    await journal.raise('default', ++epoch)
  }
  for (let after = 0; after < written.length; after += 1 + below(17)) expect(await replayed(journal, 'cart/1', after)).toEqual(written.slice(after))
  expect((await journal.verify()).damages).toEqual([])
  await journal.close()
  const [{ n }] = (await tool('select count(*) as n from packs')) as [{ n: number }]
  expect(n).toBeGreaterThan(5)
})

test('what was rolled back is in no copy', async () => {
  const driver = await loadSqlite()
  const open = (session: string): SqliteWriter => {
    const writer = new SqliteWriter({ path: file, synchronous: 'normal', session, guard: new SharedArrayBuffer(4) }, driver)
    writer.open()
    return writer
  }
  const [one, other] = [open('one'), open('other')]
  const rows = (n: number, data: string): WriteRow[] => {
    const head = `{"type":"added","version":1,"time":${n}}`
    return [{ scope: '', epoch: 0, run: { id: 'cart/1', first: n, last: n, head, data: `${data}\n` } }]
  }
  for (let n = 1; n <= 7; n++) expect(one.append([rows(n, `"${n}"`)])).toEqual([['stored']])
  const failing = (): unknown =>
    one.transaction((writes) => {
      expect(writes.append(rows(8, '"never"'))).toEqual(['stored'])
      throw new Error('rolled back')
    })
  expect(failing).toThrow('rolled back')
  expect(other.append([rows(8, '"8"')])).toEqual([['stored']])
  for (let n = 9; n <= 16; n++) expect(one.append([rows(n, `"${n}"`)])).toEqual([['stored']])
  one.close()
  other.close()
  expect(await tool('select data from packs')).toMatchObject([{ data: Array.from({ length: 16 }, (_, i) => `"${i + 1}"\n`).join('') }])
})
