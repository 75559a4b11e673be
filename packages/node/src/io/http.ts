// HTTP/1.1 on node:http: each request is a message to the owner, and an actor of its own that takes the answer.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type ActorRef, type Behavior, same, unhandled } from 'troupe'
import { Binding } from './binding.ts'
import { ErrorCarrier } from './credit.ts'
import { type IoError, toIoError } from './errors.ts'
import { exchange, type ExchangeCommand } from './http-exchange.ts'
import { checkOptions, httpChecks, webSocketAcceptChecks } from './limits.ts'
import type { Endpoint } from './protocol.ts'
import { resource } from './resource.ts'
import type { TlsServerOptions } from './tls.ts'
import { webSocketAcceptor, type WebSocketAcceptOptions } from './websocket.ts'

/** One request. Answer it by telling `exchange`. */
export interface HttpRequest {
  readonly type: 'request'
  readonly method: string
  /** Path without the query. */
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
export interface HttpServeOptions {
  readonly owner: ActorRef<HttpEvent>
  readonly port?: number | undefined
  /** 127.0.0.1 if left out. */
  readonly host?: string | undefined
  readonly path?: string | undefined
  /** `collect` (default) tells requests with their whole body; `stream` at once, the body on demand. */
  readonly body?: 'collect' | 'stream' | undefined
  /** Bytes of the largest body collected; beyond: 413. 1 MiB if left out. */
  readonly maxBody?: number | undefined
  /** Milliseconds until a request without an answer gets 504; 30,000 if left out. */
  readonly responseTimeout?: number | undefined
  /** Bytes that may wait for a slow client; beyond, it is cut off. 16 MiB if left out. */
  readonly maxBuffered?: number | undefined
  readonly websocket?: WebSocketAcceptOptions | undefined
  readonly tls?: TlsServerOptions | undefined
}

const none = Buffer.alloc(0)

function serve(options: HttpServeOptions): Behavior<HttpCommand> {
  const { owner, port = 0, host = '127.0.0.1', maxBody = 1024 * 1024, body = 'collect' } = options
  const what = `listen on ${options.path ?? `${host}:${port}`}`
  checkOptions('http.serve', options, httpChecks, ['owner'])
  if (options.websocket !== undefined) checkOptions('websocket', options.websocket, webSocketAcceptChecks, ['owner', 'handler'])
  return resource<HttpCommand, HttpEvent>(owner, ({ self, tell, report, finish }, ctx) => {
    const acceptor = options.websocket === undefined ? undefined : webSocketAcceptor(ctx, options.websocket)

    const begin = (request: IncomingMessage, response: ServerResponse, whole: Buffer): void => {
      if (response.destroyed) return
      let ref: ActorRef<ExchangeCommand>
      try {
        ref = ctx.spawn(exchange(request, response, options), { supervision: 'stop' })
      } catch {
        return void response.writeHead(503, { connection: 'close' }).end()
      }
      const url = URL.canParse(request.url ?? '/', 'http://host') ? new URL(request.url ?? '/', 'http://host') : new URL('http://host/')
      const { remoteAddress, remotePort } = request.socket
      const message: HttpRequest = {
        type: 'request',
        method: request.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        remote: { host: remoteAddress, port: remotePort },
        body: whole,
        exchange: ref,
      }
      // Nobody there to answer, or nobody who wants to: the client is told so at once.
      const unavailable = (): void => ref.tell({ type: 'respond', status: 503, body: 'nobody answers this request\n' })
      owner.tell(message, new ErrorCarrier(self, { stale: false, credited: () => {}, undelivered: unavailable }, unavailable))
    }
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      response.on('error', () => {})
      if (body === 'stream') return begin(request, response, none)
      collect(request, maxBody, (whole) => {
        if (whole !== undefined) return begin(request, response, whole)
        response.writeHead(413, { connection: 'close' }).end()
        // What is still to come is thrown away, until the client notices.
        request.resume()
      })
    }
    const server = options.tls === undefined ? createServer(onRequest) : createTlsServer(options.tls, onRequest)
    const binding = new Binding(server)
    server.on('upgrade', (request, socket, head) => {
      if (acceptor === undefined) socket.destroy()
      else acceptor.upgrade(request, socket, head)
    })
    server.on('clientError', (_cause, socket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
      else socket.destroy()
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
      },
    }
  })
}

/** Gathers a body; undefined as soon as it is too large, nothing if the client goes away. */
function collect(request: IncomingMessage, maxBody: number, done: (whole: Buffer | undefined) => void): void {
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > maxBody) return done(undefined)
  const chunks: Buffer[] = []
  let size = 0
  const take = (chunk: Buffer): void => {
    size += chunk.length
    if (size <= maxBody) return void chunks.push(chunk)
    request.removeListener('data', take)
    request.removeListener('end', end)
    done(undefined)
  }
  const end = (): void => done(chunks.length === 0 ? none : Buffer.concat(chunks))
  request.on('data', take)
  request.on('end', end)
  request.on('error', () => {})
}

/**
 * An HTTP/1.1 server as an actor: every request is a message, and an `exchange` actor takes its answer.
 *
 * Guarantees: each request is answered once, by the owner, or with 503 (nobody handled it, or the server goes down), 504
 * (no answer in time), 413 (too large); a client that leaves stops its exchange. Fails: `listen-error` with `code`.
 *
 * @example
 * case 'request': m.exchange.tell({ type: 'respond', status: 200, body: 'hello' }); return same
 */
export const http: { readonly serve: typeof serve } = { serve }
