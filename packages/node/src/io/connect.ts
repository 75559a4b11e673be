// The actor behind an outgoing connection. A restart connects anew, so a supervisor with backoff is a reconnecting
// client.

import type { Socket } from 'node:net'
import type { ActorContext, ActorRef, Behavior } from '@troupe/core'
import { handledConnection, ownedConnection } from './connection.ts'
import { IoError } from './errors.ts'
import { later } from './later.ts'
import { checkNeeded, checkOptions, connectChecks } from './limits.ts'
import type { Connection, ConnectionEvent, ConnectionOptions, SocketEvent } from './protocol.ts'
import { SocketLink } from './socket-link.ts'

/** Where to connect. */
export interface ConnectOptions extends ConnectionOptions {
  /** The port to connect to; needed unless a `path` is given. */
  readonly port?: number | undefined
  /** 127.0.0.1 if left out. */
  readonly host?: string | undefined
  /** A unix socket instead of a port. */
  readonly path?: string | undefined
  /** Milliseconds; 10,000 if left out. Beyond, the error `connect-timeout`. */
  readonly connectTimeout?: number | undefined
}

/** Adds who hears of it. */
export interface OwnedConnectOptions extends ConnectOptions {
  /** Who is told what happens on the connection. */
  readonly owner: ActorRef<ConnectionEvent>
}

/** Adds the behavior of the socket's own actor. */
export interface HandledConnectOptions<M> extends ConnectOptions {
  /** The behavior of the connection's own actor, made once it is connected. */
  readonly handler: (connection: Connection) => Behavior<M | SocketEvent>
}

/** Begins to connect; `ready` is the event after which the socket can be used. */
export type MakeSocket = (options: ConnectOptions) => { readonly socket: Socket; readonly ready: 'connect' | 'secureConnect' }

export function connector<M>(
  given: ConnectOptions & { readonly owner?: ActorRef<ConnectionEvent>; readonly handler?: HandledConnectOptions<M>['handler'] },
  make: MakeSocket,
): Behavior<never> {
  const options = checkOptions('connect', given, connectChecks, ['owner', 'handler'])
  checkNeeded('connect', options, ['port', 'path'])
  const place = options.path ?? `${options.host ?? '127.0.0.1'}:${options.port ?? 0}`
  const open = (ctx: ActorContext<never>): SocketLink => {
    const { socket, ready } = make(options)
    const link = new SocketLink(socket, `connect to ${place}`, options, undefined, options.path)
    const ms = options.connectTimeout ?? 10_000
    const cancel = later(ctx, ms, () => link.fail(new IoError(`connect to ${place}`, 'connect-timeout', `no answer within ${ms} ms`)))
    socket.once('close', cancel)
    socket.once(ready, () => {
      cancel()
      socket.removeListener('close', cancel)
      link.connected()
    })
    return link
  }
  const { handler, owner } = options
  return handler === undefined ? ownedConnection({ open }, owner, options) : handledConnection({ open }, handler, options)
}
