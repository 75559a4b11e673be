// The process that is killed: opens the bank and lets customers in. Says on its output, line by line, that it is open, and which transfers
// were acknowledged, as soon as they were.

import { writeSync } from 'node:fs'
import { openBank } from './bank.ts'
import { customer, seeded, type Tally } from './customers.ts'
import { journalAt, type Place } from './store.ts'

/** What a branch is told. */
export interface Orders {
  readonly place: Place
  readonly accounts: number
  readonly customers: number
  readonly seed: number
  /** Makes the names of its transfers its own. */
  readonly round: number
}

/** At once, past every buffer of ours: what was said is the reader's, whatever becomes of this process. */
const say = (line: string): void => void writeSync(1, `${line}\n`)

const { place, accounts: count, customers, seed, round } = JSON.parse(process.argv[2]!) as Orders
const started = performance.now()
const { system, accounts } = await openBank(journalAt(place), count)
say(`open ${Math.round(performance.now() - started)}`)
const tally: Tally = { accepted: say, refused: () => undefined, unknown: () => undefined }
const random = seeded(seed)
for (let i = 0; i < customers; i++) system.spawn(customer(accounts, tally, { name: `${round}-${i}`, random, now: () => performance.now() }))
