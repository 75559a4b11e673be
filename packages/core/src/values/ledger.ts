// Where every message of a system went, as users are told of it: the sums, and the reasons of what was not handled. What counts is
// cell/message/ledger; reasons of dead letters are with dead-letter.

import type { DeadLetterReason } from './dead-letter.ts'

/** Where each message sent so far is; `sent` is always the sum of all others. */
export interface LedgerReport {
  readonly sent: number
  readonly handled: number
  readonly failed: number
  readonly unhandled: number
  readonly dropped: number
  readonly deadLettered: number
  readonly queued: number
  readonly stashed: number
  readonly inProgress: number
  readonly unknown: number
}

/** Why a message was dropped without being a dead letter. */
export type DropReason =
  | 'drain'
  | 'restart'
  | 'expired'
  | 'stale-timer'
  | 'stash-overflow'
  | 'stash-cleared'
  | 'unwatched'
  | 'mailbox-overflow'
  | 'middleware'

/** Either way a message may end unhandled. */
export type EndReason = DeadLetterReason | DropReason
