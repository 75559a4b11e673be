// The ledger of a whole cluster from what its nodes wrote down at one consistent cut: pure. What one has sent and another not received was
// under way between two that live; where one of them has ended nobody knows what became of it.

import type { LedgerReport } from '@troupe/core'
import type { Flow } from './flows.ts'

type Counts = Omit<LedgerReport, 'queued' | 'stashed' | 'inProgress'>

/** What a session has done so far, as it told the others last. */
export interface Account extends Counts {
  /** Counts what a session told. */
  readonly beat: number
  readonly flows: Readonly<Record<string, Flow>>
}

/** What one node wrote down at a cut. */
export interface CutPart {
  readonly session: string
  readonly ledger: LedgerReport
  readonly flows: Readonly<Record<string, Flow>>
  /** The last accounts of sessions that have ended, as far as it had them. */
  readonly ended: Readonly<Record<string, Account>>
}

const zero: Flow = { sent: 0, received: 0, brokenSent: 0, brokenReceived: 0 }

/** `late` are accounts of sessions that ended after the parts were written down. */
export function addUp(parts: readonly CutPart[], late: Readonly<Record<string, Account>> = {}): LedgerReport {
  const sum = { sent: 0, handled: 0, failed: 0, unhandled: 0, dropped: 0, deadLettered: 0, queued: 0, stashed: 0, inProgress: 0, unknown: 0 }
  const living = new Map(parts.map((part) => [part.session, part]))
  const ended = newest([late, ...parts.map((part) => part.ended)], living)
  for (const { ledger } of parts) for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += ledger[key]
  for (const account of ended.values()) {
    for (const key of ['sent', 'handled', 'failed', 'unhandled', 'dropped', 'deadLettered', 'unknown'] as const) sum[key] += account[key]
    // What it had in its mailboxes when it told of itself last.
    sum.unknown += openIn(account)
  }
  const sides = new Map<string, { readonly flows: Readonly<Record<string, Flow>> }>([...living, ...ended])
  for (const [from, { flows }] of sides)
    for (const to of others(from, flows, sides)) {
      const out = flows[to]
      const back = sides.get(to)?.flows[from]
      if (living.has(from) && living.has(to)) between(sum, out ?? zero, back ?? zero)
      else across(sum, out?.sent, sides.has(to) ? back?.received : 0)
    }
  // Sessions that nobody has an account of: what came from them was sent by them.
  for (const { flows } of sides.values()) for (const [from, { received }] of Object.entries(flows)) if (!sides.has(from)) sum.sent += received
  return sum
}

/** Whom a side has sent something to, or who says that it had something from it. */
function others(
  from: string,
  flows: Readonly<Record<string, Flow>>,
  sides: ReadonlyMap<string, { readonly flows: Readonly<Record<string, Flow>> }>,
): Set<string> {
  const found = new Set(Object.keys(flows))
  for (const [to, side] of sides) if (side.flows[from] !== undefined) found.add(to)
  return found
}

/** What has come and was not sent yet was sent after the one was written down, and came before the other was: it counts as sent. */
function between(sum: { sent: number; queued: number; unknown: number }, out: Flow, back: Flow): void {
  const lost = Math.max(0, out.brokenSent - back.brokenReceived)
  const underWay = out.sent - back.received - lost
  sum.unknown += lost
  if (underWay < 0) sum.sent -= underWay
  else sum.queued += underWay
}

/** Where one side has ended; undefined: that side has folded it, or never knew the other. */
function across(sum: { sent: number; unknown: number }, out: number | undefined, received: number | undefined): void {
  if (out === undefined) sum.sent += received ?? 0
  else if (received === undefined) sum.sent -= out
  else if (out >= received) sum.unknown += out - received
  else sum.sent += received - out
}

function openIn({ sent, handled, failed, unhandled, dropped, deadLettered, unknown, flows }: Account): number {
  let open = sent - (handled + failed + unhandled + dropped + deadLettered + unknown)
  for (const flow of Object.values(flows)) open += flow.received - flow.sent
  return open
}

function newest(known: readonly Readonly<Record<string, Account>>[], living: ReadonlyMap<string, CutPart>): Map<string, Account> {
  const found = new Map<string, Account>()
  for (const accounts of known)
    for (const [session, account] of Object.entries(accounts))
      if (!living.has(session) && account.beat > (found.get(session)?.beat ?? 0)) found.set(session, account)
  return found
}
