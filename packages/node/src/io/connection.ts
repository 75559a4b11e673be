// Ties a link to the life of an actor, in two forms. Owned: a connection actor that takes commands and whose socket
// speaks to its owner directly. Handled: the user's own actor owns the socket and hears it without a hop between.
// Either way the socket ends with the incarnation, also with one that never starts, and the actor ends after `closed`.

import { type ActorContext, type ActorRef, type Behavior, InvalidOption, type Next, receive, same, stopped, unhandled } from '@troupe/core'
import { actorBehind, checkRef, onRelease, setupOrRelease } from '@troupe/core/internal'
import type { Fall } from './errors.ts'
import { Follow } from './half-close.ts'
import { whenIdle } from './later.ts'
import type { StreamLink } from './stream-link.ts'
import type { ConnectionCommand, ConnectionEvent, ConnectionOptions } from './protocol.ts'
import type { SocketLink } from './socket-link.ts'

type AnyLink = StreamLink<never, never>

/** Where the link of an incarnation comes from. */
export interface Opening<L> {
  /** Undefined where it cannot come back; then the actor stops. */
  open(ctx: ActorContext<never>): L | undefined
  /** The link that is there before its actor: let go of where that never starts. */
  readonly link?: L
}

/** A connection that is there once, such as an accepted one: a restarted actor finds it gone, and stops. */
export class Once<L extends AnyLink> implements Opening<L> {
  readonly link: L
  constructor(link: L) {
    this.link = link
  }
  open(): L | undefined {
    return this.link.attached || this.link.stale ? undefined : this.link
  }
}

/** What a connection actor understands besides `destroy`, `pause` and `resume`. */
export type Obey<L, C> = (link: L, command: C, own: (owner: ActorRef<never>) => void) => Next<C>

type Common = { readonly type: 'destroy' | 'pause' | 'resume' } | Fall | Follow

/** A connection actor with an owner. */
export function ownedLink<L extends AnyLink, C extends { readonly type: string }>(
  opening: Opening<L>,
  owner: ActorRef<never> | undefined,
  options: Pick<ConnectionOptions, 'idleTimeout'>,
  obey: Obey<L, C>,
  accepted?: (connection: ActorRef<C>) => void,
): Behavior<C> {
  const begin = (ctx: ActorContext<C | Common>): Behavior<C | Common> => {
    const link = opening.open(ctx)
    if (link === undefined) return stopped
    tie(ctx, link, options)
    const self: ActorRef<C> = ctx.self
    const watched = new Watched(ctx)
    watched.change(owner)
    accepted?.(self)
    link.attach(ctx, owner, self)
    const own = (to: ActorRef<never>): void => {
      watched.change(to)
      link.own(to)
    }
    return receive<C | Common>(
      (_ctx, m) => {
        switch (m.type) {
          case 'destroy':
            link.destroy()
            return same
          case 'pause':
            link.pause()
            return same
          case 'resume':
            link.resume()
            return same
          case 'fall':
            throw (m as Fall).error
          case 'follow':
            if (!(m instanceof Follow)) return unhandled
            link.follow(m.halfClose)
            return same
          default:
            try {
              return obey(link, m as C, own) as Next<C | Common>
            } catch (cause) {
              if (!(cause instanceof InvalidOption)) throw cause
              link.misused(cause)
              return same
            }
        }
      },
      (_ctx, signal) => {
        if (signal.type !== 'Terminated' || !watched.is(signal.ref)) return unhandled
        // What its owner has told it to write comes first.
        self.stop({ after: 'queued' })
        return same
      },
    )
  }
  return setupOrRelease(begin, opening.link)
}

/** The user's actor as the owner of its socket. */
export function handledConnection<M, L extends AnyLink>(
  opening: Opening<L>,
  handler: (connection: L) => Behavior<M>,
  options: Pick<ConnectionOptions, 'idleTimeout'>,
): Behavior<M> {
  const begin = (ctx: ActorContext<M>): Behavior<M> => {
    const link = opening.open(ctx)
    if (link === undefined) return stopped
    tie(ctx, link, options)
    const behavior = handler(link)
    link.attach(ctx, ctx.self, undefined)
    return behavior
  }
  return setupOrRelease(begin, opening.link)
}

/** A connection actor around a socket or another stream. */
export function ownedConnection(
  opening: Opening<SocketLink>,
  owner: ActorRef<ConnectionEvent> | undefined,
  options: ConnectionOptions,
  accepted?: (connection: ActorRef<ConnectionCommand>) => void,
): Behavior<ConnectionCommand> {
  return ownedLink<SocketLink, ConnectionCommand>(opening, owner, options, obeySocket, accepted)
}

export const obeySocket: Obey<SocketLink, ConnectionCommand> = (link, m, own) => {
  switch (m.type) {
    case 'write':
      // Told before the owner knew of the end, and nobody is there to hear of it any more.
      if (link.over) return unhandled
      link.write(m.data)
      return same
    case 'end':
      link.end(m.data)
      return same
    case 'ack':
      link.ack()
      return same
    case 'flush':
      link.flush(m.replyTo)
      return same
    case 'own':
      checkRef('owner', m.owner)
      own(m.owner)
      return same
    default:
      return unhandled
  }
}

function tie(ctx: ActorContext<never>, link: AnyLink, options: Pick<ConnectionOptions, 'idleTimeout'>): void {
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
class Watched {
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
