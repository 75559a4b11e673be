// What comes after a handler: the next behavior, a promise to wait for, an end, or a failure. The fast answers are in
// the cell's turn; here are the others, and the accounting of each.

import { BehaviorNode, same } from '../../values/behavior.ts'
import { Unhandled, typeOf } from '../../values/errors.ts'
import { isThenable } from '../../values/thenable.ts'
import type { Cell } from '../turn/cell.ts'
import type { Context } from '../context/context.ts'
import { Envelope } from '../message/envelope.ts'
import { fail } from './failing.ts'
import { hold } from './pending.ts'
import { refusalOf } from './returned.ts'
import { resolveNode } from './setup.ts'
import { beginStop } from './stopping.ts'

/** Follows what a message handler returned. False: no further message may be handled in this turn's loop. */
export function followMessage(cell: Cell, ctx: Context, next: unknown): boolean {
  if (isThenable(next)) {
    hold(cell, next, typeOf(ctx.message), messageSettled)
    return false
  }
  return completeMessage(cell, ctx, next)
}

function messageSettled(cell: Cell, ok: boolean, value: unknown): void {
  const ctx = cell.ctx!
  if (ok) completeMessage(cell, ctx, value)
  else messageFailed(cell, ctx, value)
}

/** Ends the present message with what its handler returned. */
export function completeMessage(cell: Cell, ctx: Context, next: unknown): boolean {
  if (next !== undefined && !(next instanceof BehaviorNode)) {
    messageFailed(cell, ctx, refusalOf(next, `The handler of ${cell.ref.path} returned`))
    return false
  }
  if (next?.kind === 'unhandled') {
    messageUnhandled(cell, ctx)
    return true
  }
  ctx.finish()
  return next === undefined || become(cell, next)
}

/** Takes on a behavior that a handler returned. False: the cell cannot go on with messages at once. */
export function become(cell: Cell, next: BehaviorNode): boolean {
  switch (next.kind) {
    case 'same':
    case 'unhandled':
      return true
    case 'receive':
      cell.behavior = next
      return true
    case 'stopped':
      beginStop(cell, 'normal')
      return false
    case 'setup':
      resolveNode(cell, next, (c, ok, value) => {
        if (!ok) fail(c, value)
        else become(c, value as BehaviorNode)
      })
      return cell.canHandle()
  }
}

/** Ends the present message as failed, tells whoever asked, and hands the failure to supervision. */
export function messageFailed(cell: Cell, ctx: Context, cause: unknown): void {
  const { message } = ctx
  ctx.fail('failed', cause)
  fail(cell, cause, message)
}

/** Ends the present message as not understood. */
export function messageUnhandled(cell: Cell, ctx: Context): void {
  const { message, meta } = ctx
  const host = cell.host
  ctx.clear()
  if (message === undefined) return
  host.ledger.unhandled++
  if (host.listening) host.observe({ type: 'message.unhandled', ref: cell.ref, message, at: host.runtime.now() })
  if (meta instanceof Envelope) meta.end('unhandled', new Unhandled(cell.ref.path, typeOf(message)))
}

/** Follows what a signal handler returned, outside of the steps of starting and stopping. */
export function followSignal(cell: Cell, returned: unknown, what: string): void {
  if (returned === undefined || returned === same) return
  if (returned instanceof BehaviorNode) become(cell, returned)
  else fail(cell, refusalOf(returned, `The handler of ${what} in ${cell.ref.path} returned`))
}
