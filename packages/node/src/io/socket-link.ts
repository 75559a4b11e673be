// A socket, or any other duplex stream, as a link: bytes both ways, half-close, lingering. Turns the stream's events into
// messages straight from its callbacks, so that a chunk makes one hop.

import type { Duplex } from 'node:stream'
import type { ActorRef } from '@troupe/core'
import { checkBytes } from './bytes.ts'
import { atMost } from './later.ts'
import { StreamLink, Chunk } from './stream-link.ts'
import { connectionLimits } from './limits.ts'
import type { Bytes, CloseReason, Connection, ConnectionCommand, ConnectionOptions, Endpoint, Flushed, SocketEvent } from './protocol.ts'

/** The parts of `net.Socket` that a plain duplex may lack. */
interface MaybeSocket {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
  destroySoon?(): void
}

class DataEvent extends Chunk<ConnectionCommand> {
  readonly type = 'data'
  readonly chunk: Buffer
  constructor(chunk: Buffer, connection: ActorRef<ConnectionCommand> | undefined) {
    super(connection)
    this.chunk = chunk
  }
}

const empty = new Uint8Array(0)

export class SocketLink extends StreamLink<SocketEvent, ConnectionCommand> implements Connection {
  readonly socket: Duplex
  readonly #path: string | undefined
  readonly #linger: number
  readonly #interest: ReadonlySet<string> | undefined
  #reason: CloseReason = 'ended'
  readonly #halfOpen: boolean
  /** Nothing ever comes from there; Node has no other word for it than that all came already. */
  mute = false

  constructor(socket: Duplex, what: string, options: ConnectionOptions, interest?: readonly SocketEvent['type'][], path?: string) {
    super(what, connectionLimits(options))
    this.socket = socket
    this.#path = path
    this.#linger = options.linger ?? 1000
    this.#interest = interest === undefined ? undefined : new Set(interest)
    this.#halfOpen = options.halfOpen ?? false
    // Node would end this side by itself, with what came before the peer's end still unhandled.
    socket.allowHalfOpen = true
    ;(socket as Linked)[linkOf] = this
    socket.on('error', onError)
    socket.on('close', onClose)
  }

  get remote(): Endpoint {
    const { remoteAddress, remotePort } = this.socket as MaybeSocket
    return this.#path === undefined ? { host: remoteAddress, port: remotePort } : { path: this.#path }
  }
  get local(): Endpoint {
    const { localAddress, localPort } = this.socket as MaybeSocket
    return this.#path === undefined ? { host: localAddress, port: localPort } : { path: this.#path }
  }
  get buffered(): number {
    // What can only be read has none.
    return (this.socket as Partial<Duplex>).writableLength ?? 0
  }
  get open(): boolean {
    return !this.socket.destroyed
  }

  protected override begin(): void {
    const { socket } = this
    if (socket.destroyed) {
      // A stream may fail on the spot and say so later, when the actor has ended.
      if (socket.errored && !this.faulty) this.onFailed(socket.errored)
      return this.onClosed()
    }
    socket.on('drain', onDrain)
    socket.on('end', onEnd)
    if (this.wants('data')) socket.on('data', onData)
    if (this.held) this.halt()
    else this.flow()
    // Seen before there was anybody to tell: a peer may end its side before the actor begins.
    if (socket.readableEnded && !this.mute) this.onHalfClosed()
  }

  connected(): void {
    this.tell({ type: 'connected', local: this.local, remote: this.remote })
  }

  write(data: Bytes, encoding: 'utf8' | 'latin1' = 'utf8'): boolean {
    checkBytes('data', data)
    const { socket } = this
    // An error that the stream has met is on its way to the owner.
    if (!socket.writable) return socket.errored ? false : this.refuse(whyNot(socket))
    if (this.overflowing(socket.writableLength)) return false
    this.activity++
    return typeof data === 'string' ? socket.write(data, encoding) : socket.write(data)
  }
  end(data?: Bytes): void {
    if (data !== undefined) this.write(data)
    if (this.socket.writable) this.socket.end()
  }
  override destroy(reason: CloseReason = 'destroyed'): void {
    if (this.socket.destroyed) return
    // Whoever says `destroy` knows what it does; a clock does not.
    if (reason === 'idle') this.lose(this.buffered, 'bytes', 'the peer did not take them and the connection was idle')
    this.#reason = reason
    this.socket.destroy()
  }
  flush(replyTo?: ActorRef<Flushed>): void {
    if (!this.socket.writable) return
    this.socket.write(empty, (error) => {
      if (error) return
      if (replyTo === undefined) this.tell({ type: 'drained' })
      else replyTo.tell({ type: 'flushed' })
    })
  }

  override own(to: ActorRef<never> | undefined): void {
    super.own(to)
    // The new owner has not heard of it, and may have an answer.
    if (this.peerEnded) this.onHalfClosed()
  }
  protected override endSide(): void {
    this.end()
  }

  /** Gives unsent bytes a moment, but never holds on for a peer that does not read. */
  override release(): void {
    this.stale = true
    const socket = this.socket as Duplex & MaybeSocket
    if (socket.destroyed) return
    if (this.#linger <= 0 || !(socket.writableLength > 0) || this.faulty) {
      // Lets the peer see an end instead of a reset where all was sent.
      if (socket.writable && !this.faulty && this.#linger > 0) socket.end()
      socket.destroy()
      return
    }
    socket.removeListener('data', onData)
    this.flow()
    socket.once(
      'close',
      atMost(this.#linger, () => socket.destroy()),
    )
    if (socket.destroySoon === undefined) socket.end(() => socket.destroy())
    else socket.destroySoon()
  }

  // A file that is only written has nothing to pause.
  protected override halt(): void {
    ;(this.socket as Partial<Duplex>).pause?.()
  }
  protected override flow(): void {
    ;(this.socket as Partial<Duplex>).resume?.()
  }
  protected override cut(): void {
    this.destroy('error')
  }
  protected override wants(type: string): boolean {
    return this.#interest === undefined || this.#interest.has(type)
  }

  onChunk(chunk: Buffer): void {
    this.received(new DataEvent(chunk, this.connection))
  }
  onDrained(): void {
    this.activity++
    this.tell({ type: 'drained' })
  }
  onHalfClosed(): void {
    if (this.#halfOpen) return void this.tell({ type: 'half-closed' })
    this.followPeer({ type: 'half-closed' })
  }
  onFailed(cause: Error): void {
    this.#reason = 'error'
    this.broke(cause)
  }
  onClosed(): void {
    if (this.#reason !== 'destroyed') this.lose(this.buffered, 'bytes', 'the stream was closed')
    this.ended({ type: 'closed', reason: this.#reason })
  }
}

/** Where a stream keeps its link, so that all streams share their listeners: there may be many, and most are idle. */
const linkOf: unique symbol = Symbol('link')

interface Linked extends Duplex {
  [linkOf]?: SocketLink
}

/** Why nothing can be written to it. */
function whyNot({ destroyed, writableEnded }: Duplex): string {
  if (destroyed) return 'a write was refused, because the connection is over'
  return `a write was refused, because ${writableEnded ? 'this side has ended' : 'it can only be read'}`
}

function onData(this: Linked, chunk: Buffer): void {
  this[linkOf]!.onChunk(chunk)
}
function onDrain(this: Linked): void {
  this[linkOf]!.onDrained()
}
function onEnd(this: Linked): void {
  this[linkOf]!.onHalfClosed()
}
function onError(this: Linked, cause: Error): void {
  this[linkOf]!.onFailed(cause)
}
function onClose(this: Linked): void {
  this[linkOf]!.onClosed()
}
