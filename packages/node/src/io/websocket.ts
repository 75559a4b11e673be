// WebSockets as actors, on `ws`: accepted by an HTTP server, or connected.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ActorContext, type ActorRef, type Behavior, receive, same, setup, type SpawnOptions, stopped, unhandled } from 'troupe'
import { onRelease } from 'troupe/internal'
import { WebSocket, WebSocketServer } from 'ws'
import { handledConnection, type Open, tie, Watched } from './connection.ts'
import type { Fall } from './errors.ts'
import { later } from './later.ts'
import { WebSocketLink } from './websocket-link.ts'
import type { OwnedWebSocketEvent, WebSocketCommand, WebSocketConnection, WebSocketEvent, WebSocketOptions } from './websocket-protocol.ts'

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

function owned(open: Open<WebSocketLink>, owner: ActorRef<OwnedWebSocketEvent> | undefined, options: WebSocketOptions): Behavior<WebSocketCommand> {
  return setup<WebSocketCommand | Fall>((ctx) => {
    const link = open(ctx)
    if (link === undefined) return stopped
    tie(ctx, link, options)
    const { self } = ctx
    const watched = new Watched(ctx)
    watched.change(owner)
    link.attach(ctx, owner, self)
    return receive(
      (_ctx, m) => {
        switch (m.type) {
          case 'send':
            link.send(m.data)
            return same
          case 'close':
            link.close(m.code, m.reason)
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

/** Pings for as long as the incarnation lives. */
function keepAlive(ctx: ActorContext<never>, link: WebSocketLink, options: WebSocketOptions): void {
  const { pingEvery = 30_000 } = options
  if (pingEvery <= 0) return
  let cancel = (): void => {}
  const look = (): void => {
    if (link.stale) return
    link.checkAlive()
    cancel = later(ctx, pingEvery, look)
  }
  cancel = later(ctx, pingEvery, look)
  onRelease(ctx, { release: () => cancel() })
}

/** Takes the upgrade requests of an HTTP server; spawns an actor for each WebSocket. */
export function webSocketAcceptor(
  ctx: ActorContext<never>,
  options: WebSocketAcceptOptions,
): { upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void; close(): void } {
  const server = new WebSocketServer({ noServer: true, maxPayload: options.maxMessage ?? 1024 * 1024, clientTracking: false })
  const refuse = (socket: Duplex, status: string): void => void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  return {
    close: () => server.close(),
    upgrade: (request, socket, head) => {
      const url = request.url ?? '/'
      socket.on('error', () => {})
      if (options.path !== undefined && url.split('?')[0] !== options.path) return refuse(socket, '404 Not Found')
      if (options.accept?.({ url, headers: request.headers }) === false) return refuse(socket, '403 Forbidden')
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
        const open: Open<WebSocketLink> = (child) => {
          if (link.attached || link.stale) return undefined
          keepAlive(child, link, options)
          return link
        }
        const behavior: Behavior<never> =
          options.handler === undefined ? owned(open, options.owner, options) : handledConnection(open, options.handler, options)
        try {
          ctx.spawn(behavior, { supervision: 'stop', ...options.spawn })
        } catch {
          link.release()
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
  options: WebSocketConnectOptions & {
    readonly owner?: ActorRef<OwnedWebSocketEvent>
    readonly handler?: (connection: WebSocketConnection) => Behavior<WebSocketEvent>
  },
): Behavior<never> {
  const { headers = {}, connectTimeout = 10_000, maxMessage = 1024 * 1024, ca } = options
  const open: Open<WebSocketLink> = (ctx) => {
    const socket = new WebSocket(url, { headers, handshakeTimeout: connectTimeout, maxPayload: maxMessage, ...(ca === undefined ? {} : { ca }) })
    const { hostname, port, pathname, search } = new URL(url)
    const link = new WebSocketLink(
      socket,
      `connect to ${url}`,
      options,
      { host: hostname, port: port === '' ? undefined : Number(port) },
      pathname + search,
    )
    keepAlive(ctx, link, options)
    return link
  }
  return options.handler === undefined ? owned(open, options.owner, options) : handledConnection(open, options.handler, options)
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
