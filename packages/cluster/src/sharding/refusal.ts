// What becomes of a letter that nobody will have: a dead letter of the actor that it was for. To whoever asked, and to whoever reads dead letters,
// that actor did not have it; what carries mail from node to node is nobody's affair.

import { Mirror } from '@troupe/border'
import type { AnyRef, DeadLetterReason } from '@troupe/core'
import { cellOf, Envelope, type Meta, type SystemCore } from '@troupe/core/internal'
import type { Letter } from './letter.ts'

/** Says that nobody will have a letter. */
export type Refuse = (letter: Pick<Letter, 'id' | 'message' | 'meta'>, reason: DeadLetterReason, cause?: unknown) => void

export function refuseFor(core: SystemCore, ref: AnyRef, message: unknown, meta: Meta, reason: DeadLetterReason, cause: unknown): void {
  const ask = meta instanceof Envelope ? meta.asked() : undefined
  const cell = cellOf(ref)
  if (ask instanceof Mirror && cell !== undefined) ask.takenBy(cell)
  core.bury(message, meta, ref, reason, cause)
}
