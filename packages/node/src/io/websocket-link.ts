// One WebSocket and the actor that hears of it: what link.ts is for sockets. Whole messages instead of chunks, the same
// credits, the same bound for a slow peer.

import type { ActorContext, ActorRef } from 'troupe'
import type { RawData, WebSocket } from 'ws'
import { Carrier, Credited, ErrorCarrier, LastCarrier, type Source } from './credit.ts'
import { failThrough, Fall, IoError, toIoError } from './errors.ts'
import type { Endpoint } from './protocol.ts'
import type { WebSocketCommand, WebSocketConnection, WebSocketEvent, WebSocketOptions } from './websocket-protocol.ts'

class TextEvent extends Credited {
  readonly type = 'text'
  readonly text: string
  readonly connection: ActorRef<WebSocketCommand> | undefined
  constructor(text: string, connection: ActorRef<WebSocketCommand> | undefined) {
    super()
    this.text = text
    this.connection = connection
  }
}

class BinaryEvent extends Credited {
  readonly type = 'binary'
  readonly data: Buffer
  readonly connection: ActorRef<WebSocketCommand> | undefined
  constructor(data: Buffer, connection: ActorRef<WebSocketCommand> | undefined) {
    super()
    this.data = data
    this.connection = connection
  }
}

/** Bytes waiting above which `drained` is promised. */
const highWater = 64 * 1024

export class WebSocketLink implements WebSocketConnection, Source {
  readonly #socket: WebSocket
  readonly #what: string
  readonly #limit: number
  readonly #maxBuffered: number
  readonly remote: Endpoint
  readonly path: string
  #ctx: ActorContext<never> | undefined = undefined
  #connection: ActorRef<WebSocketCommand> | undefined = undefined
  #to: ActorRef<never> | undefined = undefined
  #carrier: Carrier | undefined = undefined
  #unhandled = 0
  #full = false
  #behind = false
  #paused = false
  #failed = false
  #unowned = false
  /** The peer has shown life since the last look. */
  #alive = true
  stale = false
  activity = 0

  constructor(socket: WebSocket, what: string, options: WebSocketOptions, remote: Endpoint, path: string) {
    this.#socket = socket
    this.#what = what
    this.#limit = options.credits ?? 64
    this.#maxBuffered = options.maxBuffered ?? 4 * 1024 * 1024
    this.remote = remote
    this.path = path
    socket.on('error', (cause) => this.#onError(cause))
    socket.on('close', (code, reason) => this.#onClose(code, reason.toString()))
    socket.on('pong', () => {
      this.#alive = true
    })
  }
  get attached(): boolean {
    return this.#ctx !== undefined
  }
  get open(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }
  get buffered(): number {
    return this.#socket.bufferedAmount
  }

  attach(ctx: ActorContext<never>, to: ActorRef<never> | undefined, connection: ActorRef<WebSocketCommand> | undefined): void {
    this.#ctx = ctx
    this.#to = to
    this.#connection = connection
    this.#carrier = new Carrier(connection, this)
    const socket = this.#socket
    if (socket.readyState === socket.CLOSED) return this.#onClose(1006, '')
    socket.on('message', (data, binary) => this.#onMessage(data, binary))
    if (socket.readyState === socket.CONNECTING) socket.on('open', () => this.#tell({ type: 'connected' }))
    else socket.resume()
  }

  send(data: string | Uint8Array): boolean {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return false
    if (socket.bufferedAmount >= this.#maxBuffered) {
      this.fail(new IoError(`send to ${this.#what}`, 'write-overflow', `${socket.bufferedAmount} bytes already wait for the peer`))
      return false
    }
    this.activity++
    socket.send(data, this.#sent)
    if (socket.bufferedAmount <= highWater) return true
    this.#full = true
    return false
  }
  close(code = 1000, reason = ''): void {
    this.#socket.close(code, reason)
  }
  destroy(): void {
    this.#socket.terminate()
  }
  pause(): void {
    this.#paused = true
    this.#socket.pause()
  }
  resume(): void {
    this.#paused = false
    if (!this.#behind) this.#socket.resume()
  }
  /** Asks the peer for a sign of life; ends the connection if the last one went unanswered. */
  checkAlive(): void {
    if (!this.open) return
    if (!this.#alive) return this.fail(new IoError(`reach ${this.#what}`, 'ping-timeout', 'the peer did not answer a ping'))
    this.#alive = false
    this.#socket.ping()
  }
  fail(error: IoError): void {
    if (this.#failed) return
    this.#failed = true
    this.#report(error)
    this.#socket.terminate()
  }
  release(): void {
    this.stale = true
    const socket = this.#socket
    if (socket.readyState === socket.CLOSED) return
    if (socket.readyState !== socket.OPEN) return socket.terminate()
    // 1001, going away. A peer that does not answer is cut off.
    socket.close(1001)
    const timer = setTimeout(() => socket.terminate(), 1000)
    socket.once('close', () => clearTimeout(timer))
    socket.resume()
  }

  credited(): void {
    this.#unhandled--
    if (!this.#behind || this.#unhandled > this.#limit >> 1) return
    this.#behind = false
    if (!this.#paused && this.open) this.#socket.resume()
  }
  undelivered(): void {
    this.#socket.terminate()
  }

  readonly #sent = (): void => {
    if (!this.#full || this.#socket.bufferedAmount > highWater) return
    this.#full = false
    this.#tell({ type: 'drained' })
  }
  #onMessage(data: RawData, binary: boolean): void {
    if (this.stale) return
    this.activity++
    this.#alive = true
    if (++this.#unhandled >= this.#limit && !this.#behind) {
      this.#behind = true
      this.#socket.pause()
    }
    const bytes = data as Buffer
    const event = binary ? new BinaryEvent(bytes, this.#connection) : new TextEvent(bytes.toString(), this.#connection)
    this.#to?.tell(event as never, this.#carrier)
  }
  #onError(cause: Error): void {
    if (this.#failed || this.stale) return
    this.#failed = true
    this.#report(toIoError(this.#what, cause))
  }
  #onClose(code: number, reason: string): void {
    const ctx = this.#ctx
    if (ctx === undefined || this.stale) return
    const seen = (): void => {
      if (!this.stale && !this.#unowned) ctx.self.stop({ after: 'queued' })
    }
    if (this.#to === undefined) return seen()
    this.#to.tell(this.#event({ type: 'closed', code, reason }), new LastCarrier(this.#connection, this, seen))
  }
  #report(error: IoError): void {
    const unowned = (): void => {
      this.#unowned = true
      if (this.stale || this.#ctx === undefined) return
      if (this.#connection === undefined) failThrough(this.#ctx, error)
      else this.#connection.tell(new Fall(error) as never)
    }
    if (this.#to === undefined) return unowned()
    this.#to.tell(this.#event({ type: 'error', code: error.code, error }), new ErrorCarrier(this.#connection, this, unowned))
  }
  #tell(event: WebSocketEvent): void {
    if (!this.stale) this.#to?.tell(this.#event(event), this.#carrier)
  }
  #event(event: WebSocketEvent): never {
    return (this.#connection === undefined ? event : { ...event, connection: this.#connection }) as never
  }
}
