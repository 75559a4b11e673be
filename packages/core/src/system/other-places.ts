// What a system that spans several threads asks of those who connect them. A system of one thread has none.

import type { Cell } from '../cell/turn/cell.ts'
import type { LedgerReport } from '../values/ledger.ts'
import type { SystemCounts, SystemMetrics } from '../values/metrics.ts'
import type { ActorSnapshot } from './inspection.ts'
import type { ActorName, Survey } from './survey.ts'
import type { MarkOf, Wait } from './waits.ts'

/** The numbers of other threads, as far as they have been shown; also of those that are gone. */
export interface Elsewhere {
  counts(own: SystemCounts): SystemCounts
  metrics(own: SystemMetrics): SystemMetrics
}

/** What a survey of one other place found. */
export interface PlacedSurvey extends Survey {
  /** A number of that place which is never used again. */
  readonly place: number
  /** The number of its thread. */
  readonly thread: number
}

/** Looks at what runs elsewhere. */
export interface LookElsewhere {
  /** All that changed there since the last time, or everything, where a place was not asked before or `whole` is wanted. Counts turns there from then on. */
  survey(whole: boolean): Promise<{ readonly parts: readonly PlacedSurvey[]; readonly silent: readonly number[] }>
  names(uids: readonly number[] | undefined): Promise<readonly ActorName[]>
  waits(): Promise<readonly Wait[]>
  /** What the recorders there have of the last failure at a path, each as the text that it makes of it. */
  recorded?(
    path: string,
  ): Promise<{ readonly found: readonly { readonly thread: number; readonly text: string }[]; readonly silent: readonly number[] }>
  /** Nobody looks any more. */
  leave(): void
  readonly markOf: MarkOf
}

export interface OtherPlaces {
  readonly look?: LookElsewhere
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
  /** Of a node of a cluster: whether it may act as one now. */
  readonly held?: boolean
  /** Of a node of a cluster: why it should be given no work, though it may act; undefined if it may be. */
  readonly unfit?: string | undefined
  /** Of a node of a cluster: why it is no longer a member, if it did not leave. Then only a new session helps. */
  readonly lost?: string | undefined
  /** Of a node of a cluster: hands over what it owns, within so many milliseconds, and leaves. */
  leave?(deadline: number): Promise<void>
}
