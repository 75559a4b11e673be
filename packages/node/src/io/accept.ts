// What a listener does with each new socket: gives it an actor, below itself or through a supervisor of the user's choice.
// There may be many, so a connection costs its link and its behavior; everything else is shared.

import type { Socket } from 'node:net'
import {
  type ActorContext,
  type Behavior,
  child,
  ContextEnded,
  NotAllowed,
  receive,
  same,
  type SpawnOptions,
  supervisorClient,
  SystemClosed,
} from 'troupe'
import { handledConnection, Once, ownedConnection } from './connection.ts'
import { Carrier } from './credit.ts'
import { toIoError } from './errors.ts'
import type { ListenerCommand, ListenerEvent, ListenOptions } from './listen.ts'
import { SocketLink } from './socket-link.ts'

/** Asks a supervisor to spawn a connection's actor: it should call `ctx.spawn(message.behavior, message.options)`. */
export interface SpawnConnection {
  readonly type: 'spawn-connection'
  readonly behavior: Behavior<never>
  readonly options: SpawnOptions
}

export class Acceptor {
  readonly #ctx: ActorContext<ListenerCommand>
  readonly #options: ListenOptions
  readonly #what: string
  readonly #spawn: SpawnOptions
  readonly #tell: (event: ListenerEvent) => void
  constructor(ctx: ActorContext<ListenerCommand>, options: ListenOptions, place: string, tell: (event: ListenerEvent) => void) {
    this.#ctx = ctx
    this.#options = options
    this.#what = `serve a connection on ${place}`
    this.#spawn = { supervision: 'stop', ...options.spawn }
    this.#tell = tell
  }
  take(socket: Socket): void {
    const { supervisor, under, path } = this.#options
    const link = new SocketLink(socket, this.#what, this.#options, undefined, path)
    const behavior = this.#behavior(link)
    if (supervisor !== undefined) {
      const source = { stale: false, credited: () => {}, undelivered: () => link.release() }
      return supervisor.tell({ type: 'spawn-connection', behavior, options: this.#spawn }, new Carrier(this.#ctx.self, source))
    }
    if (under !== undefined) {
      const { supervision: _decidedThere, name: _unique, ...rest } = this.#spawn
      const started = supervisorClient(under).startChild(child(nextName(), behavior, { ...rest, restart: 'temporary' }))
      return void started.catch(() => link.release())
    }
    try {
      this.#ctx.spawn(behavior, this.#spawn)
    } catch (cause) {
      const { remote } = link
      link.release()
      if (isStopping(cause)) return
      this.#ctx.log.error({ cause, remote }, 'a connection was turned away: its actor could not be spawned')
      this.#tell({ type: 'refused', code: toIoError(this.#what, cause).code, remote, listener: this.#ctx.self })
    }
  }
  #behavior(link: SocketLink): Behavior<never> {
    const { handler, owner } = this.#options
    if (handler !== undefined) return handledConnection(new Once(link), handler, this.#options)
    return ownedConnection(new Once(link), owner, this.#options, (connection) =>
      this.#tell({ type: 'accepted', connection, remote: link.remote, listener: this.#ctx.self }),
    )
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
