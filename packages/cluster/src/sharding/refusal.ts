// What becomes of a letter that nobody will have: a dead letter of the actor that it was for. To whoever asked, and to whoever reads dead letters,
// that actor did not have it; what carries mail from node to node is nobody's affair.

import { Mirror } from '@troupe/border'
import type { AnyRef, DeadLetterReason } from '@troupe/core'
import { cellOf, Envelope, type SystemCore } from '@troupe/core/internal'
import type { Credits } from './credits.ts'
import { entry, type Letter } from './letter.ts'

/** Says that nobody will have a letter. */
export type Refuse = (letter: Letter, reason: DeadLetterReason, cause?: unknown) => void

export function refuseFor(core: SystemCore, credits: Credits, ref: AnyRef, letter: Letter, reason: DeadLetterReason, cause?: unknown): void {
  const { message, meta, origin } = letter
  if (origin !== undefined) credits.taken(origin, letter.entry === entry.offered ? 1 : 0)
  const ask = meta instanceof Envelope ? meta.asked() : undefined
  const cell = cellOf(ref)
  if (ask instanceof Mirror && cell !== undefined) ask.takenBy(cell)
  core.bury(message, meta, ref, reason, cause)
}
