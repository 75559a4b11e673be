// Actors that leave when nobody needs them, and come back when somebody does. `passivate` makes one leave after a
// silence; `entities` keeps one actor per key and wakes it again, losing nothing that arrives while it is leaving.

import { callsItsChildren } from '../cell/ref/keys-below.ts'
import { cellOf } from '../cell/ref/local-ref.ts'
import type { Context } from '../cell/context/context.ts'
import {
  type Behavior,
  BehaviorNode,
  BehaviorWithOptions,
  HookedNode,
  receive,
  same,
  setup,
  stopped,
  unhandled,
  withOptions,
} from '../values/behavior.ts'
import { checkCan, checkFinite, checkFunction, checkObject, checkWhole, readOptions, type Table } from '../values/checks.ts'
import type { ActorContext } from '../values/context.ts'
import { NotAllowed } from '../values/errors.ts'
import { Keyed } from '../values/keyed.ts'
import type { SpawnOptions } from '../values/options.ts'
import type { ActorRef, AnyRef } from '../values/ref.ts'
import type { Signal } from '../values/signals.ts'
import { isThenable, observed } from '../values/thenable.ts'
import { buryPresent } from './router/routing.ts'

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
export function passivate<M>(behavior: Behavior<M>, options: { readonly after: number }): Behavior<M> {
  checkCan('behavior', behavior, ['a behavior', 'onSignal'])
  const { after } = readOptions('passivate', options, { after: [checkFinite, 'above', true] })
  return passivating(behavior, after)
}

function passivating<M>(behavior: Behavior<M>, after: number): Behavior<M> {
  if (behavior instanceof BehaviorWithOptions) return new BehaviorWithOptions(passivating(behavior.behavior as Behavior<M>, after), behavior.options)
  const init = (ctx: ActorContext<M>): Behavior<M> => {
    ctx.setReceiveTimeout(after)
    return leaving(behavior) as Behavior<M>
  }
  // A class actor stays one: its ref is a handle.
  return behavior instanceof HookedNode ? new HookedNode('setup', init, undefined, undefined, behavior.makeRef) : setup<M>(init)
}

/** Wraps whatever the behavior becomes, so that its own signal handler never hides the timeout. */
function leaving(node: unknown): unknown {
  if (isThenable(node)) return Promise.resolve(node).then(leaving)
  if (!(node instanceof BehaviorNode) || (node.kind !== 'receive' && node.kind !== 'setup')) return node
  const { kind, handle, signal } = node
  const onSignal = (ctx: never, s: Signal): unknown => {
    // A message that came in the meantime is the end of the silence.
    if (s.type === 'ReceiveTimeout') return (ctx as Context).cell.queuedMessages > 0 ? same : stopped
    return signal === undefined ? unhandled : leaving(signal(ctx, s))
  }
  const onMessage = (ctx: never, message: never): unknown => leaving(handle(ctx, message))
  return node instanceof HookedNode
    ? new HookedNode(kind, onMessage, onSignal, node.error, node.makeRef)
    : new BehaviorNode(kind, onMessage, kind === 'setup' && signal === undefined ? undefined : onSignal)
}

/** How entities are made, told apart and put to sleep. */
export interface EntitiesOptions<M> {
  /** Which entity a message is for. */
  keyOf(message: M): string
  /** A new entity, or one that comes back. */
  create(key: string): Behavior<M>
  /** Milliseconds of silence after which an entity leaves. */
  readonly idle: number
  /** Messages that may wait for entities that are leaving; 1,000 if left out. */
  readonly capacity?: number | undefined
  readonly options?: Omit<SpawnOptions, 'name'> | undefined
}

const entitiesTable: Table<EntitiesOptions<unknown>> = {
  keyOf: [checkFunction, 0, true],
  create: [checkFunction, 0, true],
  idle: [checkFinite, 'above', true],
  capacity: [checkWhole, 1],
  options: checkObject,
}

/**
 * One actor per key: made at the first message, gone after a silence, made again when it is needed.
 *
 * Guarantees: messages of one key are handled in order, also those that arrive while its entity is leaving; at most one
 * entity per key lives. Fails: what exceeds `capacity` meanwhile is a dead letter `mailbox-full`; a message for which `keyOf` or `create`
 * throws is one `not-accepted`, and nothing else is touched; an entity that failed for good is made anew by the next message.
 *
 * @example
 * const carts = system.spawn(entities<Cart>({ keyOf: (m) => m.id, create: (id) => cart(id), idle: 60_000 }))
 */
export function entities<M>(options: EntitiesOptions<M>): Behavior<M> {
  const { capacity = 1000, idle, options: spawnOptions } = readOptions('entities', options, entitiesTable as Table<EntitiesOptions<M>>)
  const behavior = setup<M>((ctx) => {
    const living = new Map<string, ActorRef<M>>()
    const keys = new Map<AnyRef, string>()
    callsItsChildren(ctx.self, keys)
    const spawn = (key: string): ActorRef<M> => {
      const ref = ctx.spawn(passivating(options.create(key), idle), spawnOptions)
      living.set(key, ref)
      keys.set(ref, key)
      return ref
    }
    /** The entity that a message is for. */
    const entityFor = (message: M): ActorRef<M> => {
      const key = message instanceof Keyed ? message.key : options.keyOf(message)
      if (isThenable(key)) {
        observed(key, () => {})
        throw new NotAllowed(`keyOf of ${ctx.path} returned a promise: a message has its key at once, or none. Put the key into the message.`)
      }
      return living.get(key) ?? spawn(key)
    }
    // What waited for an entity of the incarnation before: that entity is gone, so that nothing else would wake it.
    ctx.stash.unstashAll()
    return receive<M>(
      (c, message) => {
        let ref: ActorRef<M>
        try {
          ref = entityFor(message)
        } catch (cause) {
          // It is this message's trouble: all other entities would end with a failure of ours.
          c.log.warn({ actor: c.path, cause }, 'a message was refused: it has no key, or no entity could be made for it')
          buryPresent(c, 'not-accepted', cause)
          return same
        }
        // An entity that is on its way out takes nothing more; its successor will.
        if (cellOf(ref)?.end === undefined) c.forward(ref)
        else if (c.stash.size < capacity) c.stash.add(message)
        else buryPresent(c, 'mailbox-full')
        return same
      },
      (c, signal) => {
        if (signal.type !== 'ChildStopped') return unhandled
        const key = keys.get(signal.child)
        if (key === undefined) return same
        keys.delete(signal.child)
        living.delete(key)
        c.stash.unstashAll()
        return same
      },
    )
  })
  return withOptions(behavior, { stash: { capacity } })
}
