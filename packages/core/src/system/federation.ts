// What a system that spans several threads asks of those who connect them. A system of one thread has none.

import type { Cell } from '../cell/turn/cell.ts'
import type { LedgerReport } from '../values/options.ts'
import type { SystemCounts, SystemMetrics } from '../values/metrics.ts'
import type { ActorSnapshot } from './inspection.ts'

/** The numbers of other threads, as far as they have been shown; also of those that are gone. */
export interface Elsewhere {
  counts(own: SystemCounts): SystemCounts
  metrics(own: SystemMetrics): SystemMetrics
}

export interface Federation {
  /** A cell of this thread has ended; before its watchers are told. */
  died(cell: Cell): void
  /** What waits to leave this thread leaves, for an actor breathes; named, it had its breath and goes on. */
  breathe(drawn?: Cell): void
  /** The ledger of all threads, given this one's as it is now. */
  ledger(own: () => LedgerReport): Promise<LedgerReport>
  /** The snapshot with what lives on other threads put in its place. */
  inspect(own: ActorSnapshot): Promise<ActorSnapshot>
  /** Calls back once no message is under way anywhere. */
  whenQuiet(then: () => void): void
  /** Ends the other threads; resolves when they are gone. */
  close(): Promise<void>
}
