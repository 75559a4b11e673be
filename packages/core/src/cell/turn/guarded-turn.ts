// The slower turn, for actors that put something between a message and its handler: a schema that checks it,
// middleware, measurements, or reentrancy, where each call has a context of its own and several may be pending.
// Order: envelope, schema, middleware of the system, middleware of the actor, handler.

import { BehaviorNode, same, unhandled } from '../../values/behavior.ts'
import { NotABehavior, typeOf } from '../../values/errors.ts'
import type { MessageSchema } from '../../values/schema.ts'
import { isThenable } from '../../values/thenable.ts'
import type { Cell } from './cell.ts'
import type { CallContext, Context } from '../context/context.ts'
import { Envelope, type Meta, senderOf } from '../message/envelope.ts'
import { entering } from '../message/entering.ts'
import { become, completeMessage, followMessage, messageFailed, messageUnhandled } from '../life/outcome.ts'
import { MessagePassage } from './middleware-run.ts'
import { hold, observe } from '../life/pending.ts'
import { refusalOf } from '../life/returned.ts'

/** Handles one message; returns how many it took. */
export function handleGuarded(cell: Cell): number {
  const { dispatcher, options } = cell
  let message = cell.take()
  if (message === undefined) return 0
  const meta = dispatcher.takenMeta
  dispatcher.lastMessage = message
  const call = options.reentrant ? cell.host.makeCall(cell, cell.ctx!) : undefined
  const ctx = call ?? cell.ctx!
  const outer = dispatcher.entering
  let passage: MessagePassage | undefined
  try {
    if (meta instanceof Envelope) message = meta.open(cell, message)
    if (message !== undefined && options.accepts !== undefined && !(meta instanceof Envelope && meta.own))
      message = accepted(cell, options.accepts, message, meta)
    if (message === undefined) return 1
    if (dispatcher.untilClock === 1) dispatcher.lastMessage = message
    ctx.begin(message, meta)
    if (call !== undefined) beginCall(cell, call)
    cell.extras?.flight?.add({ what: 'message', type: typeOf(message), message, sender: senderOf(meta), at: dispatcher.now })
    if (options.metrics || options.middleware.length > 0) {
      passage = new MessagePassage(cell, ctx)
      // Without a closure, as it is for every message.
      dispatcher.entering = ctx
      message = passage.enter(options.middleware)
      dispatcher.entering = outer
      if (message === undefined) {
        swallowed(cell, ctx)
        if (call !== undefined) endCall(cell, call)
        return 1
      }
      // The same message still, as its links made it.
      ctx.message = message
    }
    if (call !== undefined) cell.extras!.calling = call
    const next = cell.behavior.handle(ctx as never, message as never)
    if (call !== undefined) followCall(cell, call, passage, next)
    else if (passage !== undefined) followPassage(cell, ctx, passage, next)
    else followMessage(cell, ctx, next)
  } catch (cause) {
    dispatcher.entering = outer
    passage?.failed(options.middleware, cause)
    if (call !== undefined) endCall(cell, call)
    // An adapter that throws has marked its message on the cell's own context, before the call had one.
    messageFailed(cell, ctx.message === undefined && cell.ctx !== undefined ? cell.ctx : ctx, cause)
  } finally {
    if (call !== undefined && cell.extras !== undefined) cell.extras.calling = undefined
  }
  return 1
}

/** A link ended the message: it counts as dropped. */
function swallowed(cell: Cell, ctx: Context): void {
  const { message, meta } = ctx
  ctx.clear()
  cell.host.drop(message, meta, 'middleware')
}

function followPassage(cell: Cell, ctx: Context, passage: MessagePassage, next: unknown): void {
  if (isThenable(next)) return hold(cell, next, typeOf(ctx.message), (c, ok, value) => settled(c, ctx, passage, ok, value))
  passage.leave(cell.options.middleware)
  followMessage(cell, ctx, next)
}

/** Goes on with a message whose handler has settled. */
function settled(cell: Cell, ctx: Context, passage: MessagePassage | undefined, ok: boolean, value: unknown): void {
  const { middleware } = cell.options
  const call = cell.options.reentrant ? (ctx as CallContext) : undefined
  try {
    if (!ok) throw value
    passage?.leave(middleware)
  } catch (cause) {
    passage?.failed(middleware, cause)
    if (call !== undefined) endCall(cell, call)
    messageFailed(cell, ctx, cause)
    return
  }
  if (call !== undefined) completeCall(cell, call, value)
  else completeMessage(cell, ctx, value)
}

function beginCall(cell: Cell, call: CallContext): void {
  const extras = cell.ensureExtras()
  const calls = (extras.calls ??= new Set())
  calls.add(call)
  if (calls.size >= cell.options.maxConcurrent) extras.saturated = true
}

function endCall(cell: Cell, call: CallContext): void {
  const extras = cell.extras
  if (extras === undefined) return
  extras.calls?.delete(call)
  extras.saturated = false
}

/** What the schema makes of the message; undefined where it refuses it, which ends it as a dead letter. */
function accepted(cell: Cell, schema: MessageSchema, message: unknown, meta: Meta): unknown {
  const ctx = cell.ctx!
  // In progress while the schema runs, so that the ledger adds up in there too.
  ctx.begin(message, undefined)
  let value: unknown
  let refusal: unknown
  try {
    const result = entering(ctx, () => schema['~standard'].validate(message))
    if (isThenable(result)) {
      observe(result, { settle: () => {} })
      refusal = new Error('accepts must validate synchronously')
    } else if (result.issues !== undefined) refusal = new Error(result.issues.map((i) => i.message).join('; '))
    else value = result.value
  } catch (cause) {
    // A message that the schema cannot cope with must not bring down the actor that it guards.
    refusal = cause
  }
  ctx.clear()
  if (value === undefined) cell.host.bury(message, meta, cell.ref, 'not-accepted', refusal ?? new Error('accepts made undefined of it'))
  return value
}

function followCall(cell: Cell, ctx: CallContext, passage: MessagePassage | undefined, next: unknown): void {
  if (!isThenable(next)) {
    passage?.leave(cell.options.middleware)
    return completeCall(cell, ctx, next)
  }
  ctx.awaits(true)
  observe(next, {
    settle: (ok, value) => {
      ctx.awaits(false)
      if (ctx.ended) return
      ;(cell.ensureExtras().settledCalls ??= []).push({ ctx, ok, value, passage })
      cell.rouse()
    },
  })
}

/** Goes on with the calls that have settled since, in the cell's own turn. */
export function resumeCalls(cell: Cell): void {
  const calls = cell.extras!.settledCalls ?? []
  cell.extras!.settledCalls = undefined
  for (const { ctx, ok, value, passage } of calls) if (!ctx.ended) settled(cell, ctx, passage, ok, value)
}

function completeCall(cell: Cell, ctx: CallContext, next: unknown): void {
  endCall(cell, ctx)
  if (next === unhandled) return messageUnhandled(cell, ctx)
  const stops = next instanceof BehaviorNode && next.kind === 'stopped'
  if (next !== undefined && next !== same && !stops) {
    const what = `The reentrant handler of ${typeOf(ctx.message)} in ${cell.ref.path} returned`
    const lost = next instanceof BehaviorNode
    return messageFailed(
      cell,
      ctx,
      lost ? new NotABehavior(next, `${what} a behavior, which could overwrite another call's:`) : refusalOf(next, what),
    )
  }
  ctx.finish()
  if (stops) become(cell, next)
}
