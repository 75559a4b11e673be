// What connections are told and what they tell: one union on `type` for each direction. Types only.
// The same words serve TCP, TLS, unix sockets and adopted streams.

import type { ActorRef } from '@troupe/core'
import type { IoError } from './errors.ts'

/** What may be written: bytes, or text in UTF-8. */
export type Bytes = Uint8Array | string

/** One end of a connection; a unix socket has a `path`, a socket without a name neither. */
export interface Endpoint {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly path?: string | undefined
}

/** Why a connection is over: both ends finished, this end destroyed it, it was silent too long, or an error. */
export type CloseReason = 'ended' | 'destroyed' | 'idle' | 'error'

/** The connection is made, and for TLS secured. Only for those that were connected, not for accepted ones. */
export interface Connected {
  readonly type: 'connected'
  readonly local: Endpoint
  readonly remote: Endpoint
}
/** Bytes arrived, in order. Handling the message gives its credit back. */
export interface Data {
  readonly type: 'data'
  readonly chunk: Buffer
}
/** What was written has left this process; writing more is welcome again. */
export interface Drained {
  readonly type: 'drained'
}
/** The peer will send nothing more; it still reads. This side ends once this was handled, unless `halfOpen`. */
export interface HalfClosed {
  readonly type: 'half-closed'
}
/** The last message of a connection; its actor stops after this. */
export interface Closed {
  readonly type: 'closed'
  readonly reason: CloseReason
}
/** Something failed; `closed` follows where it ended the connection. Unhandled, it fails the connection's actor. */
export interface Failed {
  readonly type: 'error'
  readonly code: string
  readonly error: IoError
}

/** What the handler of a connection receives. */
export type SocketEvent = Connected | Data | Drained | HalfClosed | Closed | Failed

type From<E, C> = E extends unknown ? E & { readonly connection: ActorRef<C> } : never

/** What the owner of connections receives: the same, with the connection it is about. */
export type ConnectionEvent = From<SocketEvent, ConnectionCommand>

/** Everything written so far has left this process. */
export interface Flushed {
  readonly type: 'flushed'
}

/** What a connection actor understands. */
export type ConnectionCommand =
  | { readonly type: 'write'; readonly data: Bytes }
  /** Writes what is given, if anything, and ends this side; the peer sees the end after the last byte. */
  | { readonly type: 'end'; readonly data?: Bytes | undefined }
  /** Ends both sides at once; what was not yet sent is lost, without an `error`. */
  | { readonly type: 'destroy' }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** Gives one chunk's credit back, with `ack: 'manual'`. */
  | { readonly type: 'ack' }
  /** Hands the connection to another owner; events from here on go there. */
  | { readonly type: 'own'; readonly owner: ActorRef<ConnectionEvent> }
  /** Answered when all that was written has left this process; not answered if the connection ends before. */
  | { readonly type: 'flush'; readonly replyTo: ActorRef<Flushed> }

/** Limits and habits of one connection. */
export interface ConnectionOptions {
  /** How many chunks may wait unhandled before reading pauses; 16 if left out. */
  readonly credits?: number | undefined
  /** What gives a credit back: that the chunk's handler began (`handled`), or an `ack` command. */
  readonly ack?: 'handled' | 'manual' | undefined
  /** Bytes that may wait for a slow peer; a write beyond fails the connection with `write-overflow`. 16 MiB if left out. */
  readonly maxBuffered?: number | undefined
  /** Keeps this side open when the peer has ended its own, until `end`; otherwise it ends once `half-closed`, and all data before it, was handled. */
  readonly halfOpen?: boolean | undefined
  /** Milliseconds without a byte either way (up to a quarter more) after which the connection closes with reason `idle`. */
  readonly idleTimeout?: number | undefined
  /** Begins without reading until `resume`. */
  readonly paused?: boolean | undefined
  /** Milliseconds that a stopping actor gives its unsent bytes; 1,000 if left out, 0 destroys at once. */
  readonly linger?: number | undefined
}

/** What an actor that owns its socket may do with it. Every method is safe at any time; after `closed` they do nothing. */
export interface Connection {
  readonly remote: Endpoint
  readonly local: Endpoint
  /** Bytes written that wait for the peer. */
  readonly buffered: number
  readonly open: boolean
  /**
   * Writes; false means: wait for `drained` before writing much more, or hear in an `error` that it cannot leave. Text is UTF-8, or
   * latin1 where said.
   */
  write(data: Bytes, encoding?: 'utf8' | 'latin1'): boolean
  end(data?: Bytes): void
  destroy(): void
  pause(): void
  resume(): void
  /** Gives one chunk's credit back, with `ack: 'manual'`. */
  ack(): void
  /** Calls for `drained` even if no write was refused: told once all that was written has left. */
  flush(): void
}
