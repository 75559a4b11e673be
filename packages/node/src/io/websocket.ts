// WebSockets that this side connects, as actors on `ws`. websocket-acceptor.ts takes those that others connect.

import { type ActorRef, type Behavior, InvalidOption } from '@troupe/core'
import { checkOptions, messageLimits, webSocketConnectChecks } from './limits.ts'
import { webSocketActor } from './websocket-actor.ts'
import { WebSocketLink, ws } from './websocket-link.ts'
import type { OwnedWebSocketEvent, WebSocketCommand, WebSocketConnection, WebSocketEvent, WebSocketOptions } from './websocket-protocol.ts'

/** Where to connect, beyond the address. */
export interface WebSocketConnectOptions extends WebSocketOptions {
  /** Sent with the request, such as a token; none if left out. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Milliseconds; 10,000 if left out. */
  readonly connectTimeout?: number | undefined
  /** Certificates to trust, for `wss:`. */
  readonly ca?: string | Buffer | undefined
}

function connect(url: string, options: WebSocketConnectOptions & { readonly owner: ActorRef<OwnedWebSocketEvent> }): Behavior<WebSocketCommand>
function connect<M>(
  url: string,
  options: WebSocketConnectOptions & { readonly handler: (connection: WebSocketConnection) => Behavior<M | WebSocketEvent> },
): Behavior<M | WebSocketEvent>
function connect(
  url: string,
  given: WebSocketConnectOptions & {
    readonly owner?: ActorRef<OwnedWebSocketEvent>
    readonly handler?: (connection: WebSocketConnection) => Behavior<WebSocketEvent>
  },
): Behavior<never> {
  const options = checkOptions('websocket.connect', given, webSocketConnectChecks, ['owner', 'handler'])
  const { headers = {}, connectTimeout = 10_000, ca } = options
  if (!/^wss?:$/.test(typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol : ''))
    throw new InvalidOption('url', url, 'use a ws: or wss: URL')
  const open = (): WebSocketLink => {
    const socket = new (ws().WebSocket)(url, {
      headers,
      handshakeTimeout: connectTimeout,
      ...messageLimits(options),
      ...(ca === undefined ? {} : { ca }),
    })
    const { hostname, port, pathname, search } = new URL(url)
    const link = new WebSocketLink(
      socket,
      `connect to ${url}`,
      options,
      { host: hostname, port: port === '' ? undefined : Number(port) },
      pathname + search,
    )
    return link
  }
  return webSocketActor({ open }, options)
}

/**
 * WebSockets as actors. Servers take them through `http.serve({ websocket })`.
 *
 * Guarantees: whole messages in order, at most `credits` of them unhandled before the peer is held; the socket closes
 * with its actor. Fails: errors arrive as messages with `code`; unhandled, the actor fails, and a restart connects anew.
 *
 * @example
 * ctx.spawn(websocket.connect('ws://127.0.0.1:8080/chat', { owner: ctx.self }))
 */
export const websocket: { readonly connect: typeof connect } = { connect }
