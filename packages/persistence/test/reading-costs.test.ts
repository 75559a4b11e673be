// The work that reading takes, counted: what is long is read once, what is rare is found without passing all, and the loop turns meanwhile.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { type Journal, memory, sqliteJournal } from '@troupe/persistence'
import { all, environment, event, found, places, run } from './contract/stage.ts'

const ends: (() => Promise<void> | void)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const end of ends.splice(0).toReversed()) await end()
})

async function sqlite(): Promise<Journal> {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-sqlite-'))
  ends.push(() => rmSync(directory, { recursive: true, force: true }))
  const journal = await sqliteJournal(join(directory, 'journal.db')).open(environment)
  ends.push(() => journal.close())
  await journal.raise('default', 1)
  return journal
}

test.each([1000, 20_000])('SQLite reads a run of %d events once, however small the batches of a reader are', async (length) => {
  const journal = await sqlite()
  await journal.append([run('cart/1', 1, length), run('cart/2', 1, 10)])
  const parse = vi.spyOn(JSON, 'parse')
  const batches = await all(journal.events({ batch: 50, once: true }))
  // The head of each run, once; again for each batch it would be hundreds.
  expect(parse.mock.calls.length).toBe(2)
  expect(batches.every(({ length: size }) => size <= 50)).toBe(true)
  expect(places(batches.flat())).toEqual([
    ...Array.from({ length }, (_, i) => `cart/1#${i + 1}`),
    ...Array.from({ length: 10 }, (_, i) => `cart/2#${i + 1}`),
  ])
})

test('a reader of SQLite goes on after every event of a run that is longer than its batch', async () => {
  const journal = await sqlite()
  const events = Array.from({ length: 12 }, (_, i) => event(i + 1, { tags: i % 3 === 0 ? ['third'] : [] }))
  await journal.append([run('cart/1', 1, 0, { events }), run('cart/2', 1, 3)])
  for (const query of [{}, { tag: 'third' }, { kind: 'cart' }]) {
    const everything = await found(journal, query)
    for (const [i, { offset }] of everything.entries())
      for (const batch of [1, 2, 5])
        expect((await all(journal.events({ ...query, batch, once: true, after: offset }))).flat()).toEqual(everything.slice(i + 1))
  }
})

test('the journal in memory finds events of a tag and of an entity type without looking at others', async () => {
  const journal = await memory().open(environment)
  await journal.raise('default', 1)
  let looks = 0
  const events = (count: number, tag?: string) =>
    Array.from({ length: count }, (_, i) => {
      const one = event(i + 1, { tags: tag === undefined ? ['usual'] : ['usual', tag] })
      return Object.defineProperty({ ...one }, 'data', { enumerable: true, get: () => (looks++, one.data) })
    })
  await journal.append([run('cart/1', 1, 0, { events: events(5000) }), run('order/1', 1, 0, { events: events(3, 'rare') })])
  await journal.append([run('cart/2', 1, 0, { events: events(5000) }), run('cart/3', 1, 0, { events: events(2, 'rare') })])
  looks = 0
  expect(places(await found(journal, { tag: 'rare' }))).toEqual(['order/1#1', 'order/1#2', 'order/1#3', 'cart/3#1', 'cart/3#2'])
  expect(places(await found(journal, { kind: 'order' }))).toHaveLength(3)
  expect(places(await found(journal, { kind: 'cart', tag: 'rare' }))).toEqual(['cart/3#1', 'cart/3#2'])
  expect(looks).toBe(10)
  await journal.deleteEvents('order/1', 2, { scope: 'default', epoch: 1 })
  expect(places(await found(journal, { tag: 'rare' }))).toEqual(['order/1#3', 'cart/3#1', 'cart/3#2'])
  expect(places(await found(journal, { kind: 'order', tag: 'usual' }))).toEqual(['order/1#3'])
  await journal.close()
})

test('SQLite lets the loop turn while it looks for a tag that few events of long runs have', async () => {
  const journal = await sqlite()
  for (let i = 0; i < 40; i++) {
    const events = Array.from({ length: 2000 }, (_, n) => event(n + 1, { tags: n === 1999 && i === 39 ? ['rare'] : n === 0 ? ['usual'] : [] }))
    await journal.append([run(`cart/${i}`, 1, 0, { events })])
  }
  // A slow clock makes each row a slice.
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 5))
  let turns = 0
  const count = (): void => void (turns++, (counting = setImmediate(count)))
  let counting = setImmediate(count)
  expect(places(await found(journal, { tag: 'usual', kind: 'order' }))).toEqual([])
  clearImmediate(counting)
  expect(turns).toBeGreaterThan(30)
  expect(places(await found(journal, { tag: 'rare' }))).toEqual(['cart/39#2000'])
})
