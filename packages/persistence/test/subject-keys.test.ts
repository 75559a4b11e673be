// The file of the keys of subjects: what a crash, damage and other processes leave in it.

import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SubjectKeys } from '../src/journal/sqlite/subject-keys.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-keys-'))
  path = join(folder, 'keys')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const opened = (): SubjectKeys => new SubjectKeys('test', folder)
const keyOf = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const isKey = (n: number): object => ({ is: 'key', key: keyOf(n) })
const text = (): string => readFileSync(path, 'latin1')
async function listed<T>(all: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const one of all) list.push(one)
  return list
}

test('keys that are given together are written together', async () => {
  const keys = opened()
  const given = await Promise.all(Array.from({ length: 2000 }, (_, i) => keys.add(`s${i}`, keyOf(i % 256))))
  expect(given).toEqual(Array.from({ length: 2000 }, (_, i) => isKey(i % 256)))
  // Every write begins with an empty line.
  expect(text().match(/^$/gm)!.length).toBeLessThanOrEqual(3)
  const beside = opened()
  for (const i of [0, 999, 1999]) expect(await beside.find(`s${i}`)).toEqual(isKey(i % 256))
  expect(await beside.keyless(['s7', 's2000'])).toEqual([{ subject: 's2000', is: 'none' }])
  expect(await listed(beside.all())).toHaveLength(2000)
})

test('of two processes that give many subjects keys at once both have the same afterwards', async () => {
  const rivals = [opened(), opened(), opened()]
  const subjects = Array.from({ length: 60 }, (_, i) => `s${i}`)
  const given = await Promise.all(rivals.map((keys, n) => Promise.all(subjects.map((subject) => keys.add(subject, keyOf(n + 1))))))
  expect(given[1]).toEqual(given[0])
  expect(given[2]).toEqual(given[0])
  expect(await Promise.all(subjects.map((subject) => opened().find(subject)))).toEqual(given[0])
  // The first one in the file holds, also where another one was appended later.
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  await new SubjectKeys('test', elsewhere).add('s7', keyOf(9))
  appendFileSync(path, readFileSync(join(elsewhere, 'keys')))
  for (const keys of [rivals[0]!, opened()]) expect(await keys.find('s7')).toEqual(given[0]![7])
})

test('what a process was writing when it ended is nothing, and harms nobody', async () => {
  const keys = opened()
  await keys.add('anna', keyOf(1))
  const line = text().split('\n')[1]!
  for (const cut of [line.slice(0, 1), line.slice(0, 30), line.slice(0, -1), `${line.slice(0, 20)}\0\0\0\0`]) {
    appendFileSync(path, `\n${cut}`)
    expect(await opened().find('bert')).toEqual({ is: 'none' })
  }
  expect(await keys.add('bert', keyOf(2))).toEqual(isKey(2))
  const beside = opened()
  expect([await beside.find('anna'), await beside.find('bert'), await beside.find('carl')]).toEqual([isKey(1), isKey(2), { is: 'none' }])
  expect(await listed(beside.damaged())).toEqual([])
})

test('a record that cannot be read may be of anybody: nobody is given a second key', async () => {
  const keys = opened()
  await keys.add('anna', keyOf(1))
  await keys.add('bert', keyOf(2))
  writeFileSync(path, text().replace('"anna"', '?anna"'))
  const beside = opened()
  expect(await beside.find('bert')).toEqual(isKey(2))
  for (const subject of ['anna', 'carl']) await expect(beside.add(subject, keyOf(3))).rejects.toMatchObject({ code: 'journal-damaged', where: path })
  expect(await listed(beside.damaged())).toEqual([path])
  await expect(listed(beside.all())).rejects.toMatchObject({ code: 'journal-damaged' })
  // Who is erased needs none.
  await beside.erase('anna')
  expect(await opened().find('anna')).toEqual({ is: 'erased' })
})

test('a key whose subject was erased is destroyed by the next process, where one ended before it could', async () => {
  const keys = opened()
  await keys.add('anna', keyOf(0xab))
  await keys.add('bert', keyOf(0xcd))
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  await new SubjectKeys('test', elsewhere).erase('anna')
  // As far as the one had come that ended.
  appendFileSync(path, readFileSync(join(elsewhere, 'keys')))
  expect(text()).toContain('abab')
  expect(await keys.find('anna')).toEqual({ is: 'erased' })
  expect(text()).not.toContain('abab')
  expect(await keys.find('bert')).toEqual(isKey(0xcd))
  expect(await listed(opened().all())).toEqual([
    { is: 'record', subject: 'bert', key: keyOf(0xcd) },
    { is: 'record', subject: 'anna', key: undefined },
  ])
  expect(await listed(opened().damaged())).toEqual([])
})

test('a file that was put in the place of another one is read anew', async () => {
  const keys = opened()
  await keys.add('anna', keyOf(1))
  copyFileSync(path, `${path}.old`)
  await keys.add('bert', keyOf(2))
  renameSync(`${path}.old`, path)
  expect(await keys.find('bert')).toEqual({ is: 'none' })
  expect(await keys.find('anna')).toEqual(isKey(1))
})
