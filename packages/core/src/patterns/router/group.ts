// A router over actors that others own: a list of refs, or whoever is registered under a key. It watches them and
// forgets those that end; with none left it waits for new ones, and what comes meanwhile is a dead letter.

import { type Behavior, receive, same, setup, unhandled } from '../../values/behavior.ts'
import { can, checkFunction, checkList, readOptions, type Table } from '../../values/checks.ts'
import type { ActorContext } from '../../values/context.ts'
import type { ActorRef, AnyRef } from '../../values/ref.ts'
import { isKey, type Listing, receptionistOf, ServiceKey } from '../receptionist.ts'
import { tellAny } from '../../cell/message/telling.ts'
import { hostOfRef } from '../host-of.ts'
import { RouterCommand } from './command.ts'
import { Routing } from './routing.ts'
import { checkStrategy, roundRobin, Routee, type RoutingStrategy } from './strategy.ts'

/** How a group is set up. */
export interface GroupOptions<M> {
  /** Round-robin if left out. */
  readonly strategy?: RoutingStrategy<M> | undefined
  /** Which messages go to all routees, whatever the strategy. None, if left out. */
  readonly broadcast?: ((message: M) => boolean) | undefined
}

const table: Table<GroupOptions<unknown>> = { strategy: checkStrategy, broadcast: checkFunction }

/**
 * A router over actors that live elsewhere: those given, or those registered under a key of the receptionist.
 *
 * Guarantees: forgets a routee that ended; a message that finds none is a dead letter `no-routees`.
 * Fails: `InvalidOption` where neither refs nor a key are given.
 *
 * @example
 * const caches = system.spawn(group([eu, us], { strategy: consistentHash<Get>((m) => m.key) }))
 * const workers = system.spawn(group(workersKey))
 */
export function group<M>(routees: readonly ActorRef<M>[] | ServiceKey<M>, options: GroupOptions<M> = {}): Behavior<M | RouterCommand> {
  const refs = isKey(routees) ? [] : checkList<ActorRef<M>>('routees', routees, (ref) => can(ref, 'tell'), 'refs, or a serviceKey')
  const { strategy = roundRobin(), broadcast } = readOptions('group', options, table as Table<GroupOptions<M>>)
  return setup<M | RouterCommand>((ctx) => {
    const routing = new Routing<M>(strategy, ctx.self, broadcast)
    const members = new Group<M>(routing, ctx)
    if (routees instanceof ServiceKey) {
      const listings = ctx.adapt((listing: Listing<M>) => new RouterCommand({ verb: 'set', refs: listing.refs }))
      receptionistOf(ctx.system).subscribe(routees, listings)
    } else for (const ref of refs) members.add(ref)
    return receive(
      (c, message) => {
        if (!(message instanceof RouterCommand)) return routing.route(c, message) as Behavior<M | RouterCommand>
        const { order } = message
        if (order.verb === 'add') members.add(order.ref as ActorRef<M>)
        else if (order.verb === 'remove') members.remove(order.ref)
        else if (order.verb === 'list') tellAny(hostOfRef(c.self), order.to, routing.refs)
        else if (order.verb === 'set') members.set(order.refs as readonly ActorRef<M>[])
        else return unhandled
        return same
      },
      (_c, signal) => {
        if (signal.type !== 'Terminated') return unhandled
        members.remove(signal.ref)
        return same
      },
    )
  })
}

class Group<M> {
  readonly #routing: Routing<M>
  readonly #ctx: ActorContext<never>
  constructor(routing: Routing<M>, ctx: ActorContext<never>) {
    this.#routing = routing
    this.#ctx = ctx
  }
  add(ref: ActorRef<M>): void {
    if (this.#routing.routees.some((r) => r.ref === ref)) return
    this.#ctx.watch(ref)
    this.#routing.routees = [...this.#routing.routees, new Routee(ref, ref.path)]
  }
  remove(ref: AnyRef): void {
    this.#ctx.unwatch(ref)
    this.#routing.routees = this.#routing.routees.filter((r) => (r.ref as AnyRef) !== ref)
  }
  set(refs: readonly ActorRef<M>[]): void {
    for (const { ref } of this.#routing.routees) if (!refs.includes(ref)) this.remove(ref)
    for (const ref of refs) this.add(ref)
  }
}
