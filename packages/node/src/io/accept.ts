// What a listener does with each new socket: gives it an actor, below itself or through a supervisor of the user's choice.
// There may be many, so a connection costs its link and its behavior; everything else is shared.

import type { Socket } from 'node:net'
import {
  type ActorContext,
  type ActorRef,
  type Behavior,
  child,
  ContextEnded,
  NotAllowed,
  receive,
  same,
  type SpawnOptions,
  supervisorClient,
  SystemClosed,
} from '@troupe/core'
import { handledConnection, Once, ownedConnection } from './connection.ts'
import { Carrier, LossyCarrier, type Source } from './credit.ts'
import { toIoError } from './errors.ts'
import type { ListenerCommand, ListenOptions } from './listen.ts'
import type { Refusals } from './refusals.ts'
import { SocketLink } from './socket-link.ts'

/** Asks a supervisor to spawn a connection's actor: it should call `ctx.spawn(message.behavior, message.options)`. */
export interface SpawnConnection {
  readonly type: 'spawn-connection'
  readonly behavior: Behavior<never>
  readonly options: SpawnOptions
}

export class Acceptor {
  readonly #ctx: ActorContext<ListenerCommand>
  /** Apart from the context, which ends before the connections do. */
  readonly #listener: ActorRef<ListenerCommand>
  readonly #options: ListenOptions
  readonly #what: string
  readonly #spawn: SpawnOptions
  readonly #refusals: Refusals<ListenerCommand>
  readonly #source: Source
  constructor(ctx: ActorContext<ListenerCommand>, options: ListenOptions, place: string, refusals: Refusals<ListenerCommand>, source: Source) {
    this.#ctx = ctx
    this.#listener = ctx.self
    this.#options = options
    this.#what = `serve a connection on ${place}`
    this.#spawn = { supervision: 'stop', ...options.spawn }
    this.#refusals = refusals
    this.#source = source
  }
  take(socket: Socket): void {
    const { supervisor, under, path } = this.#options
    const link = new SocketLink(socket, this.#what, this.#options, undefined, path)
    const behavior = this.#behavior(link)
    if (supervisor !== undefined) {
      const request = new SpawnCarrier(this.#ctx.self, () => this.#turnAway(link, 'not-spawned'))
      return supervisor.tell({ type: 'spawn-connection', behavior, options: this.#spawn }, request)
    }
    if (under !== undefined) {
      const { supervision: _decidedThere, name: _unique, ...rest } = this.#spawn
      const started = supervisorClient(under).startChild(child(nextName(), behavior, { ...rest, restart: 'temporary' }))
      return void started.catch(() => this.#turnAway(link, 'not-spawned'))
    }
    try {
      this.#ctx.spawn(behavior, this.#spawn)
    } catch (cause) {
      if (isStopping(cause)) return link.release()
      this.#ctx.log.error({ cause, remote: link.remote }, 'a connection was turned away: its actor could not be spawned')
      this.#turnAway(link, toIoError(this.#what, cause).code)
    }
  }
  /** Closes what has no actor, and says so. */
  #turnAway(link: SocketLink, code: string): void {
    if (link.attached || link.stale) return
    const { remote } = link
    link.release()
    this.#refusals.tell(code, remote)
  }
  #behavior(link: SocketLink): Behavior<never> {
    const { handler, owner } = this.#options
    if (handler !== undefined) return handledConnection(new Once(link), handler, this.#options)
    return ownedConnection(new Once(link), owner, this.#options, (connection) => {
      // An owner without room for it will not look after it.
      const carrier = new LossyCarrier(this.#listener, this.#source, () => connection.tell({ type: 'destroy' }))
      owner?.tell({ type: 'accepted', connection, remote: link.remote, listener: this.#listener }, carrier)
    })
  }
}

/** A wish to spawn: where it is not taken, or fails, there is no actor to look after the connection. */
class SpawnCarrier extends Carrier {
  readonly #failed: () => void
  constructor(sender: ActorRef<never>, failed: () => void) {
    super(sender, { stale: false, credited: () => {}, undelivered: failed })
    this.#failed = failed
  }
  override end(): void {
    this.#failed()
  }
}

/** Whether a spawn was refused because its parent, or the whole system, is on its way out: a peer that slipped in is turned away. */
export function isStopping(cause: unknown): boolean {
  return cause instanceof SystemClosed || cause instanceof ContextEnded || cause instanceof NotAllowed
}

let named = 0

/** Names connections under a supervisor, whose children have names. */
function nextName(): string {
  return `connection-${++named}`
}

/**
 * A plain supervisor for connections: spawns what listeners send it, and nothing else. Give it to `listen` as
 * `supervisor` to keep connections when the listener restarts.
 *
 * @example
 * const connections = ctx.spawn(connectionSupervisor(), { name: 'connections' })
 * ctx.spawn(tcp.listen({ port: 0, handler, supervisor: connections }))
 */
export function connectionSupervisor(): Behavior<SpawnConnection> {
  return receive((ctx, m) => {
    ctx.spawn(m.behavior, m.options)
    return same
  })
}
