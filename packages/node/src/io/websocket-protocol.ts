// What WebSocket connections tell and are told. Types only.

import type { IncomingHttpHeaders } from 'node:http'
import type { ActorRef } from '@troupe/core'
import type { IoError } from './errors.ts'
import type { Endpoint } from './protocol.ts'

/** What the handler of a WebSocket receives. */
export type WebSocketEvent =
  /** The handshake is done. Only for those that were connected, not for accepted ones. */
  | { readonly type: 'connected' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'binary'; readonly data: Buffer }
  /** The peer has taken enough of what was sent; sending more is welcome again. */
  | { readonly type: 'drained' }
  /** The last message; the actor stops after this. */
  | { readonly type: 'closed'; readonly code: number; readonly reason: string }
  /** Unhandled, it fails the actor. */
  | { readonly type: 'error'; readonly code: string; readonly error: IoError }

/** A client's wish for a WebSocket, as `accept` sees it. */
export interface WebSocketRequest {
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly remote: Endpoint
}

/** A wish that was granted, with what `accept` returned; `true` without `accept`. */
export interface AcceptedWebSocket<A = unknown> extends WebSocketRequest {
  readonly accepted: A
}

type From<E> = E extends unknown ? E & { readonly connection: ActorRef<WebSocketCommand> } : never

/** What the owner of WebSockets receives: the same, with the connection it is about. */
export type OwnedWebSocketEvent<A = unknown> = From<
  | WebSocketEvent
  /** An HTTP server has taken it; its messages follow. Not for those that were connected. */
  | ({ readonly type: 'accepted' } & AcceptedWebSocket<A>)
>

/** What a WebSocket actor understands. */
export type WebSocketCommand =
  | { readonly type: 'send'; readonly data: string | Uint8Array }
  | { readonly type: 'close'; readonly code?: number | undefined; readonly reason?: string | undefined }
  | { readonly type: 'destroy' }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }

/** Limits and habits of one WebSocket. */
export interface WebSocketOptions {
  /** Messages unhandled before reading pauses; 64 if left out. */
  readonly credits?: number | undefined
  /** Bytes of the largest message taken; 1 MiB if left out. Of fragments, one for every 64 bytes of this and at least 16,384 are taken. */
  readonly maxMessage?: number | undefined
  /** Bytes that may wait for a slow peer; beyond: `write-overflow`. 4 MiB if left out. */
  readonly maxBuffered?: number | undefined
  /** Milliseconds between pings; a peer that answers none is closed with `ping-timeout`. 30,000 if left out, 0 for none. */
  readonly pingEvery?: number | undefined
  /** Milliseconds without a message either way after which it is closed. */
  readonly idleTimeout?: number | undefined
}

/** What an actor that owns its WebSocket may do with it. */
export interface WebSocketConnection {
  readonly remote: Endpoint
  /** Path and query that the client asked for. */
  readonly path: string
  readonly open: boolean
  readonly buffered: number
  /** Sends; false means: wait for `drained` before sending much more. */
  send(data: string | Uint8Array): boolean
  close(code?: number, reason?: string): void
  destroy(): void
  pause(): void
  resume(): void
}
