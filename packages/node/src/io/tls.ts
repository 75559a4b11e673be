// TLS with the surface of TCP: a connection is announced once its handshake is done.

import { connect as tlsConnect, type ConnectionOptions as NodeTlsConnect, createServer, type TlsOptions } from 'node:tls'
import type { Behavior } from '@troupe/core'
import { connector, type ConnectOptions, type HandledConnectOptions, type OwnedConnectOptions } from './connect.ts'
import { type ListenerCommand, type ListenOptions, listener } from './listen.ts'
import type { ConnectionCommand, SocketEvent } from './protocol.ts'
import { target } from './tcp.ts'

/** The certificates of a server, as Node takes them. */
export type TlsServerOptions = Pick<
  TlsOptions,
  | 'key'
  | 'cert'
  | 'ca'
  | 'pfx'
  | 'passphrase'
  | 'requestCert'
  | 'rejectUnauthorized'
  | 'ALPNProtocols'
  | 'SNICallback'
  | 'minVersion'
  | 'handshakeTimeout'
>

/** Whom a client trusts and how it names the server, as Node takes it. */
export type TlsClientOptions = Pick<
  NodeTlsConnect,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized' | 'ALPNProtocols' | 'minVersion' | 'checkServerIdentity'
>

interface Secured<T> {
  readonly tls: T
}

function listen(options: ListenOptions & Secured<TlsServerOptions>): Behavior<ListenerCommand> {
  return listener(options, (accept, refuse, read) => {
    const server = createServer({ ...(read as typeof options).tls, allowHalfOpen: true, noDelay: true }, accept)
    server.on('tlsClientError', refuse)
    return server
  })
}

function connect(options: OwnedConnectOptions & Secured<TlsClientOptions>): Behavior<ConnectionCommand>
function connect<M>(options: HandledConnectOptions<M> & Secured<TlsClientOptions>): Behavior<M | SocketEvent>
function connect(options: ConnectOptions & Secured<TlsClientOptions>): Behavior<never> {
  return connector(options, (read) => ({ socket: tlsConnect({ ...(read as typeof options).tls, ...target(read) }), ready: 'secureConnect' }))
}

/**
 * TLS as actors: `tcp` with certificates in `tls`. A handshake that fails is `refused` to the listener's owner and an
 * `error` with the certificate's code to the client's.
 *
 * @example
 * system.spawn(tls.listen({ port: 0, tls: { key, cert }, handler }))
 */
export const tls: { readonly listen: typeof listen; readonly connect: typeof connect } = { listen, connect }
