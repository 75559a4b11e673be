// Kills the bank with SIGKILL at any moment, also while it recovers, and opens it again. This process keeps what was acknowledged, and after
// every kill reads the journal as an auditor would. At the end it opens the bank itself: what is in flight arrives, and the accounts say
// what they have.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openJournal } from '@troupe/persistence'
import { Auditor } from './auditor.ts'
import { Accounts, openBank } from './bank.ts'
import type { Orders } from './branch.ts'
import { seeded } from './customers.ts'
import type { BankOptions } from './options.ts'
import { bold, dim, figure, green, panel, red, right, say, yellow } from './screen.ts'
import { fileIn, journalAt, type Store } from './store.ts'

const branch = fileURLToPath(new URL('./branch.js', import.meta.url))
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** One life of the bank. */
interface Life {
  /** How long it took to recover; undefined where it was killed before that. */
  readonly recovery: number | undefined
  readonly acknowledged: readonly string[]
  /** How long it was open. */
  readonly lived: number
}

/** Starts the bank, and kills it so many milliseconds after that, after it has opened, or after the first transfer was acknowledged. */
async function live(orders: Orders, ms: number, after: 'start' | 'open' | 'transfer'): Promise<Life> {
  const child = spawn(process.execPath, [branch, JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const acknowledged: string[] = []
  let recovery: number | undefined
  let open!: () => void
  let transferred!: () => void
  const opened = new Promise<void>((resolve) => (open = resolve))
  const transfer = new Promise<void>((resolve) => (transferred = resolve))
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines)
      if (line.startsWith('open ')) {
        recovery = Number(line.slice(5))
        open()
      } else {
        acknowledged.push(line)
        transferred()
      }
  })
  if (after !== 'start') await Promise.race([after === 'open' ? opened : transfer, gone])
  const since = performance.now()
  await wait(ms)
  child.kill('SIGKILL')
  await gone
  return { recovery, acknowledged, lived: performance.now() - since }
}

/** Kills and restarts the bank so many times; says whether nothing was lost. */
export async function chaos(options: BankOptions, store: Store): Promise<boolean> {
  const { rounds, seed, customers, accounts: count } = options
  const random = seeded(seed)
  const auditor = new Auditor(new Accounts(count).names)
  const acknowledged = new Set<string>()
  const journal = await openJournal(journalAt(store.place))
  await auditor.read(journal)
  const before = auditor.books.transfers
  say(
    `${bold('The bank, killed')} ${figure(rounds)} times: ${figure(count)} accounts with ${figure(auditor.total)} in all, ${figure(customers)} customers`,
  )
  say(dim(`${store.name}${before === 0 ? '' : `; ${figure(before)} transfers of earlier days`}`))
  say()
  say(dim('  kill    lived  recovered in   acknowledged        found   in accounts + in flight =   money   lost'))
  let early = 0
  try {
    for (let round = 1; round <= rounds; round++) {
      panel([dim(`  ${right(round, 4)}    running …`)])
      // Every fifth is killed soon after it was started, which is in the midst of recovery or before it.
      const atStart = round % 5 === 0
      const orders: Orders = { place: store.place, accounts: count, customers, seed: seed + round, round: Date.now() * 1000 + round }
      // The first is killed after a transfer, so that something was acknowledged however slow the machine is.
      const after = atStart ? 'start' : round === 1 ? 'transfer' : 'open'
      const life = await live(orders, atStart ? 50 + random() * 250 : random() * 400, after)
      for (const transfer of life.acknowledged) acknowledged.add(transfer)
      await auditor.read(journal)
      const lost = missing(auditor, acknowledged)
      if (life.recovery === undefined) early++
      const { transfers, inAccounts, inFlight, money } = auditor.books
      const sum = right(money, 8)
      say(
        `  ${right(round, 4)} ${right(`${figure(life.lived)} ms`, 8)}  ${right(life.recovery === undefined ? 'killed' : `${life.recovery} ms`, 12)}   ${right(acknowledged.size, 12)} ${right(transfers - before, 12)}   ${right(inAccounts, 11)}   ${right(inFlight, 9)} = ${auditor.balanced ? green(sum) : red(sum)} ${lost === 0 ? green(right(lost, 6)) : red(right(lost, 6))}`,
      )
      if (lost > 0 || !auditor.balanced) break
    }
  } finally {
    panel([])
  }
  return await closing(options, store, auditor, journal, { acknowledged, before, early })
}

/** How many transfers were acknowledged, and are not in the journal. */
function missing(auditor: Auditor, acknowledged: ReadonlySet<string>): number {
  let lost = 0
  for (const transfer of acknowledged) if (!auditor.has(transfer)) lost++
  return lost
}

/** Opens the bank a last time, in this process, and lets everything arrive. */
async function closing(
  { accounts: count, data, store: kind }: BankOptions,
  store: Store,
  auditor: Auditor,
  journal: Awaited<ReturnType<typeof openJournal>>,
  { acknowledged, before, early }: { readonly acknowledged: ReadonlySet<string>; readonly before: number; readonly early: number },
): Promise<boolean> {
  const left = auditor.books
  const { system, accounts } = await openBank(journalAt(store.place), count)
  const since = performance.now()
  do await auditor.read(journal)
  while (auditor.books.underWay > 0 && performance.now() - since < 30_000 && (await wait(20)) === undefined)
  const said = await accounts.balances()
  const differ = [...said].filter(([name, balance]) => auditor.balances.get(name) !== balance).map(([name]) => name)
  await system.shutdown({ drain: true })
  await journal.close()
  const { transfers, money, underWay } = auditor.books
  const lost = missing(auditor, acknowledged)
  say()
  say(`  ${right(acknowledged.size, 9)}  transfers were acknowledged`)
  say(`  ${right(transfers - before, 9)}  are in the journal; of the others nobody had been told when they were killed`)
  say(`  ${right(left.underWay, 9)}  were in flight at the last kill, and have arrived since`)
  if (early > 0) say(`  ${right(early, 9)}  kills came before the bank was open again`)
  say(
    `  ${right(
      [...said.values()].reduce((sum, balance) => sum + balance, 0),
      9,
    )}  is what the accounts say that they have, of ${figure(auditor.total)}`,
  )
  say()
  const well = auditor.balanced && differ.length === 0 && underWay === 0 && lost === 0 && acknowledged.size > 0
  for (const problem of auditor.problems) say(red(`  ${problem}`))
  if (differ.length > 0) say(red(`  accounts that say something else than their events: ${differ.join(', ')}`))
  if (underWay > 0) say(red(`  ${figure(underWay)} transfers are still in flight`))
  if (acknowledged.size === 0) say(yellow('  nothing was acknowledged at all, so that this run shows nothing; try more --rounds'))
  say(
    `${well ? green('✓') : red('✗')} acknowledged ${figure(acknowledged.size)}, recovered ${figure(transfers - before)}, money ${figure(money)} of ${figure(auditor.total)}, lost ${figure(lost)}`,
  )
  if (data !== undefined && kind === 'sqlite') say(dim(`kept in ${data}; npm run journal -- verify ${fileIn(data)} reads it from end to end`))
  return well
}
