// What may be said to a router besides its protocol. A class of its own, so that no message of a user is taken for it.

import { checkOneOf, checkRef, checkWhole, unreadable } from '../../values/checks.ts'
import type { ActorRef, AnyRef } from '../../values/ref.ts'

type Verb =
  | { readonly verb: 'resize'; readonly size: number }
  | { readonly verb: 'add' | 'remove'; readonly ref: AnyRef }
  | { readonly verb: 'list'; readonly to: ActorRef<readonly AnyRef[]> }
  | { readonly verb: 'set'; readonly refs: readonly AnyRef[] }

/** A command for a router: made by `resize`, `addRoutee`, `removeRoutee` and `listRoutees`. */
export class RouterCommand {
  readonly order: Verb
  constructor(order: Verb) {
    try {
      checkOneOf('verb', order?.verb, ['resize', 'add', 'remove', 'list', 'set'])
    } catch (cause) {
      throw unreadable('order', order, cause)
    }
    this.order = order
  }
}

/**
 * Brings a pool to this many routees. Those that go handle what they have queued first.
 *
 * @example
 * workers.tell(resize(8))
 */
export function resize(size: number): RouterCommand {
  return new RouterCommand({ verb: 'resize', size: checkWhole('size', size, 1) })
}

/**
 * Adds an actor to a group; a no-op where it is in it, or has ended.
 *
 * @example
 * workers.tell(addRoutee(system.spawn(worker())))
 */
export function addRoutee(ref: AnyRef): RouterCommand {
  return new RouterCommand({ verb: 'add', ref: checkRef('ref', ref) as AnyRef })
}

/**
 * Takes an actor out of a group; it goes on living.
 *
 * @example
 * workers.tell(removeRoutee(tired))
 */
export function removeRoutee(ref: AnyRef): RouterCommand {
  return new RouterCommand({ verb: 'remove', ref: checkRef('ref', ref) as AnyRef })
}

/**
 * Asks a router for its present routees.
 *
 * @example
 * const refs = await workers.ask<readonly AnyRef[]>(listRoutees)
 */
export function listRoutees(to: ActorRef<readonly AnyRef[]>): RouterCommand {
  return new RouterCommand({ verb: 'list', to: checkRef('to', to) as ActorRef<readonly AnyRef[]> })
}
