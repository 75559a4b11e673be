// Makes an actor leave after a silence. `entities` keeps one actor per key, and makes it again when it is needed.

import type { Context } from '../cell/context/context.ts'
import { type Behavior, BehaviorNode, BehaviorWithOptions, HookedNode, same, setup, stopped, unhandled } from '../values/behavior.ts'
import { checkCan, checkFinite, checkFunction, readOptions, type Table } from '../values/checks.ts'
import type { ActorContext } from '../values/context.ts'
import { NotAllowed, show } from '../values/errors.ts'
import type { Signal } from '../values/signals.ts'
import { isThenable, observed } from '../values/thenable.ts'

/** When an actor leaves by itself. */
export interface PassivateOptions {
  /** Milliseconds without a message. */
  readonly after: number
  /**
   * Asked after each such silence, in the actor's own turn: false lets it stay until the next one. For actors that are needed while nobody
   * talks to them, such as a room of silent listeners. What it throws is a failure of the actor.
   */
  readonly canPassivate?: (() => boolean) | undefined
}

const table: Table<PassivateOptions> = { after: [checkFinite, 'above', true], canPassivate: checkFunction }

/**
 * The same behavior, but it stops after so many milliseconds without a message. It uses the receive timeout for that,
 * so that the behavior itself gets no `ReceiveTimeout`.
 *
 * Guarantees: PostStop runs as on any stop; a queued message is not silence. Fails: `InvalidOption` on a wrong
 * duration.
 *
 * @example
 * system.spawn(passivate(cart(), { after: 60_000 }), { name: 'cart-7' })
 */
export function passivate<M>(behavior: Behavior<M>, options: PassivateOptions): Behavior<M> {
  checkCan('behavior', behavior, ['a behavior', 'onSignal'])
  const { after, canPassivate } = readOptions('passivate', options, table)
  return passivating(behavior, after, canPassivate)
}

/** From options that were checked. */
export function passivating<M>(behavior: Behavior<M>, after: number, can: (() => boolean) | undefined): Behavior<M> {
  if (behavior instanceof BehaviorWithOptions)
    return new BehaviorWithOptions(passivating(behavior.behavior as Behavior<M>, after, can), behavior.options)
  const init = (ctx: ActorContext<M>): Behavior<M> => {
    ctx.setReceiveTimeout(after)
    return leaving(behavior, can) as Behavior<M>
  }
  // A class actor stays one: its ref is a handle.
  return behavior instanceof HookedNode ? new HookedNode('setup', init, undefined, undefined, behavior.makeRef) : setup<M>(init)
}

/** Whether an actor that nobody has told anything for so long may leave. */
function mayLeave({ cell }: Context, can: (() => boolean) | undefined): boolean {
  // A message that came in the meantime is the end of the silence.
  if (cell.queuedMessages > 0) return false
  const answer: unknown = can?.() ?? true
  if (typeof answer === 'boolean') return answer
  observed(answer, () => {})
  throw new NotAllowed(`canPassivate of ${cell.ref.path} returned ${show(answer)}: it says true or false, at once.`)
}

/** Wraps whatever the behavior becomes, so that its own signal handler never hides the timeout. */
function leaving(node: unknown, can: (() => boolean) | undefined): unknown {
  if (isThenable(node)) return Promise.resolve(node).then((made) => leaving(made, can))
  if (!(node instanceof BehaviorNode) || (node.kind !== 'receive' && node.kind !== 'setup')) return node
  const { kind, handle, signal } = node
  const onSignal = (ctx: never, s: Signal): unknown => {
    if (s.type === 'ReceiveTimeout') return mayLeave(ctx, can) ? stopped : same
    return signal === undefined ? unhandled : leaving(signal(ctx, s), can)
  }
  const onMessage = (ctx: never, message: never): unknown => leaving(handle(ctx, message), can)
  return node instanceof HookedNode
    ? new HookedNode(kind, onMessage, onSignal, node.error, node.makeRef)
    : new BehaviorNode(kind, onMessage, kind === 'setup' && signal === undefined ? undefined : onSignal)
}
