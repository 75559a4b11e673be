// For sibling packages that tie things outside of Troupe to an actor: what must be let go when its incarnation ends,
// and which actor stands behind a ref.

import { type Behavior, EarlyNode, setup } from '../../values/behavior.ts'
import type { ActorContext } from '../../values/context.ts'
import { ContextEnded } from '../../values/errors.ts'
import type { AnyRef } from '../../values/ref.ts'
import { Adapter } from '../ref/adapter.ts'
import { Context } from './context.ts'
import { LocalRef } from '../ref/local-ref.ts'

/** Calls `release` once, after PostStop, when the incarnation of `ctx` ends: by stop, kill or restart. */
export function onRelease(ctx: ActorContext<never>, resource: { release(): void }): void {
  const context = ctx as unknown
  if (!(context instanceof Context) || context.ended) throw new ContextEnded(ctx.path, 'tie a resource')
  const extras = context.cell.ensureExtras()
  // An array of one, exactly: there are many connections, and most have nothing else to let go of.
  if (extras.releases === undefined) extras.releases = [resource]
  else extras.releases.push(resource)
}

/** A `setup` for something that is there before its actor: where the actor ends without a start, it is released instead. */
export function setupOrRelease<M>(init: (ctx: ActorContext<M>) => Behavior<M>, early: { release(): void } | undefined): Behavior<M> {
  return early === undefined ? setup(init) : new EarlyNode(init, undefined, early)
}

/** The actor whose mailbox a ref leads to: itself, or the one behind an adapter; undefined for asks and foreign refs. */
export function actorBehind(ref: AnyRef): AnyRef | undefined {
  if (ref instanceof LocalRef) return ref
  return ref instanceof Adapter ? ref.cell.ref : undefined
}
