// HTTP/1.1 on node:http: each request is a message to the owner, and an actor of its own that takes the answer.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import { type ActorRef, type Behavior, same, unhandled } from '@troupe/core'
import { Binding } from './binding.ts'
import { Carrier, type MessageEnd } from './credit.ts'
import { type IoError, toIoError } from './errors.ts'
import { handshakesOf } from './handshakes.ts'
import { collect, refuseBody } from './http-body.ts'
import { answerWhole } from './http-answer.ts'
import { exchange, type ExchangeCommand } from './http-exchange.ts'
import { type Target, targetOf } from './http-target.ts'
import { type RequestUnderWay, Traffic } from './http-traffic.ts'
import { checkOptions, httpChecks } from './limits.ts'
import type { Endpoint } from './protocol.ts'
import { resource } from './resource.ts'
import type { TlsServerOptions } from './tls.ts'
import { WebSocketAcceptor, type WebSocketAcceptOptions } from './websocket-acceptor.ts'

/** One request. Answer it by telling `exchange`. */
export interface HttpRequest {
  readonly type: 'request'
  readonly method: string
  /** Path without the query; `*` where a client asks about the server as a whole. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly remote: Endpoint
  /** The whole body; empty with `body: 'stream'`, where `exchange` is told to `read` it. */
  readonly body: Buffer
  readonly exchange: ActorRef<ExchangeCommand>
}

/** What the owner of an HTTP server receives. */
export type HttpEvent =
  | HttpRequest
  | { readonly type: 'listening'; readonly address: Endpoint }
  /** It cannot listen, and stops; unhandled, it fails instead. */
  | { readonly type: 'listen-error'; readonly code: string; readonly error: IoError }
  | { readonly type: 'listen-closed' }

/** What an HTTP server understands. */
export type HttpCommand =
  | { readonly type: 'address'; readonly replyTo: ActorRef<Endpoint> }
  /** Takes no further connections; requests under way go on. */
  | { readonly type: 'close' }

/** Where to listen, who answers, and what is taken. */
export interface HttpServeOptions<A = unknown> {
  /** Who is told requests, and what happens to the server. */
  readonly owner: ActorRef<HttpEvent>
  /** 0 if left out, which lets the system choose; ask the server for its `address`. */
  readonly port?: number | undefined
  /** 127.0.0.1 if left out: say `0.0.0.0` or `::` to be reached from elsewhere. */
  readonly host?: string | undefined
  /** A unix socket to listen on instead of a port; none if left out. */
  readonly path?: string | undefined
  /** `collect` (default) tells requests with their whole body; `stream` at once, the body on demand. */
  readonly body?: 'collect' | 'stream' | undefined
  /** Bytes of the largest body collected; beyond: 413. 1 MiB if left out. */
  readonly maxBody?: number | undefined
  /** Milliseconds until a request whose answer has not begun gets 504; 30,000 if left out. While a body is read, since its last part. */
  readonly responseTimeout?: number | undefined
  /** Milliseconds for a request to arrive as a whole; beyond: 408. 300,000 if left out, 0 for any time. */
  readonly requestTimeout?: number | undefined
  /** Milliseconds without traffic either way after which a connection is closed, also one that waits for an answer, or reads none of it. */
  readonly idleTimeout?: number | undefined
  /** Requests under way at a time; beyond: 503. 10,000 if left out. */
  readonly maxRequests?: number | undefined
  /** Requests of one connection under way at a time; beyond: 503. 256 if left out. */
  readonly maxPipelined?: number | undefined
  /** Bytes that may wait for a slow client; beyond, it is cut off. 16 MiB if left out. */
  readonly maxBuffered?: number | undefined
  /** Takes WebSockets too. Those whose `accept` is pending are bounded by `maxRequests`. */
  readonly websocket?: WebSocketAcceptOptions<A> | undefined
  /** Certificate and key, for https; plain http if left out. */
  readonly tls?: TlsServerOptions | undefined
}

const none = Buffer.alloc(0)

function serve<A>(given: HttpServeOptions<A>): Behavior<HttpCommand> {
  const options = checkOptions('http.serve', given as HttpServeOptions, httpChecks, ['owner'])
  const { owner, port = 0, host = '127.0.0.1', maxBody = 1024 * 1024, body = 'collect' } = options
  const { requestTimeout = 300_000, maxRequests = 10_000, maxPipelined = 256 } = options
  const what = `listen on ${options.path ?? `${host}:${port}`}`
  return resource<HttpCommand, HttpEvent>(owner, ({ self, tell, report, finish }, ctx) => {
    const acceptor = options.websocket === undefined ? undefined : new WebSocketAcceptor(ctx, options.websocket, maxRequests)

    const traffic = new Traffic(maxRequests, maxPipelined)

    const begin = (request: IncomingMessage, response: ServerResponse, { path, query }: Target, underWay: RequestUnderWay, whole: Buffer): void => {
      if (underWay.over) return
      let ref: ActorRef<ExchangeCommand>
      try {
        ref = ctx.spawn(exchange(request, response, underWay, options), { supervision: 'stop' })
      } catch {
        return answerWhole(response, 503, { connection: 'close' })
      }
      const { remoteAddress, remotePort } = request.socket
      const message: HttpRequest = {
        type: 'request',
        method: request.method ?? 'GET',
        path,
        query,
        headers: request.headers,
        remote: { host: remoteAddress, port: remotePort },
        body: whole,
        exchange: ref,
      }
      owner.tell(message, new RequestCarrier(self, ref))
    }
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      response.on('error', () => {})
      const target = targetOf(request.url ?? '')
      if (target === undefined) return answerWhole(response, 400, { connection: 'close' }, 'no target that a server has\n')
      const underWay = traffic.enter(request, response)
      if (underWay === undefined) return answerWhole(response, 503, { connection: 'close' }, 'too many requests\n')
      if (body === 'stream') return begin(request, response, target, underWay, none)
      collect(request, maxBody, (whole) => {
        if (whole !== undefined) return begin(request, response, target, underWay, whole)
        refuseBody(ctx, request, response)
      })
    }
    const timing = { requestTimeout, connectionsCheckingInterval: Math.min(30_000, requestTimeout || 30_000) }
    const server = options.tls === undefined ? createServer(timing, onRequest) : createTlsServer({ ...timing, ...options.tls }, onRequest)
    if (options.idleTimeout !== undefined) server.timeout = options.idleTimeout
    const binding = new Binding(server)
    const endHandshakes = server instanceof TlsServer ? handshakesOf(server) : undefined
    // Without a listener, a wish to upgrade is ignored and the request served, as HTTP has it.
    if (acceptor !== undefined)
      server.on('upgrade', (request, socket, head) =>
        traffic.behind(socket, (cut) => (cut ? void socket.destroy() : acceptor.upgrade(request, socket, head))),
      )
    server.on('clientError', (cause, socket) => {
      if (!socket.writable) return void socket.destroy()
      traffic.behind(socket, (cut) => refuseGarbage(cause, socket, cut))
    })
    server.on('listening', () => {
      const address = binding.bound()
      if (address !== undefined) tell({ type: 'listening', address })
    })
    server.on('error', (cause) => {
      const error = toIoError(what, cause)
      report(error, { type: 'listen-error', code: error.code, error })
      if (binding.binding) finish({ type: 'listen-closed' })
    })
    server.on('close', () => tell({ type: 'listen-closed' }))
    const close = (): void => {
      binding.close()
      server.closeIdleConnections()
    }
    server.listen(options.path === undefined ? { port, host } : { path: options.path })
    return {
      onCommand: (m) => {
        switch (m.type) {
          case 'address':
            binding.tellAddress(m.replyTo)
            return same
          case 'close':
            close()
            return same
          default:
            return unhandled
        }
      },
      release: () => {
        close()
        acceptor?.close()
        server.closeAllConnections()
        endHandshakes?.()
      },
    }
  })
}

/** A request on its way to the owner: if nobody takes it, or its handler fails, the client is told at once. */
class RequestCarrier extends Carrier {
  readonly #answerTo: ActorRef<ExchangeCommand>
  constructor(sender: ActorRef<never>, answerTo: ActorRef<ExchangeCommand>) {
    super(sender, { stale: false, credited: () => {}, undelivered: () => {} })
    this.#answerTo = answerTo
  }
  override end(reason: MessageEnd): void {
    const [status, body] = reason === 'failed' ? [500, 'the handler of this request failed\n'] : [503, 'nobody answers this request\n']
    this.#answerTo.tell({ type: 'respond', status, body })
  }
}

/** Answers what is not a request, or is late, and closes. */
function refuseGarbage({ code }: NodeJS.ErrnoException, socket: Duplex, cut: boolean): void {
  if (!socket.writable || cut) return void socket.destroy()
  const status =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? '408 Request Timeout'
      : code === 'HPE_HEADER_OVERFLOW'
        ? '431 Request Header Fields Too Large'
        : '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

/**
 * An HTTP/1.1 server as an actor: every request is a message, and an `exchange` actor takes its answer.
 *
 * Guarantees: each request is answered once, by the owner, or with 500 (its handler failed), 503 (nobody handled it, too many
 * are under way, or the server goes down), 504 (no answer in time), 413 (too large), 408 (did not arrive in time); what is no
 * request gets 400, behind the answers to those before it; a client that leaves stops its exchange, and a reader of its body hears so. Fails: `listen-error` with `code`.
 *
 * @example
 * case 'request': m.exchange.tell({ type: 'respond', status: 200, body: 'hello' }); return same
 */
export const http: { readonly serve: typeof serve } = { serve }
