// A failure as the system remembers it. Kept in a bounded ring and counted, so that what failed can be looked at, and sent again.

import type { AnyRef } from './ref.ts'
import type { Directive } from './signals.ts'

/** A message that failed, with what it failed with, in which actor, and what was decided about that. */
export interface Failure {
  readonly actor: AnyRef
  /** Undefined where it was not a message: a start, a signal, the failure of a child. */
  readonly message: unknown
  readonly cause: unknown
  /** Undefined where nothing was left to decide: the actor was about to end, or to begin anew. */
  readonly directive: Directive | undefined
  /** When, in milliseconds of the system's clock. */
  readonly at: number
}
