// WebSockets as actors, on `ws`: accepted by an HTTP server, or connected.

import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import { type ActorContext, type ActorRef, type Behavior, InvalidOption, same, type SpawnOptions, unhandled } from '@troupe/core'
import type * as Ws from 'ws'
import { isStopping } from './accept.ts'
import { handledConnection, type Obey, Once, type Opening, ownedLink } from './connection.ts'
import { targetOf } from './http-target.ts'
import { checkOptions, webSocketConnectChecks } from './limits.ts'
import { WebSocketLink } from './websocket-link.ts'
import type { OwnedWebSocketEvent, WebSocketCommand, WebSocketConnection, WebSocketEvent, WebSocketOptions } from './websocket-protocol.ts'

/** Loaded with the first WebSocket: it takes as long as all of Troupe, and most programs and all threads do without. */
let loaded: typeof Ws | undefined
const ws = (): typeof Ws => (loaded ??= createRequire(import.meta.url)('ws') as typeof Ws)

/** How an HTTP server takes WebSockets. */
export interface WebSocketAcceptOptions extends WebSocketOptions {
  /** The only path taken; any if left out. */
  readonly path?: string | undefined
  /** Refuses a handshake with 403 where it returns false: the place to check `origin` and cookies. */
  readonly accept?: ((request: { readonly url: string; readonly headers: IncomingMessage['headers'] }) => boolean) | undefined
  readonly handler?: ((connection: WebSocketConnection) => Behavior<WebSocketEvent>) | undefined
  readonly owner?: ActorRef<OwnedWebSocketEvent> | undefined
  /** How the actors are spawned; `supervision: 'stop'` unless said otherwise. */
  readonly spawn?: SpawnOptions | undefined
}

const obey: Obey<WebSocketLink, WebSocketCommand> = (link, m) => {
  switch (m.type) {
    case 'send':
      link.send(m.data)
      return same
    case 'close':
      link.close(m.code, m.reason)
      return same
    default:
      return unhandled
  }
}

/** The actor of a WebSocket, in the form that was asked for. */
function actorOf(
  opening: Opening<WebSocketLink>,
  options: WebSocketOptions & {
    readonly owner?: ActorRef<OwnedWebSocketEvent> | undefined
    readonly handler?: ((connection: WebSocketConnection) => Behavior<WebSocketEvent>) | undefined
  },
): Behavior<never> {
  const { handler, owner } = options
  return handler === undefined ? ownedLink(opening, owner, options, obey) : handledConnection(opening, handler, options)
}

/** Takes the upgrade requests of an HTTP server; spawns an actor for each WebSocket. */
export function webSocketAcceptor(
  ctx: ActorContext<never>,
  options: WebSocketAcceptOptions,
): { upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void; close(): void } {
  const server = new (ws().WebSocketServer)({ noServer: true, maxPayload: options.maxMessage ?? 1024 * 1024, clientTracking: false })
  // A client that does not close in its turn must not keep the socket.
  const refuse = (socket: Duplex, status: string): void =>
    void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
  const { accept, path } = options
  /** Why a handshake is refused. */
  const objection = (url: string, { headers }: IncomingMessage): string | undefined => {
    if (path !== undefined && targetOf(url)?.path !== path) return '404 Not Found'
    try {
      return accept?.({ url, headers }) === false ? '403 Forbidden' : undefined
    } catch (cause) {
      ctx.log.error({ cause, url }, 'a WebSocket was refused: its check failed')
      return '500 Internal Server Error'
    }
  }
  return {
    close: () => server.close(),
    upgrade: (request, socket, head) => {
      const url = request.url ?? '/'
      socket.on('error', () => {})
      const problem = objection(url, request)
      if (problem !== undefined) return refuse(socket, problem)
      const { remoteAddress, remotePort } = request.socket
      server.handleUpgrade(request, socket, head, (websocket) => {
        websocket.pause()
        const link = new WebSocketLink(
          websocket,
          `serve a WebSocket of ${remoteAddress}:${remotePort}`,
          options,
          { host: remoteAddress, port: remotePort },
          url,
        )
        const behavior = actorOf(new Once(link), options)
        try {
          ctx.spawn(behavior, { supervision: 'stop', ...options.spawn })
        } catch (cause) {
          link.release()
          if (!isStopping(cause)) ctx.log.error({ cause, url }, 'a WebSocket was closed: its actor could not be spawned')
        }
      })
    },
  }
}

/** Where to connect, beyond the address. */
export interface WebSocketConnectOptions extends WebSocketOptions {
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
  const { headers = {}, connectTimeout = 10_000, maxMessage = 1024 * 1024, ca } = options
  if (!/^wss?:$/.test(typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol : ''))
    throw new InvalidOption('url', url, 'use a ws: or wss: URL')
  const open = (): WebSocketLink => {
    const socket = new (ws().WebSocket)(url, {
      headers,
      handshakeTimeout: connectTimeout,
      maxPayload: maxMessage,
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
  return actorOf({ open }, options)
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
