// What is told of a stream whose reading is left to its owner, and what it is told. Types only.

import type { ActorRef } from '@troupe/core'
import type { Connected, ConnectionCommand, Data, SocketEvent } from './protocol.ts'

/** There are bytes to read, or the end. Told once, and again after a `read` that leaves some. */
export interface CanRead {
  readonly type: 'readable'
  readonly connection: ActorRef<ReadinessCommand>
}
/** There is room to write. Told once, and again after a write, when there is room. */
export interface CanWrite {
  readonly type: 'writable'
  readonly connection: ActorRef<ReadinessCommand>
}

type About<E> = E extends unknown ? E & { readonly connection: ActorRef<ReadinessCommand> } : never

/** What the owner of a stream hears that it reads and writes by itself. */
export type ReadinessEvent = CanRead | CanWrite | About<Exclude<SocketEvent, Data | Connected>>

/** What a `read` found: bytes; nothing yet; the end, all having been read; or that the stream is gone, of which an event says why. */
export type ReadResult =
  | { readonly type: 'bytes'; readonly chunk: Buffer }
  | { readonly type: 'nothing' }
  | { readonly type: 'end' }
  | { readonly type: 'gone' }

/** What the actor around such a stream understands. */
export type ReadinessCommand =
  | Exclude<ConnectionCommand, { readonly type: 'own' | 'ack' }>
  /** Takes at most `n` bytes of what is there, or all of it; answered at once. */
  | { readonly type: 'read'; readonly n?: number | undefined; readonly replyTo: ActorRef<ReadResult> }
  /** Hands the stream to another owner; events from here on go there. */
  | { readonly type: 'own'; readonly owner: ActorRef<ReadinessEvent> }
