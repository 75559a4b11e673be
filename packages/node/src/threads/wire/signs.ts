// What a thread shows of itself: that it lives, whose turn it is and on which message, how it is doing, its ledger and its tally.
// It is shown before anything leaves the thread, so that what others have of it is never newer than what it has shown.

import type { LedgerCounts } from './ledger-shape.ts'

/** How a thread is doing. */
export interface Vitals {
  readonly queued: number
  /** Share of time that its loop was busy, from 0 to 1. */
  readonly busy: number
  /** Milliseconds by which its loop was late, at most, in the last period. */
  readonly loopDelay: number
  readonly actors: number
}

/** What the thread shows. */
export interface Signs {
  alive(): void
  /** Whose turn it is: the actor, and the one next above it that is known to its parent's thread. */
  turn(inner: number, hosted: number): void
  message(type: string): void
  /** For how many milliseconds it may be silent from now on; Infinity for ever. */
  patience(ms: number): void
  /** Nobody has a turn any more, for now. */
  idle(): void
  ledger(ledger: LedgerCounts): void
  /** What a tally counts. */
  counts(counts: readonly number[]): void
  /** What a tally tells of work. */
  work(work: readonly number[]): void
  vitals(vitals: Vitals): void
}

/** Whose turn was the last, and on which message; 0 and undefined where that is not known. */
export interface Running {
  readonly uid: number
  readonly inner: number
  readonly message: string | undefined
}

/** What others see, also when the thread hangs or is gone. */
export interface SignsSeen {
  readonly beats: number
  /** For how many milliseconds it may be silent; undefined where it said nothing. Read before `beats`, which it follows. */
  readonly hangAfter: number | undefined
  readonly running: Running
  /** What it was doing, in words that follow "no sign of life"; empty if nothing. */
  readonly doing: string
  /** Whether turns are under way there; without shared memory whether one was on its way at the last beat. */
  readonly atWork: boolean
  readonly lastLedger: LedgerCounts
  readonly lastCounts: ArrayLike<number>
  readonly lastWork: ArrayLike<number>
  readonly lastVitals: Vitals
}

/** What of a ledger is shown, in this order. */
export const shownFields = ['sent', 'handled', 'failed', 'unhandled', 'dropped', 'deadLettered', 'unknown'] as const

export function ledgerFrom(counts: ArrayLike<number>): LedgerCounts {
  return Object.fromEntries(shownFields.map((field, i) => [field, counts[i]!])) as unknown as LedgerCounts
}
