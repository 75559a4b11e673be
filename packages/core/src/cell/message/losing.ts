// A message that its handler will not come to an end with.

import type { Context } from '../context/context.ts'
import { Envelope } from './envelope.ts'

/** Counts the message in progress as failed, and tells whoever asked. */
export function loseMessage(ctx: Context, reason: 'failed' | 'stopped', cause: unknown): void {
  if (ctx.message === undefined) return
  ctx.cell.dispatcher.ledger.failed++
  if (ctx.meta instanceof Envelope) ctx.meta.end(reason, cause)
  ctx.message = undefined
}
