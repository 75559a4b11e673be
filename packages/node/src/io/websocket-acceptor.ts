// Decides which upgrade requests of an HTTP server become WebSockets, and spawns an actor for each. A client is let in only where `accept`
// returns, or resolves to, something true: everything else refuses it. While `accept` is pending the client waits, for a bounded time and
// among a bounded number of others, and is cut off when the server stops.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ActorContext, ActorRef, Behavior, SpawnOptions } from '@troupe/core'
import { budgets, isThenable } from '@troupe/core/internal'
import type { WebSocketServer } from 'ws'
import { isStopping } from './accept.ts'
import { Once } from './connection.ts'
import { LossyCarrier } from './credit.ts'
import { targetOf } from './http-target.ts'
import { later } from './later.ts'
import { messageLimits } from './limits.ts'
import { webSocketActor } from './websocket-actor.ts'
import { WebSocketLink, ws } from './websocket-link.ts'
import type {
  AcceptedWebSocket,
  OwnedWebSocketEvent,
  WebSocketConnection,
  WebSocketEvent,
  WebSocketOptions,
  WebSocketRequest,
} from './websocket-protocol.ts'

/** Options of a server's WebSockets. `A` is what `accept` finds out about a client. */
export interface WebSocketAcceptOptions<A = unknown> extends WebSocketOptions {
  /** The only path taken; any if left out. */
  readonly path?: string | undefined
  /**
   * Decides who is let in: the place to check `origin`, cookies and tokens. It may be async. Where the result is falsy the client gets 403; where it
   * throws or rejects, 500, and the log says why. Anything else lets the client in, and is given to the handler as `accepted`.
   */
  readonly accept?: ((request: WebSocketRequest) => Decision<A> | PromiseLike<Decision<A>>) | undefined
  /** Milliseconds for `accept` to settle; beyond: 503. 10,000 if left out. */
  readonly acceptTimeout?: number | undefined
  /** The behavior of each connection's own actor; either this or an `owner`. */
  readonly handler?: ((connection: WebSocketConnection, request: AcceptedWebSocket<A>) => Behavior<WebSocketEvent>) | undefined
  /** Who is told the events of all connections; either this or a `handler`. */
  readonly owner?: ActorRef<OwnedWebSocketEvent<A>> | undefined
  /** Spawn options of the actors; `supervision: 'stop'` if left out. */
  readonly spawn?: SpawnOptions | undefined
}

type Decision<A> = A | false | null | undefined

/** One handshake under way. */
interface Handshake {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly asked: WebSocketRequest
}

export class WebSocketAcceptor {
  readonly #ctx: ActorContext<never>
  readonly #self: ActorRef<never>
  readonly #options: WebSocketAcceptOptions
  readonly #maxPending: number
  readonly #server: WebSocketServer
  /** Those that wait for `accept`, and how each is taken off the list; that says whether it was on it. */
  readonly #pending = new Map<Duplex, () => boolean>()
  constructor(ctx: ActorContext<never>, options: WebSocketAcceptOptions, maxPending: number) {
    this.#ctx = ctx
    this.#self = ctx.self
    this.#options = options
    this.#maxPending = maxPending
    budgets.onOwner?.('WebSockets that wait for accept', () => this.#pending.size)
    this.#server = new (ws().WebSocketServer)({ noServer: true, ...messageLimits(options), clientTracking: false })
  }

  /** Cuts off those that wait. */
  close(): void {
    for (const [socket, settle] of this.#pending) {
      settle()
      socket.destroy()
    }
    this.#server.close()
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { path, accept } = this.#options
    const url = request.url ?? '/'
    const { remoteAddress, remotePort } = request.socket
    const asked = { url, headers: request.headers, remote: { host: remoteAddress, port: remotePort } }
    const handshake: Handshake = { request, socket, head, asked }
    socket.on('error', () => {})
    if (path !== undefined && targetOf(url)?.path !== path) return refuse(socket, '404 Not Found')
    if (accept === undefined) return this.#admit(handshake, true)
    if (this.#pending.size >= this.#maxPending) return refuse(socket, '503 Service Unavailable')
    try {
      const decision = accept(asked)
      if (isThenable(decision)) this.#await(handshake, decision)
      else this.#decide(handshake, decision)
    } catch (cause) {
      this.#failed(handshake, cause)
    }
  }

  #await(handshake: Handshake, decision: PromiseLike<unknown>): void {
    const { socket } = handshake
    const settle = (): boolean => {
      cancel()
      socket.removeListener('close', settle)
      return this.#pending.delete(socket)
    }
    const cancel = later(this.#ctx, this.#options.acceptTimeout ?? 10_000, () => {
      settle()
      this.#ctx.log.warn({ url: handshake.asked.url }, 'a WebSocket was refused: accept did not settle in time')
      refuse(socket, '503 Service Unavailable')
    })
    socket.on('close', settle)
    this.#pending.set(socket, settle)
    Promise.resolve(decision).then(
      (accepted) => {
        if (settle()) this.#decide(handshake, accepted)
      },
      (cause: unknown) => {
        if (settle()) this.#failed(handshake, cause)
      },
    )
  }

  #decide(handshake: Handshake, accepted: unknown): void {
    if (accepted) this.#admit(handshake, accepted)
    else refuse(handshake.socket, '403 Forbidden')
  }

  #failed({ socket, asked }: Handshake, cause: unknown): void {
    this.#ctx.log.error({ cause, url: asked.url }, 'a WebSocket was refused: its check failed')
    refuse(socket, '500 Internal Server Error')
  }

  #admit({ request, socket, head, asked }: Handshake, accepted: unknown): void {
    const options = this.#options
    const { url, remote } = asked
    const granted: AcceptedWebSocket = { ...asked, accepted }
    this.#server.handleUpgrade(request, socket, head, (websocket) => {
      websocket.pause()
      const link = new WebSocketLink(websocket, `serve a WebSocket of ${remote.host}:${remote.port}`, options, remote, url)
      const { handler, owner } = options
      const own = handler === undefined ? undefined : (connection: WebSocketConnection): Behavior<WebSocketEvent> => handler(connection, granted)
      const behavior = webSocketActor(new Once(link), { ...options, handler: own }, (connection) => {
        // An owner without room for it will not look after it.
        const carrier = new LossyCarrier(this.#self, link, () => connection.tell({ type: 'destroy' }))
        owner?.tell({ type: 'accepted', connection, ...granted }, carrier)
      })
      try {
        this.#ctx.spawn(behavior, { supervision: 'stop', ...options.spawn })
      } catch (cause) {
        link.release()
        if (!isStopping(cause)) this.#ctx.log.error({ cause, url }, 'a WebSocket was closed: its actor could not be spawned')
      }
    })
  }
}

/** Answers and closes: a client that does not close in its turn must not keep the socket. */
function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}
