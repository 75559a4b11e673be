// Ties a link to the life of an actor, in two forms. Owned: a connection actor that takes commands and whose socket
// speaks to its owner directly. Handled: the user's own actor owns the socket and hears it without a hop between.
// Either way the socket ends with the incarnation, and the actor ends after `closed` was heard.

import { type ActorContext, type ActorRef, type Behavior, receive, same, setup, stopped, unhandled } from 'troupe'
import { actorBehind, onRelease } from 'troupe/internal'
import type { Fall } from './errors.ts'
import { whenIdle } from './later.ts'
import type { Link } from './link.ts'
import type { ConnectionCommand, ConnectionEvent, ConnectionOptions } from './protocol.ts'

/** What ends with an actor: a socket, a WebSocket. */
export interface Tied {
  readonly stale: boolean
  readonly activity: number
  attach(ctx: ActorContext<never>, to: ActorRef<never> | undefined, connection: ActorRef<never> | undefined): void
  destroy(reason?: 'idle'): void
  release(): void
}

/** Makes the link of a new incarnation; undefined where it cannot come back, and then the actor stops. */
export type Open<L extends Tied> = (ctx: ActorContext<never>) => L | undefined
export type OpenLink = Open<Link>

/** A connection actor with an owner. */
export function ownedConnection(
  open: OpenLink,
  owner: ActorRef<ConnectionEvent> | undefined,
  options: ConnectionOptions,
  accepted?: (connection: ActorRef<ConnectionCommand>) => void,
): Behavior<ConnectionCommand> {
  return setup<ConnectionCommand | Fall>((ctx) => {
    const link = open(ctx)
    if (link === undefined) return stopped
    tie(ctx, link, options)
    const { self } = ctx
    const watched = new Watched(ctx)
    watched.change(owner)
    accepted?.(self)
    link.attach(ctx, owner, self)
    return receive(
      (_ctx, m) => {
        switch (m.type) {
          case 'write':
            link.write(m.data)
            return same
          case 'end':
            link.end(m.data)
            return same
          case 'destroy':
            link.destroy()
            return same
          case 'pause':
            link.pause()
            return same
          case 'resume':
            link.resume()
            return same
          case 'ack':
            link.ack()
            return same
          case 'flush':
            link.flush(m.replyTo)
            return same
          case 'own':
            watched.change(m.owner)
            link.own(m.owner)
            return same
          case 'fall':
            throw m.error
          default:
            return unhandled
        }
      },
      (_ctx, signal) => (signal.type === 'Terminated' && watched.is(signal.ref) ? stopped : unhandled),
    )
  })
}

/** The user's actor as the owner of its socket. */
export function handledConnection<M, L extends Tied>(
  open: Open<L>,
  handler: (connection: L) => Behavior<M>,
  options: Pick<ConnectionOptions, 'idleTimeout'>,
): Behavior<M> {
  return setup<M>((ctx) => {
    const link = open(ctx)
    if (link === undefined) return stopped
    tie(ctx, link, options)
    const behavior = handler(link)
    link.attach(ctx, ctx.self, undefined)
    return behavior
  })
}

export function tie(ctx: ActorContext<never>, link: Tied, options: Pick<ConnectionOptions, 'idleTimeout'>): void {
  const { idleTimeout } = options
  if (idleTimeout !== undefined)
    onRelease(ctx, {
      release: whenIdle(
        ctx,
        idleTimeout,
        () => link.activity,
        () => link.destroy('idle'),
      ),
    })
  onRelease(ctx, link)
}

/** The owner whose end is this actor's end too. An adapter counts as the actor behind it; a child needs no watch. */
export class Watched {
  readonly #ctx: ActorContext<never>
  #ref: ActorRef<never> | undefined = undefined
  constructor(ctx: ActorContext<never>) {
    this.#ctx = ctx
  }
  change(owner: ActorRef<never> | undefined): void {
    const behind = owner === undefined ? undefined : actorBehind(owner)
    const ref = behind === this.#ctx.parent ? undefined : behind
    if (ref === this.#ref) return
    if (this.#ref !== undefined) this.#ctx.unwatch(this.#ref)
    this.#ref = ref
    if (ref !== undefined) this.#ctx.watch(ref)
  }
  is(ref: ActorRef<never>): boolean {
    return ref === this.#ref
  }
}
