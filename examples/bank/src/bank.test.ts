// The bank on virtual time, with a journal that refuses, loses and delays, and systems that end in the middle; and one real kill -9.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createTestKit } from '@troupe/testkit'
import { type MemorySource, memory, openJournal } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { Auditor } from './auditor.ts'
import { Accounts } from './bank.ts'
import { customer, seeded } from './customers.ts'

/** One life of a bank: it opens, customers come, and it ends without a word. */
async function life(journal: MemorySource, seed: number, ms: number): Promise<string[]> {
  const accounts = new Accounts(6)
  const acknowledged: string[] = []
  const kit = createTestKit({ seed, extensions: [accounts.extension(journal)] })
  accounts.open(kit.system)
  const tally = { accepted: (transfer: string) => void acknowledged.push(transfer), refused: () => undefined, unknown: () => undefined }
  const random = seeded(seed)
  for (let i = 0; i < 4; i++) kit.system.spawn(customer(accounts, tally, { name: `${seed}-${i}`, random, now: () => 0 }))
  await kit.advance(ms)
  for (const name of accounts.names) kit.system.kill(accounts.get(name))
  const down = kit.system.shutdown({ deadline: 1 })
  await kit.advance(1000)
  await down
  return acknowledged
}

test.each([1, 2, 3])('money and acknowledged transfers survive whatever the journal does, and every end of the bank (seed %d)', async (seed) => {
  const journal = memory()
  const auditor = new Auditor(new Accounts(6).names)
  let acknowledged = 0
  for (let round = 1; round <= 5; round++) {
    Object.assign(journal.faults, { delay: 5, fail: 0.02, unknown: 0.02 })
    const told = await life(journal, seed * 100 + round, 300)
    acknowledged += told.length
    Object.assign(journal.faults, { delay: 0, fail: 0, unknown: 0 })
    const reader = await openJournal(journal)
    await auditor.read(reader)
    await reader.close()
    expect(auditor.problems).toEqual([])
    expect(auditor.books.money).toBe(6000)
    expect(told.filter((transfer) => !auditor.has(transfer))).toEqual([])
  }
  expect(acknowledged).toBeGreaterThan(100)
  // The last time nothing goes wrong: what is in flight arrives, and the accounts say what their events say.
  const accounts = new Accounts(6)
  const kit = createTestKit({ extensions: [accounts.extension(journal)] })
  accounts.open(kit.system)
  await kit.advance(5000)
  const said = accounts.balances()
  await kit.advance(100)
  const reader = await openJournal(journal)
  await auditor.read(reader)
  await reader.close()
  expect(auditor.books).toMatchObject({ inFlight: 0, underWay: 0, inAccounts: 6000 })
  expect(Object.fromEntries(await said)).toEqual(Object.fromEntries(auditor.balances))
  await kit.end()
})

test('the auditor notices money that was lost, doubled or made up', () => {
  const accounts = ['a', 'b']
  const sent = { type: 'sent', transfer: 't', to: 'b', amount: 5 } as const
  const received = { type: 'received', transfer: 't', from: 'a', amount: 5 } as const
  const audit = (entries: readonly [string, typeof sent | (Omit<typeof received, 'amount'> & { amount: number })][]): Auditor => {
    const auditor = new Auditor(accounts)
    for (const [name, entry] of entries) auditor.take(name, entry)
    return auditor
  }
  expect(audit([['a', sent]])).toMatchObject({ balanced: true, books: { inAccounts: 1995, inFlight: 5, underWay: 1 } })
  expect(audit([['a', sent], ['b', received]])).toMatchObject({ balanced: true, books: { inAccounts: 2000, inFlight: 0 } }) // prettier-ignore
  expect(audit([['a', sent], ['b', received], ['b', received]])).toMatchObject({ balanced: false, books: { money: 2005 } }) // prettier-ignore
  expect(audit([['b', received]])).toMatchObject({ balanced: false, books: { money: 2005 } })
  expect(audit([['a', sent], ['b', { ...received, amount: 6 }]])).toMatchObject({ balanced: false, books: { money: 2001 } }) // prettier-ignore
  expect(audit([['a', sent], ['a', sent]])).toMatchObject({ balanced: false }) // prettier-ignore
})

test('a bank that is killed with SIGKILL while it works has lost nothing', { timeout: 180_000 }, () => {
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--chaos', '--rounds', '3', '--accounts', '20'], {
    encoding: 'utf8',
    timeout: 170_000,
  })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/✓ acknowledged [1-9][\d,]*, recovered [1-9][\d,]*, money 20,000 of 20,000, lost 0\n$/)
  expect(status).toBe(0)
})
