// One socket and the actor that hears of it. Turns the stream's events into messages straight from its callbacks, so
// that a chunk makes one hop; counts credits and pauses reading without them; refuses to buffer without bound for a
// slow peer. Knows nothing of behaviors: connection.ts ties a link to an actor's life.
//
//   socket ─data→ tell(to, chunk in a Carrier) … handler begins ─→ Carrier.open ─→ credited ─→ resume

import type { Duplex } from 'node:stream'
import type { ActorContext, ActorRef } from 'troupe'
import { Carrier, Credited, ErrorCarrier, LastCarrier, type Source } from './credit.ts'
import { failThrough, Fall, IoError, toIoError } from './errors.ts'
import type { Bytes, CloseReason, Connection, ConnectionCommand, ConnectionOptions, Endpoint, Flushed, SocketEvent } from './protocol.ts'

/** The parts of `net.Socket` that a plain duplex may lack. */
interface MaybeSocket {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
  destroySoon?(): void
}

class DataEvent extends Credited {
  readonly type = 'data'
  readonly chunk: Buffer
  readonly connection: ActorRef<ConnectionCommand> | undefined
  constructor(chunk: Buffer, connection: ActorRef<ConnectionCommand> | undefined) {
    super()
    this.chunk = chunk
    this.connection = connection
  }
}

const empty = new Uint8Array(0)

export class Link implements Connection, Source {
  readonly socket: Duplex
  readonly #what: string
  readonly #path: string | undefined
  readonly #limit: number
  readonly #manual: boolean
  readonly #maxBuffered: number
  readonly #linger: number
  readonly #interest: ReadonlySet<SocketEvent['type']> | undefined
  #ctx: ActorContext<never> | undefined = undefined
  #connection: ActorRef<ConnectionCommand> | undefined = undefined
  #to: ActorRef<never> | undefined = undefined
  #carrier: Carrier | undefined = undefined
  #unhandled = 0
  #paused: boolean
  #behind = false
  #reason: CloseReason = 'ended'
  #failed = false
  stale = false
  /** Counts what moves, for idle timeouts. */
  activity = 0

  constructor(socket: Duplex, what: string, options: ConnectionOptions, interest?: readonly SocketEvent['type'][], path?: string) {
    this.socket = socket
    this.#what = what
    this.#path = path
    this.#limit = options.credits ?? 16
    this.#manual = options.ack === 'manual'
    this.#maxBuffered = options.maxBuffered ?? 16 * 1024 * 1024
    this.#linger = options.linger ?? 1000
    this.#paused = options.paused ?? false
    this.#interest = interest === undefined ? undefined : new Set(interest)
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
    return this.socket.writableLength
  }
  get open(): boolean {
    return !this.socket.destroyed
  }
  get attached(): boolean {
    return this.#ctx !== undefined
  }

  /** Begins to tell `to` what happens. With `connection` the events name it; without, `to` is the socket's own actor. */
  attach(ctx: ActorContext<never>, to: ActorRef<never> | undefined, connection: ActorRef<ConnectionCommand> | undefined): void {
    this.#ctx = ctx
    this.#connection = connection
    this.own(to)
    const { socket } = this
    if (socket.destroyed) return this.closed()
    socket.on('drain', onDrain)
    socket.on('end', onEnd)
    if (this.#wants('data')) socket.on('data', onData)
    if (this.#paused) this.#halt()
    else this.#flow()
  }

  /** Directs events from here on to another actor; chunks that the last one still holds do not count against it. */
  own(to: ActorRef<never> | undefined): void {
    this.#to = to
    this.#carrier = new Carrier(this.#connection ?? undefined, this)
    this.#unhandled = 0
    this.#caughtUp()
  }

  connected(): void {
    this.#tell({ type: 'connected', local: this.local, remote: this.remote })
  }

  write(data: Bytes, encoding: 'utf8' | 'latin1' = 'utf8'): boolean {
    const { socket } = this
    if (!socket.writable) return false
    if (socket.writableLength >= this.#maxBuffered) {
      this.fail(new IoError(`write to ${this.#what}`, 'write-overflow', `${socket.writableLength} bytes already wait for the peer`))
      return false
    }
    this.activity++
    return typeof data === 'string' ? socket.write(data, encoding) : socket.write(data)
  }
  end(data?: Bytes): void {
    if (!this.socket.writable) return
    if (data === undefined) this.socket.end()
    else this.socket.end(data)
  }
  destroy(reason: CloseReason = 'destroyed'): void {
    if (this.socket.destroyed) return
    this.#reason = reason
    this.socket.destroy()
  }
  pause(): void {
    this.#paused = true
    this.#halt()
  }
  resume(): void {
    this.#paused = false
    if (!this.#behind) this.#flow()
  }
  ack(): void {
    if (this.#manual) this.#giveBack()
  }
  flush(replyTo?: ActorRef<Flushed>): void {
    if (!this.socket.writable) return
    this.socket.write(empty, (error) => {
      if (error) return
      if (replyTo === undefined) this.#tell({ type: 'drained' })
      else replyTo.tell({ type: 'flushed' })
    })
  }

  /** Ends the connection with an error that its owner hears of. */
  fail(error: IoError): void {
    this.#reason = 'error'
    if (this.#failed) return
    this.#failed = true
    this.#report(error)
    this.socket.destroy()
  }

  /** The actor's incarnation has ended. Gives unsent bytes a moment, but never holds on for a peer that does not read. */
  release(): void {
    this.stale = true
    const socket = this.socket as Duplex & MaybeSocket
    if (socket.destroyed) return
    if (this.#linger <= 0 || !(socket.writableLength > 0) || this.#failed) {
      // Lets the peer see an end instead of a reset where all was sent.
      if (socket.writable && !this.#failed && this.#linger > 0) socket.end()
      socket.destroy()
      return
    }
    socket.removeListener('data', onData)
    this.#flow()
    const timer = setTimeout(() => socket.destroy(), this.#linger)
    socket.once('close', () => clearTimeout(timer))
    if (socket.destroySoon === undefined) socket.end(() => socket.destroy())
    else socket.destroySoon()
  }

  credited(): void {
    if (!this.#manual) this.#giveBack()
  }
  undelivered(): void {
    this.destroy()
  }

  // A file that is only written has nothing to pause.
  #halt(): void {
    ;(this.socket as Partial<Duplex>).pause?.()
  }
  #flow(): void {
    ;(this.socket as Partial<Duplex>).resume?.()
  }

  #giveBack(): void {
    if (this.#unhandled > 0) this.#unhandled--
    this.#caughtUp()
  }
  #caughtUp(): void {
    // Half of the credits, so that a reader at its limit does not pause and resume at every chunk.
    if (!this.#behind || this.#unhandled > this.#limit >> 1) return
    this.#behind = false
    if (!this.#paused && !this.socket.destroyed) this.#flow()
  }

  received(chunk: Buffer): void {
    this.activity++
    const to = this.#to
    if (to === undefined) return
    if (++this.#unhandled >= this.#limit) {
      this.#behind = true
      this.socket.pause()
    }
    to.tell(new DataEvent(chunk, this.#connection) as never, this.#carrier)
  }
  drained(): void {
    this.activity++
    this.#tell({ type: 'drained' })
  }
  halfClosed(): void {
    this.#tell({ type: 'half-closed' })
  }

  failed(cause: Error): void {
    this.#reason = 'error'
    if (this.#failed || this.stale) return
    this.#failed = true
    if (this.#ctx !== undefined) this.#report(toIoError(this.#what, cause))
  }

  closed(): void {
    const ctx = this.#ctx
    if (ctx === undefined || this.stale) return
    // After `closed` was opened nothing of this connection is to come, unless an unowned error took over.
    const seen = (): void => {
      if (!this.stale && !this.#unowned) ctx.self.stop({ after: 'queued' })
    }
    if (this.#to === undefined || !this.#wants('closed')) return seen()
    this.#to.tell(this.#event({ type: 'closed', reason: this.#reason }), new LastCarrier(this.#connection, this, seen))
  }

  #unowned = false
  #report(error: IoError): void {
    const unowned = (): void => {
      this.#unowned = true
      if (this.stale || this.#ctx === undefined) return
      if (this.#connection === undefined) failThrough(this.#ctx, error)
      else this.#connection.tell(new Fall(error) as never)
    }
    if (this.#to === undefined || !this.#wants('error')) return unowned()
    this.#to.tell(this.#event({ type: 'error', code: error.code, error }), new ErrorCarrier(this.#connection, this, unowned))
  }

  #wants(type: SocketEvent['type']): boolean {
    return this.#interest === undefined || this.#interest.has(type)
  }
  #tell(event: SocketEvent): void {
    if (this.#to !== undefined && this.#wants(event.type) && !this.stale) this.#to.tell(this.#event(event), this.#carrier)
  }
  #event(event: SocketEvent): never {
    return (this.#connection === undefined ? event : { ...event, connection: this.#connection }) as never
  }
}

/** Where a stream keeps its link, so that all streams share their listeners: there may be many, and most are idle. */
const linkOf: unique symbol = Symbol('link')

interface Linked extends Duplex {
  [linkOf]?: Link
}

function onData(this: Linked, chunk: Buffer): void {
  this[linkOf]!.received(chunk)
}
function onDrain(this: Linked): void {
  this[linkOf]!.drained()
}
function onEnd(this: Linked): void {
  this[linkOf]!.halfClosed()
}
function onError(this: Linked, cause: Error): void {
  this[linkOf]!.failed(cause)
}
function onClose(this: Linked): void {
  this[linkOf]!.closed()
}
