// What findings are made from: one look at the system after another, and what was observed between two of them. Plain data without
// payloads, so that it may be kept, sent and made up by a test.

import type { LedgerReport, SystemMetrics } from '@troupe/core'
import type { PlacedSurvey, Wait } from '@troupe/core/internal'
import type { SeenJournal } from '../survey/journals.ts'

/** What was observed, in words and numbers: no message, no cause, no ref. `at` is milliseconds of the system's clock. */
export interface SeenEvent {
  readonly type: string
  readonly at: number
  /** Whom it is about. */
  readonly uid?: number | undefined
  readonly path?: string | undefined
  /** All of it in one line. */
  readonly text: string
  /** The first line of what went wrong. */
  readonly cause?: string | undefined
  readonly directive?: string | undefined
  readonly attempt?: number | undefined
  readonly delay?: number | undefined
  /** How long something took. */
  readonly ms?: number | undefined
  /** The type of the message. */
  readonly message?: string | undefined
  readonly reason?: string | undefined
  readonly sender?: string | undefined
}

/** How a thread spent its busy time, in milliseconds: on a core, and waiting for one. */
export interface ProcessorTime {
  readonly ran: number
  readonly waited: number
}

/** One look, with what was observed since the one before. */
export interface Frame {
  /** Milliseconds of the system's clock. */
  readonly at: number
  /** False: nobody looked at single actors for this one, and `parts` is empty. They were looked at if it is left out. */
  readonly surveyed?: boolean | undefined
  readonly parts: readonly PlacedSurvey[]
  /** Threads that did not answer. */
  readonly silent?: readonly number[] | undefined
  readonly waits: readonly Wait[]
  readonly metrics: SystemMetrics
  /** Where it was counted for this frame. */
  readonly ledger?: LedgerReport | undefined
  readonly events: readonly SeenEvent[]
  /** How the thread spent its busy time since the frame before; without waiting if left out. */
  readonly processor?: ProcessorTime | undefined
  /** How journals stand; none where it is left out. */
  readonly journals?: readonly SeenJournal[] | undefined
}
