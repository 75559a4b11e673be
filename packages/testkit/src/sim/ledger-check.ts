// The comparison after each turn: the ledger against what the cells hold, what the cells hold against the second account,
// and the counters against what handlers were seen to do. Keeps C2 and C8.

import type { SimTap } from './sim-tap.ts'

export class LedgerCheck {
  readonly #tap: SimTap
  /** What the counters must show; `either` is for those that may be handled, unhandled or failed. */
  readonly expected: Record<'handled' | 'failed' | 'unhandled' | 'either' | 'dead' | 'dropped', number> = {
    handled: 0,
    failed: 0,
    unhandled: 0,
    either: 0,
    dead: 0,
    dropped: 0,
  }
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  compare(): void {
    const tap = this.#tap
    const { host } = tap
    const { sent, handled, failed, unhandled, dropped, deadLettered, unknown } = host.ledger
    let open = 0
    let waiting = 0
    let reentrant = false
    for (const cell of tap.living) {
      const step = cell.extras?.stepTimer
      if (step !== undefined && step.order > 0 && cell.phase === 'running')
        tap.violate('leaks', cell, 'runs, and the timer of an earlier step is armed')
      const stashed = cell.extras?.stash?.size ?? 0
      const queued = cell.queuedMessages
      open += stashed + queued
      if (cell.ctx?.message !== undefined) open++
      else if (cell.running !== undefined) tap.handling.settle(cell, cell.running)
      if (cell.extras?.pending?.state === 'waiting') waiting++
      const calls = cell.extras?.calls
      if (calls !== undefined && calls.size > 0) reentrant = true
      if (calls !== undefined) for (const call of calls) if (call.message !== undefined) open++
      if (cell.calls !== undefined) tap.handling.settleCalls(cell)
      if (queued !== cell.waiting.length) tap.violate('C2', cell, `${queued} messages are queued, and ${cell.waiting.length} must be`)
      if (stashed !== cell.aside.length) tap.violate('C8', cell, `${stashed} messages are stashed, and ${cell.aside.length} must be`)
    }
    const sum = handled + failed + unhandled + dropped + deadLettered + unknown + open
    if (sent !== sum) tap.violate('C2', undefined, `the ledger does not add up: ${sent} sent, ${sum} accounted for (${open} under way)`)
    const { expected } = this
    this.#within('handled', handled)
    this.#within('failed', failed)
    this.#within('unhandled', unhandled)
    const known = expected.handled + expected.failed + expected.unhandled + expected.either
    if (handled + failed + unhandled !== known)
      tap.violate('C2', undefined, `${handled + failed + unhandled} messages count as handled, failed or unhandled, and ${known} were`)
    // Which calls of a reentrant actor have settled is known to them alone.
    if (!reentrant && host.pending !== waiting) tap.violate('leaks', undefined, `${host.pending} handlers count as pending, and ${waiting} are`)
    if (host.undelivered !== tap.messages.leftBehind)
      tap.violate('C2', undefined, `${host.undelivered} messages count as left behind, and ${tap.messages.leftBehind} were`)
    if (dropped !== expected.dropped || deadLettered !== expected.dead) tap.violate('C2', undefined, 'drops or dead letters are counted wrong')
  }
  #within(what: 'handled' | 'failed' | 'unhandled', counted: number): void {
    const { expected } = this
    if (counted >= expected[what] && counted <= expected[what] + expected.either) return
    this.#tap.violate('C2', undefined, `${counted} messages count as ${what}, and ${expected[what]} were`)
  }
}
