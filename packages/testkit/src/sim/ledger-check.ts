// The comparison after each turn: the ledger against what the cells hold, what the cells hold against the second account,
// and the counters against what handlers were seen to do. Keeps C2 and C8.

import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

export class LedgerCheck {
  readonly #tap: SimTap
  /** What the counters must show at least; drops and dead letters exactly. */
  readonly expected: Record<'handled' | 'failed' | 'unhandled' | 'dead' | 'dropped', number> = {
    handled: 0,
    failed: 0,
    unhandled: 0,
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
    let open = host.leaving
    for (const cell of tap.living) {
      const step = cell.extras?.step
      if (step !== undefined && step.order > 0 && cell.phase === 'running')
        tap.violate('leaks', cell, 'runs, and the timer of an earlier step is armed')
      const stashed = cell.extras?.stash?.size ?? 0
      const queued = cell.queuedMessages
      open += stashed + queued
      if (cell.ctx?.message !== undefined) open++
      else if (cell.running !== undefined) this.#settle(cell)
      const calls = cell.extras?.calls
      if (calls !== undefined) for (const call of calls) if (call.message !== undefined) open++
      if (cell.calls !== undefined && (calls === undefined || calls.size === 0)) cell.calls = undefined
      if (queued !== cell.waiting.length) tap.violate('C2', cell, `${queued} messages are queued, and ${cell.waiting.length} must be`)
      if (stashed !== cell.aside.length) tap.violate('C8', cell, `${stashed} messages are stashed, and ${cell.aside.length} must be`)
    }
    const sum = handled + failed + unhandled + dropped + deadLettered + unknown + open
    if (sent !== sum) tap.violate('C2', undefined, `the ledger does not add up: ${sent} sent, ${sum} accounted for (${open} under way)`)
    const { expected } = this
    if (handled < expected.handled) tap.violate('C2', undefined, `${handled} messages count as handled, and at least ${expected.handled} were`)
    if (failed < expected.failed) tap.violate('C2', undefined, `${failed} messages count as failed, and at least ${expected.failed} did`)
    if (unhandled < expected.unhandled)
      tap.violate('C2', undefined, `${unhandled} messages count as unhandled, and at least ${expected.unhandled} were`)
    if (dropped !== expected.dropped || deadLettered !== expected.dead) tap.violate('C2', undefined, 'drops or dead letters are counted wrong')
  }

  /** A handler that was waited for is over. */
  #settle(cell: SimCell): void {
    cell.running!.state = 'ended'
    cell.running = undefined
  }
}
