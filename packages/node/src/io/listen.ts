// The actor behind a listening socket, for TCP, unix sockets and TLS alike. It spawns an actor for each connection:
// below itself, or through a supervisor of the user's choice. Its stop closes the server, and its children with it.

import type { Server, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { type ActorRef, type Behavior, receive, same, setup, type SpawnOptions, stopped, type SupervisorMessage, unhandled } from '@troupe/core'
import { actorBehind, onRelease } from '@troupe/core/internal'
import { Acceptor, type SpawnConnection } from './accept.ts'
import { Binding } from './binding.ts'
import { Carrier } from './credit.ts'
import { Ending } from './ending.ts'
import { Fall, type IoError, toIoError } from './errors.ts'
import { handshakesOf } from './handshakes.ts'
import { checkOptions, listenChecks } from './limits.ts'
import type { Connection, ConnectionCommand, ConnectionEvent, ConnectionOptions, Endpoint, SocketEvent } from './protocol.ts'
import { Refusals } from './refusals.ts'

/** What a listener tells its owner. */
export type ListenerEvent =
  | { readonly type: 'listening'; readonly address: Endpoint; readonly listener: ActorRef<ListenerCommand> }
  /** A connection has its actor; in the owner form its events follow. */
  | {
      readonly type: 'accepted'
      readonly connection: ActorRef<ConnectionCommand>
      readonly remote: Endpoint
      readonly listener: ActorRef<ListenerCommand>
    }
  /** A peer was turned away: too many connections, a TLS handshake that failed, or no actor for it; and so many more before it, untold. */
  | {
      readonly type: 'refused'
      readonly code: string
      readonly remote: Endpoint
      readonly missed: number
      readonly listener: ActorRef<ListenerCommand>
    }
  /** It cannot listen, and stops; unhandled, it fails instead. */
  | { readonly type: 'listen-error'; readonly code: string; readonly error: IoError; readonly listener: ActorRef<ListenerCommand> }
  | { readonly type: 'listen-closed'; readonly listener: ActorRef<ListenerCommand> }

/** What a listener understands. */
export type ListenerCommand =
  /** Answered with where it listens, once it does. */
  | { readonly type: 'address'; readonly replyTo: ActorRef<Endpoint> }
  /** Takes no further connections; those that are open go on. */
  | { readonly type: 'close' }

type Handler = (connection: Connection) => Behavior<SocketEvent>

/** Where and how to listen, apart from who hears of it. */
export interface ListenSettings extends ConnectionOptions {
  /** 0 lets the system choose; ask the listener for its `address`. */
  readonly port?: number | undefined
  /** 127.0.0.1 if left out: say `0.0.0.0` or `::` to be reached from elsewhere. */
  readonly host?: string | undefined
  /** A unix socket instead of a port. */
  readonly path?: string | undefined
  readonly backlog?: number | undefined
  readonly maxConnections?: number | undefined
  /** How connection actors are spawned; `supervision: 'stop'` unless said otherwise: a failure ends that connection alone. */
  readonly spawn?: SpawnOptions | undefined
  /** Spawns the connection actors in place of the listener. */
  readonly supervisor?: ActorRef<SpawnConnection> | undefined
  /** A `supervisor()` of which connections become temporary children, in place of the listener's. */
  readonly under?: ActorRef<SupervisorMessage> | undefined
}

/** Where and how to listen, and who hears of it: an owner, a handler, or both. */
export type ListenOptions = ListenSettings &
  (
    | {
        /** Hears of the listener and, without a `handler`, of every connection. */
        readonly owner: ActorRef<ListenerEvent | ConnectionEvent>
        /** Makes the behavior of each connection's own actor. */
        readonly handler?: Handler | undefined
      }
    | { readonly owner?: ActorRef<ListenerEvent | ConnectionEvent> | undefined; readonly handler: Handler }
  )

/** Makes the server and calls back for each connection that is ready for use. */
export type MakeServer = (accept: (socket: Socket) => void, refuse: (cause: Error, socket: Socket) => void, options: ListenOptions) => Server

export function listener(given: ListenOptions, make: MakeServer): Behavior<ListenerCommand> {
  const options = checkOptions<ListenOptions>('listen', given, listenChecks, ['owner', 'handler'])
  const { owner } = options
  const place = options.path ?? `${options.host ?? '127.0.0.1'}:${options.port ?? 0}`
  const what = `listen on ${place}`
  return setup<ListenerCommand | Fall>((ctx) => {
    const self: ActorRef<ListenerCommand | Fall> = ctx.self
    const source = { stale: false, credited: () => {}, undelivered: () => self.stop() }
    const carrier = new Carrier(self, source)
    const ending = new Ending(source, () => self.stop({ after: 'queued' }))
    const tell = (event: ListenerEvent): void => owner?.tell(event, carrier)

    const refusals = new Refusals<ListenerCommand>(owner, self, source)
    const acceptor = new Acceptor(ctx, options, place, refusals, source)
    const server = make(
      (socket) => acceptor.take(socket),
      (cause, socket) => refusals.tell(toIoError(what, cause).code, { host: socket.remoteAddress, port: socket.remotePort }),
      options,
    )
    const binding = new Binding(server)
    if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections
    server.on('drop', (dropped) => refusals.tell('too-many-connections', { host: dropped?.remoteAddress, port: dropped?.remotePort }))
    const endHandshakes = server instanceof TlsServer ? handshakesOf(server) : undefined
    server.on('listening', () => {
      const address = binding.bound()
      if (address !== undefined && !source.stale) tell({ type: 'listening', address, listener: self })
    })
    server.on('error', (cause) => {
      const error = toIoError(what, cause)
      const unowned = (): void => self.tell(new Fall(error))
      if (owner === undefined) return unowned()
      owner.tell({ type: 'listen-error', code: error.code, error, listener: self }, ending.error(self, unowned))
      // After a failed listen there is nothing left to do, once the owner has heard so.
      if (!server.listening) owner.tell({ type: 'listen-closed', listener: self }, ending.last(self))
    })
    server.on('close', () => {
      if (!source.stale) tell({ type: 'listen-closed', listener: self })
    })
    onRelease(ctx, {
      release: () => {
        source.stale = true
        binding.close()
        endHandshakes?.()
      },
    })
    const watched = owner === undefined ? undefined : actorBehind(owner)
    if (watched !== undefined && watched !== ctx.parent) ctx.watch(watched)
    const backlog = options.backlog === undefined ? {} : { backlog: options.backlog }
    server.listen(
      options.path === undefined ? { port: options.port ?? 0, host: options.host ?? '127.0.0.1', ...backlog } : { path: options.path, ...backlog },
    )

    return receive(
      (_ctx, m) => {
        switch (m.type) {
          case 'address':
            binding.tellAddress(m.replyTo)
            return same
          case 'close':
            binding.close()
            return same
          case 'fall':
            throw m.error
          default:
            return unhandled
        }
      },
      (_ctx, signal) => (signal.type === 'Terminated' && signal.ref === watched ? stopped : unhandled),
    )
  })
}
