// TCP and unix sockets: what differs from TLS is how the socket is made.

import { connect as netConnect, createServer, type NetConnectOpts } from 'node:net'
import type { Behavior } from '@troupe/core'
import { connector, type ConnectOptions, type HandledConnectOptions, type OwnedConnectOptions } from './connect.ts'
import { type ListenerCommand, type ListenOptions, listener } from './listen.ts'
import type { ConnectionCommand, SocketEvent } from './protocol.ts'

function listen(options: ListenOptions): Behavior<ListenerCommand> {
  return listener(options, (accept) => createServer({ allowHalfOpen: true, noDelay: true }, accept))
}

function connect(options: OwnedConnectOptions): Behavior<ConnectionCommand>
function connect<M>(options: HandledConnectOptions<M>): Behavior<M | SocketEvent>
function connect(options: ConnectOptions): Behavior<never> {
  return connector(options, (read) => ({ socket: netConnect(target(read)), ready: 'connect' }))
}

/** Where Node should connect to. */
export function target({ path, port = 0, host = '127.0.0.1' }: ConnectOptions): NetConnectOpts {
  return path === undefined ? { port, host, allowHalfOpen: true, noDelay: true } : { path, allowHalfOpen: true }
}

/**
 * TCP and unix sockets as actors. `listen` and `connect` are behaviors to spawn.
 *
 * Guarantees: chunks in order; at most `credits` of them unhandled before the socket is paused; the socket closes with
 * its actor, and with its owner. Fails: errors arrive as messages with `code`; one that nobody handles fails the actor.
 *
 * @example
 * const listener = system.spawn(tcp.listen({ port: 0, handler: (connection) => receive((_ctx, m) => {
 *   if (m.type === 'data') connection.write(m.chunk)
 *   return same
 * }) }))
 * const { port } = await listener.ask({ type: 'address' })
 */
export const tcp: { readonly listen: typeof listen; readonly connect: typeof connect } = { listen, connect }
