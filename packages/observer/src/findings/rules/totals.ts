// What only grows though it should come and go, what policies threw away, and a ledger that does not add up.

import type { LedgerReport } from '@troupe/core'
import type { Picture } from '../../survey/picture.ts'
import type { Clue } from '../finding.ts'
import type { Frame } from '../frame.ts'
import { count, duration, times } from '../words.ts'

/** How long something must not have become less, by how much it must have grown, and in how many looks. */
const growsFor = 30_000
const growsBy = 100
const growsSteps = 10
const droppedWithin = 60_000

/** One number that is followed: since when it has not become less. */
class Growth {
  since: number
  from: number
  last: number
  steps = 0
  constructor(at: number, value: number) {
    this.since = at
    this.from = value
    this.last = value
  }
  follow(at: number, value: number): void {
    if (value < this.last) {
      this.since = at
      this.from = value
      this.steps = 0
    } else if (value > this.last) this.steps++
    this.last = value
  }
  grows(at: number): boolean {
    return at - this.since >= growsFor && this.last - this.from >= growsBy && this.steps >= growsSteps
  }
}

export class Totals {
  #timers: Growth | undefined
  readonly #families = new Map<number, Growth>()
  #drops: Readonly<Record<string, number>> | undefined
  readonly #dropped = new Map<string, { at: number; first: number; count: number }>()
  #ledgerOff: number | undefined
  #ledger: LedgerReport | undefined;

  *clues(frame: Frame, picture: Picture): Iterable<Clue> {
    const { at, metrics } = frame
    if (this.#timers === undefined) this.#timers = new Growth(at, metrics.timers)
    else this.#timers.follow(at, metrics.timers)
    if (this.#timers.grows(at)) yield timers(this.#timers, at, picture)
    yield* this.#population(at, picture)
    yield* this.#drop(at, metrics.dropReasons)
    yield* this.#account(at, frame.ledger)
  }

  *#population(at: number, picture: Picture): Iterable<Clue> {
    for (const uid of this.#families.keys()) if (!picture.children.has(uid)) this.#families.delete(uid)
    for (const [uid, children] of picture.children) {
      const growth = this.#families.get(uid)
      // Those with few children are not followed: there may be as many of them as there are actors.
      if (growth === undefined) {
        if (children >= 8) this.#families.set(uid, new Growth(at, children))
        continue
      }
      growth.follow(at, children)
      if (growth.grows(at)) yield population(uid, growth, at)
    }
  }

  *#drop(at: number, reasons: Readonly<Record<string, number>>): Iterable<Clue> {
    const before = this.#drops
    this.#drops = { ...reasons }
    for (const reason of ['mailbox-overflow', 'stash-overflow', 'middleware']) {
      const more = before === undefined ? 0 : (reasons[reason] ?? 0) - (before[reason] ?? 0)
      const known = this.#dropped.get(reason)
      if (more > 0) this.#dropped.set(reason, { at, first: known?.first ?? at, count: (known?.count ?? 0) + more })
      const entry = this.#dropped.get(reason)
      if (entry === undefined) continue
      if (at - entry.at > droppedWithin) this.#dropped.delete(reason)
      else yield drops(reason, entry)
    }
  }

  *#account(at: number, ledger: LedgerReport | undefined): Iterable<Clue> {
    if (ledger !== undefined) {
      const { sent, ...rest } = ledger
      const off = sent - Object.values(rest).reduce((sum, n) => sum + n, 0)
      this.#ledger = ledger
      this.#ledgerOff = off === 0 ? undefined : (this.#ledgerOff ?? at)
    }
    if (this.#ledgerOff !== undefined && this.#ledger !== undefined) yield ledgerOff(this.#ledger, this.#ledgerOff)
  }
}

function timers({ since, from, last }: Growth, at: number, picture: Picture): Clue {
  let most = 0
  let whose: number | undefined
  const { timers: held, uid } = picture.columns
  for (let row = 0; row < picture.used; row++) if (uid[row] !== 0 && held[row]! > most) [most, whose] = [held[row]!, uid[row]!]
  return {
    rule: 'timers-grow',
    severity: 'warning',
    key: 'timers',
    uids: whose === undefined ? [] : [whose],
    since,
    evidence: { timers: last, more: last - from, most },
    tell: (names) => ({
      subject: whose === undefined ? 'timers' : names.of(whose),
      sentence: `${count(last)} timers and deadlines are armed, ${count(last - from)} more than ${duration(at - since)} ago, and never fewer in between${whose === undefined ? '' : `; it holds ${count(most)} of them`}`,
    }),
  }
}

function population(uid: number, { since, from, last }: Growth, at: number): Clue {
  return {
    rule: 'population-grows',
    severity: 'warning',
    key: String(uid),
    uids: [uid],
    since,
    evidence: { children: last, more: last - from },
    tell: (names) => ({
      subject: names.of(uid),
      sentence: `it has ${count(last)} children, ${count(last - from)} more than ${duration(at - since)} ago, and never fewer in between: does anybody stop them?`,
    }),
  }
}

function drops(reason: string, { first, count: dropped }: { readonly first: number; readonly count: number }): Clue {
  return {
    rule: 'drops',
    severity: 'warning',
    key: reason,
    uids: [],
    since: first,
    evidence: { dropped, reason },
    tell: () => ({ subject: reason, sentence: `${times(dropped, 'message')} dropped by a policy` }),
  }
}

function ledgerOff(ledger: LedgerReport, since: number): Clue {
  const { sent, ...rest } = ledger
  const sum = Object.values(rest).reduce((all, n) => all + n, 0)
  return {
    rule: 'ledger-off',
    severity: 'error',
    key: 'ledger',
    uids: [],
    since,
    evidence: { sent, sum },
    tell: () => ({
      subject: 'ledger',
      sentence: `${count(sent)} messages were sent and ${count(sum)} are accounted for: this is a bug of Troupe, please report it`,
    }),
  }
}
