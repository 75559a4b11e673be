// A day at the bank: customers come and go, and an auditor who reads the journal beside them counts the money all the time.

import { openJournal } from '@troupe/persistence'
import { opening } from './account.ts'
import { Auditor } from './auditor.ts'
import { openBank } from './bank.ts'
import { customer, seeded, type Tally } from './customers.ts'
import type { BankOptions } from './options.ts'
import { bold, columns, dim, figure, green, isTerminal, keep, panel, red, right, say } from './screen.ts'
import { journalAt, type Store } from './store.ts'

/** How many latencies are looked at. */
const recent = 2000

class Figures implements Tally {
  done = 0
  turnedDown = 0
  failed = 0
  readonly #ms: number[] = []
  accepted(_transfer: string, ms: number): void {
    this.#ms[this.done++ % recent] = ms
  }
  refused(): void {
    this.turnedDown++
  }
  unknown(): void {
    this.failed++
  }
  latency(part: number): string {
    const sorted = this.#ms.toSorted((a, b) => a - b)
    return `${(sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1)} ms`
  }
}

/** Opens the bank for a while; says whether all the money was there at the end. */
export async function day(options: BankOptions, store: Store, over: AbortSignal): Promise<boolean> {
  const { accounts: count, customers, seconds, seed } = options
  const started = performance.now()
  const { system, accounts } = await openBank(journalAt(store.place), count)
  const opened = performance.now()
  const journal = await openJournal(journalAt(store.place))
  const auditor = new Auditor(accounts.names)
  await auditor.read(journal)
  const before = auditor.books.transfers
  say(`${bold('The bank is open')}: ${figure(count)} accounts with ${figure(auditor.total)} in all, ${figure(customers)} customers`)
  say(dim(`${store.name}; ${before === 0 ? 'new' : `${figure(before)} transfers of earlier days, recovered in ${figure(opened - started)} ms`}`))
  say()

  const tally = new Figures()
  const random = seeded(seed + before)
  const now = (): number => performance.now()
  const refs = Array.from({ length: customers }, (_, i) =>
    system.spawn(customer(accounts, tally, { name: `${Date.now().toString(36)}-${i}`, random, now })),
  )
  let last = { at: opened, done: 0 }
  const rates: number[] = []
  let lines = 0
  while (!over.aborted && now() - opened < seconds * 1000) {
    await pause(Math.min(200, seconds * 1000), over)
    await auditor.read(journal)
    rates.push(((tally.done - last.done) / (now() - last.at)) * 1000)
    last = { at: now(), done: tally.done }
    if (isTerminal) panel(picture(auditor, tally, rates, (now() - opened) / 1000))
    else if (now() - opened > ++lines * 1000) say(oneLine(auditor, tally, (now() - opened) / 1000))
    else lines--
  }
  await Promise.all(refs.map((ref) => ref.ask({ type: 'leave' }, { timeout: 60_000 })))
  // What is in flight arrives; nothing new leaves.
  do await auditor.read(journal)
  while (auditor.books.underWay > 0 && (await pause(20)))
  panel(picture(auditor, tally, rates, (now() - opened) / 1000))
  keep()
  const said = await accounts.balances()
  const differ = [...said].filter(([name, balance]) => auditor.balances.get(name) !== balance)
  await system.shutdown({ drain: true })
  await journal.close()
  const { transfers, money } = auditor.books
  const well = auditor.balanced && differ.length === 0
  say(isTerminal ? '' : oneLine(auditor, tally, (now() - opened) / 1000))
  say(
    well
      ? `${green('✓')} ${figure(transfers)} transfers left one account and reached another, each once; the money is ${figure(money)}, as ever`
      : `${red('✗')} the money is not what it was: ${[...auditor.problems, ...differ.map(([name]) => `account ${name} says something else than its events`)].join('; ')}`,
  )
  if (tally.failed > 0) say(dim(`  ${figure(tally.failed)} transfers had no answer`))
  if (options.data === undefined && options.store === 'sqlite')
    say(dim('  next: npm run bank -- --chaos kills it again and again; --data bank-data keeps it for another day'))
  return well
}

function picture(auditor: Auditor, tally: Figures, rates: readonly number[], seconds: number): string[] {
  const { inAccounts, inFlight, underWay, money } = auditor.books
  const rate = rates.at(-1) ?? 0
  const balances = [...auditor.balances.values()]
  const perColumn = Math.ceil(balances.length / 50)
  const shown = Array.from({ length: Math.ceil(balances.length / perColumn) }, (_, i) => {
    const some = balances.slice(i * perColumn, (i + 1) * perColumn)
    return some.reduce((sum, balance) => sum + balance, 0) / some.length
  })
  return [
    `  transfers     ${right(tally.done, 9)}   ${dim(`${right(rate, 6)} per second   ${seconds.toFixed(1)} s`)}`,
    `  durable in    ${right(tally.latency(0.5), 9)}   ${dim(`p50; p99 ${tally.latency(0.99)}`)}`,
    `  turned down   ${right(tally.turnedDown, 9)}   ${dim('not enough money')}`,
    '',
    `  in accounts   ${right(inAccounts, 9)}   ${dim(columns(shown, opening * 2.5))}`,
    `+ in flight     ${right(inFlight, 9)}   ${dim(`${figure(underWay)} transfers between two accounts`)}`,
    `= ${bold('money')}         ${right(money, 9)}   ${auditor.balanced ? green('✓ as in the beginning') : red(`✗ ${auditor.problems[0] ?? `not ${figure(auditor.total)}`}`)}`,
    '',
    `  per second                ${dim(columns(rates.slice(-50), Math.max(1, ...rates.slice(-50)) * 1.1))}`,
  ]
}

function oneLine(auditor: Auditor, tally: Figures, seconds: number): string {
  const { inAccounts, inFlight, money } = auditor.books
  return `${right(seconds.toFixed(1), 5)} s ${right(tally.done, 10)} transfers, p50 ${tally.latency(0.5)}, p99 ${tally.latency(0.99)}; ${figure(inAccounts)} in accounts + ${figure(inFlight)} in flight = ${figure(money)}`
}

/** Waits, or less where the signal comes first. */
function pause(ms: number, over?: AbortSignal): Promise<true> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      over?.removeEventListener('abort', end)
      resolve(true)
    }
    const timer = setTimeout(end, ms)
    over?.addEventListener('abort', end)
  })
}
