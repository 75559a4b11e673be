// What an LMDB journal does about pages and records that lead to others: LMDB itself would end the process, go round in circles or pass
// over records in silence.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open as openLmdb } from 'lmdb'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Journal, lmdb } from '@troupe/persistence'
import { environment, event, run } from './contract/stage.ts'

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'troupe-pages-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const opening = (place: string): Promise<Journal> => lmdb(join(folder, place)).open(environment)

async function written(journal: Journal): Promise<number> {
  let count = 0
  for await (const some of journal.events({ batch: 100, once: true })) count += some.length
  return count
}

/** Puts something else in the place of the records of a table, but for the first ones. */
async function spoil(place: string, table: string, from = 0): Promise<void> {
  const root = openLmdb<Buffer, Buffer>({
    path: join(folder, place, 'journal.mdb'),
    noSubdir: true,
    maxDbs: 20,
    encoding: 'binary',
    keyEncoding: 'binary',
  })
  const db = root.openDB<Buffer, Buffer>({ name: table, encoding: 'binary', keyEncoding: 'binary' })
  for (const key of [...db.getKeys({})].slice(from)) await db.put(key, Buffer.from('this is no record of ours'))
  await root.close()
}

test('P8: whichever page is garbage or empty, the journal is refused, or verify names the page, or all is there', async () => {
  const journal = await opening('data')
  await journal.raise('default', 1)
  // Enough for trees of two levels, and a record that is longer than a page.
  for (let seq = 1; seq <= 60; seq++) {
    const data = JSON.stringify('x'.repeat(seq === 30 ? 10_000 : 100))
    await journal.append([run('cart/1', seq, 0, { events: [event(seq, { data, tags: ['all'] })], timers: [{ key: 'late', due: seq }] })])
  }
  expect((await journal.verify()).damages).toEqual([])
  await journal.close()
  const bytes = readFileSync(join(folder, 'data', 'journal.mdb'))
  const ends = { refused: 0, named: 0, whole: 0 }
  for (let page = 0; page < bytes.length / 4096; page++) {
    const place = `page-${page}`
    mkdirSync(join(folder, place))
    const spoilt = Buffer.from(bytes)
    spoilt.subarray(page * 4096, (page + 1) * 4096).fill(page % 2 === 0 ? 0 : 'garbage')
    writeFileSync(join(folder, place, 'journal.mdb'), spoilt)
    const again = await opening(place).catch((cause: { code: string }) => cause.code)
    if (typeof again === 'string') {
      expect(again).toMatch(/^journal-(refused|damaged)$/)
      ends.refused++
      continue
    }
    const { damages } = await again.verify()
    if (damages.length > 0) {
      ends.named++
      expect(damages[0]!.where).toMatch(/journal\.mdb, /)
    } else {
      ends.whole++
      expect([page, await written(again)]).toEqual([page, 60])
    }
    await again.close()
  }
  // Most pages of so small a file are free, or are of an earlier commit.
  expect([ends.refused > 2, ends.named > 5, ends.whole > 5]).toEqual([true, true, true])
})

test('P8: a commit that its meta page no longer says is the newest is not passed over in silence', async () => {
  const journal = await opening('data')
  await journal.raise('default', 1)
  for (let seq = 1; seq <= 3; seq++) await journal.append([run('cart/1', seq)])
  await journal.close()
  const file = join(folder, 'data', 'journal.mdb')
  const bytes = readFileSync(file)
  const at = (page: number): number => page * 4096 + 152
  const older = bytes.readUInt32LE(at(0)) < bytes.readUInt32LE(at(1)) ? 0 : 1
  bytes.writeUInt32LE(bytes.readUInt32LE(at(older)) + 256, at(older))
  writeFileSync(file, bytes)
  await expect(opening('data')).rejects.toMatchObject({
    code: 'journal-damaged',
    message: expect.stringMatching(/page \d+: it is of transaction/) as string,
  })
})

test('P7: a group that meets a damaged timer leaves nothing behind, and says that it failed', async () => {
  const journal = await opening('data')
  await journal.raise('default', 1)
  await journal.append([run('cart/1', 1, 1, { timers: [{ key: 't', due: 5 }] })])
  await journal.close()
  await spoil('data', 'timers')
  const again = await opening('data')
  const [other, spoilt] = await again.append([run('cart/2', 1), run('cart/1', 2, 1, { timers: [{ key: 't', due: undefined }] })])
  expect([other, spoilt]).toMatchObject([{ is: 'failed' }, { is: 'failed', cause: { code: 'journal-damaged' } }])
  expect(await again.heads(['cart/1', 'cart/2'])).toMatchObject([{ seq: 1 }, { seq: 0 }])
  expect(await written(again)).toBe(1)
  expect(await again.append([run('cart/2', 1)])).toEqual([{ is: 'stored' }])
  await again.close()
})

test('P13: a deletion that meets a damaged record of the log deletes nothing', async () => {
  const journal = await opening('data')
  await journal.raise('default', 1)
  for (let seq = 1; seq <= 3; seq++) await journal.append([run('cart/1', seq)])
  await journal.close()
  await spoil('data', 'log', 1)
  const again = await opening('data')
  expect(await again.deleteEvents('cart/1', 2, { scope: 'default', epoch: 1 })).toMatchObject({ is: 'failed', cause: { code: 'journal-damaged' } })
  expect(await again.heads(['cart/1'])).toMatchObject([{ seq: 3, deleted: 0 }])
  const parts = []
  for await (const part of again.replay([{ id: 'cart/1', after: 0 }], 10)) if ('events' in part) parts.push(...part.events)
  expect(parts).toHaveLength(3)
  await again.close()
})
