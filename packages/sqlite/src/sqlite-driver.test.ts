import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { chooseSqlite, isAccepted, loadSqlite, oldestSqlite, type SqliteCandidate, SqliteMissing, sqliteResult } from './index.ts'

const candidate = (module: string, version?: string): SqliteCandidate => ({
  module,
  load: () => Promise.resolve(version === undefined ? undefined : { module, version, open: () => expect.unreachable() }),
})

test('SQLite 3.51.3 and later is accepted, older is not', () => {
  expect(['3.51.3', '3.51.10', '3.52.0', '3.100.0', '4.0.0', '3.52'].map(isAccepted)).toEqual([true, true, true, true, true, true])
  expect(['3.51.2', '3.50.9', '3.7.17', '2.99.99', '3.51', ''].map(isAccepted)).toEqual([false, false, false, false, false, false])
})

describe('the SQLite that is chosen', () => {
  test('is the first that is recent enough', async () => {
    const chosen = await chooseSqlite([candidate('a'), candidate('b', '3.45.1'), candidate('c', oldestSqlite), candidate('d', '3.99.0')], 'Node 22')
    expect(chosen.module).toBe('c')
  })

  test('is missing on a runtime without one, with both remedies', async () => {
    await expect(chooseSqlite([candidate('a')], 'Node 20.20.2')).rejects.toMatchObject({
      tooOld: false,
      message: 'Node 20.20.2 has no SQLite; run npm install @photostructure/sqlite@1, or use Node 24 or later, a recent Node 22, Bun or Deno',
    })
  })

  test('is refused if all are too old, with what was found', async () => {
    const failure: unknown = await chooseSqlite([candidate('node:sqlite', '3.50.4')], 'Node 22.13.0').catch((cause: unknown) => cause)
    expect(failure).toBeInstanceOf(SqliteMissing)
    expect(failure).toMatchObject({
      tooOld: true,
      message: expect.stringMatching(
        /^SQLite 3\.51\.3 or later is needed.*\(node:sqlite has 3\.50\.4\).*npm install @photostructure\/sqlite@2/,
      ) as string,
    })
  })
})

test('the SQLite of this runtime runs statements, and reports result codes', async () => {
  const warning = Object.getOwnPropertyDescriptor(process, 'emitWarning')
  const warnings: string[] = []
  const onWarning = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', onWarning)
  const driver = await loadSqlite()
  expect(Object.getOwnPropertyDescriptor(process, 'emitWarning')).toEqual(warning)
  // A warning is reported in a later turn. Node 22 has one that SQLite is experimental.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', onWarning)
  expect(warnings.filter((text) => text.includes('SQLite'))).toEqual([])
  expect(isAccepted(driver.version)).toBe(true)
  const connection = driver.open(':memory:')
  connection.exec('create table numbers (n integer primary key, text text) strict')
  const insert = connection.prepare('insert into numbers values (?, ?)')
  expect([insert.run(1, 'ä😀'), insert.run(2 ** 52, null)]).toEqual([1, 1])
  const select = connection.prepare('select * from numbers order by n')
  expect(select.all().map((row) => Object.entries(row))).toEqual([
    [
      ['n', 1],
      ['text', 'ä😀'],
    ],
    [
      ['n', 2 ** 52],
      ['text', null],
    ],
  ])
  expect([...select.iterate()].map((row) => row['n'])).toEqual([1, 2 ** 52])
  expect(connection.prepare('select * from numbers where n = ?').get(7)).toBeUndefined()
  const failure = ((): unknown => {
    try {
      return insert.run(1, null)
    } catch (cause) {
      return cause
    }
  })()
  expect(sqliteResult(failure)! & 0xff).toBe(19)
  expect([sqliteResult(new Error('x')), sqliteResult(undefined), sqliteResult(Object.assign(new Error('x'), { errno: 5 }))]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  connection.close()
})

test('rows go on though nobody keeps their statement, and a selection once leaves no lock behind', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const connection = (await loadSqlite()).open(':memory:')
  connection.exec('create table numbers (n integer primary key) strict')
  for (let n = 1; n <= 50; n++) connection.exec(`insert into numbers values (${n})`)
  const all = Array.from({ length: 20 }, () => connection.prepare('select n from numbers order by n').iterate())
  for (let n = 1; n <= 50; n++) {
    if (n % 10 === 0) gc()
    for (const rows of all) expect(rows.next().value?.['n']).toBe(n)
    if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  for (const rows of all) expect(rows.next().done).toBe(true)
  expect(connection.select(['n', 'n + 1'], 'from numbers where n > 48')).toEqual([
    { n: 49, 'n + 1': 50 },
    { n: 50, 'n + 1': 51 },
  ])
  connection.close()
})
