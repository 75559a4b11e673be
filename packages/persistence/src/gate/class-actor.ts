// Persistent actors as classes, whatever they keep: public methods are commands, what they return is the answer, and it is gated as
// everything else. The instance exists before what is stored is read, for it is what reads it; its methods run after that only.

import { type ActorContext, type Behavior, NotAllowed } from '@troupe/core'
import { type BehaviorNode, HookedNode } from '@troupe/core/internal'
import type { CommandContext } from './context.ts'
import type { Gated } from './gated.ts'
import { running, withGateOptions } from './shell.ts'
import type { DurableTimers } from './timers.ts'

/** A call of a method, as a message. */
interface Call {
  readonly type: string
  readonly args: readonly unknown[]
}

/** What a method may do besides persist and answer. What a timer sends is a call: `{ type: 'add', args: ['book', 1] }`. */
export interface MethodContext extends Pick<CommandContext<unknown, never, never>, 'key' | 'seq' | 'now' | 'tell' | 'after' | 'stop' | 'deliver'> {
  readonly timers: DurableTimers<Call>
}

/** What stands behind an instance. */
export interface BehindMethods extends Gated {
  /** The instance. */
  instance: object | undefined
  recovered: boolean
  /** What calls the method that a message names. */
  calls(handle: BehaviorNode['handle']): void
}

/** What stands behind the instance that is being made. */
let making: BehindMethods | undefined

/** What stands behind an instance, asked by its constructor; undefined where it was made with `new`. */
export function madeFor(instance: object): BehindMethods | undefined {
  if (making !== undefined) making.instance = instance
  return making
}

/** What stands behind an instance, once it may be used. */
export function behind<T extends BehindMethods>(entity: T | undefined, instance: object, what: string): T {
  if (entity === undefined)
    throw new NotAllowed(`${instance.constructor.name} has no journal: it was made with new. Give the class to spawn instead.`)
  if (!entity.recovered) throw new NotAllowed(`${entity.id} cannot ${what} yet: it has not recovered. Do it in onStart, or in a method.`)
  return entity
}

/** The behavior of a class: `plain` is what it would be without a journal. */
export function classBehavior(kind: string, plain: BehaviorNode, make: (ctx: ActorContext<never>) => BehindMethods): Behavior<never> {
  const start = async (ctx: ActorContext<never>): Promise<BehaviorNode> => {
    const entity = make(ctx)
    const outer = making
    making = entity
    let node: BehaviorNode
    try {
      node = plain.handle(ctx as never, undefined as never) as BehaviorNode
    } finally {
      making = outer
    }
    entity.calls(node.handle)
    await entity.hub.recover(entity)
    entity.recovered = true
    const behavior = running(entity, node.signal)
    return new HookedNode('receive', behavior.handle, behavior.signal, node.error, undefined)
  }
  return withGateOptions(kind, new HookedNode('setup', start as never, undefined, undefined, plain.makeRef))
}

/** What a class says of itself as `static persistence`. Fails with `NotAllowed`. */
export function keepingOf(actor: { readonly name: string; readonly persistence?: unknown }): object {
  const { persistence } = actor
  if (typeof persistence !== 'object' || persistence === null || (persistence as { kind?: unknown }).kind === undefined)
    throw new NotAllowed(`${actor.name} does not say what it is in the journal. Write static readonly persistence = { kind: '…' } into the class.`)
  return persistence
}
