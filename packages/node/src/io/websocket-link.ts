// A WebSocket as a link: whole messages instead of bytes, a closing handshake, and pings that tell whether the peer is
// still there.

import { createRequire } from 'node:module'
import { type ActorContext, type ActorRef, InvalidOption } from '@troupe/core'
import { onRelease } from '@troupe/core/internal'
import type * as Ws from 'ws'
import type { RawData, WebSocket } from 'ws'
import { checkBytes, sizeOf } from './bytes.ts'
import { IoError } from './errors.ts'
import { later } from './later.ts'
import { webSocketLimits } from './limits.ts'
import { StreamLink, Chunk } from './stream-link.ts'
import type { Endpoint } from './protocol.ts'
import type { WebSocketCommand, WebSocketConnection, WebSocketEvent, WebSocketOptions } from './websocket-protocol.ts'

/** Loaded with the first WebSocket: it takes as long as all of Troupe, and most programs and all threads do without. */
let loaded: typeof Ws | undefined
export const ws = (): typeof Ws => (loaded ??= createRequire(import.meta.url)('ws') as typeof Ws)

class TextEvent extends Chunk<WebSocketCommand> {
  readonly type = 'text'
  readonly text: string
  constructor(text: string, connection: ActorRef<WebSocketCommand> | undefined) {
    super(connection)
    this.text = text
  }
}

class BinaryEvent extends Chunk<WebSocketCommand> {
  readonly type = 'binary'
  readonly data: Buffer
  constructor(data: Buffer, connection: ActorRef<WebSocketCommand> | undefined) {
    super(connection)
    this.data = data
  }
}

/** Codes that stand for something else than a wish to close. */
const notToSend: ReadonlySet<number> = new Set([1004, 1005, 1006])

/** Bytes waiting above which `drained` is promised. */
const highWater = 64 * 1024

export class WebSocketLink extends StreamLink<WebSocketEvent, WebSocketCommand> implements WebSocketConnection {
  readonly #socket: WebSocket
  readonly remote: Endpoint
  readonly path: string
  readonly #pingEvery: number
  /** Begins the closing handshake, or answers that of the peer. */
  readonly #close: WebSocket['close']
  /** Answers the peer's end. */
  #answerEnd = (): void => {}
  /** What was sent before the handshake was done. */
  #early: (string | Uint8Array)[] = []
  #earlyBytes = 0
  /** Messages that did not leave; NaN once nobody cares. */
  #unsent = 0
  #full = false
  /** Ended by its own side before it was open: what `ws` says of that is not an error. */
  #givenUp = false
  /** The peer has shown life since the last look. */
  #alive = true

  constructor(socket: WebSocket, what: string, options: WebSocketOptions, remote: Endpoint, path: string) {
    super(what, webSocketLimits(options))
    this.#socket = socket
    this.remote = remote
    this.path = path
    this.#pingEvery = options.pingEvery ?? 30_000
    this.#close = socket.close.bind(socket)
    // `ws` calls it when the peer closes or breaks the protocol: too early for answers to the messages before.
    socket.close = (code, reason) => this.#peerEnds(() => this.#close(code, reason))
    socket.on('error', (cause) => {
      if (!this.#givenUp) this.broke(cause)
    })
    socket.on('close', (code, reason) => {
      if (this.#unsent > 0) this.lose(this.#unsent, 'messages', 'the connection broke off')
      this.ended({ type: 'closed', code, reason: reason.toString() })
    })
    socket.on('pong', () => {
      this.#alive = true
    })
    // `ws` answers by itself, also a peer that never reads an answer.
    socket.on('ping', () => this.overflowing(this.buffered))
  }
  get open(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }
  get buffered(): number {
    return this.#socket.bufferedAmount + this.#earlyBytes
  }
  get #connecting(): boolean {
    return this.#socket.readyState === this.#socket.CONNECTING
  }

  protected override begin(): void {
    const socket = this.#socket
    if (socket.readyState === socket.CLOSED) return this.ended({ type: 'closed', code: 1006, reason: '' })
    socket.on('message', (data, binary) => this.#onMessage(data, binary))
    if (this.#connecting) socket.on('open', () => this.#onOpen())
    else if (!this.held) this.flow()
  }

  send(data: string | Uint8Array): boolean {
    checkBytes('data', data)
    if (!this.open && !this.#connecting) return this.refuse('a message was refused, because the WebSocket is closed or closing')
    if (this.overflowing(this.buffered)) return false
    this.activity++
    if (this.#connecting) {
      this.#early.push(data)
      this.#earlyBytes += sizeOf(data)
    } else this.#socket.send(data, this.#sent)
    if (this.buffered <= highWater) return true
    this.#full = true
    return false
  }
  close(code = 1000, reason = ''): void {
    // `ws` would find out when it is half closed already.
    if (!Number.isInteger(code) || !((code >= 1000 && code <= 1014 && !notToSend.has(code)) || (code >= 3000 && code <= 4999)))
      throw new InvalidOption('code', code, 'use 1000 to 1014, without 1004 to 1006, or 3000 to 4999')
    if (typeof reason !== 'string' || Buffer.byteLength(reason) > 123) throw new InvalidOption('reason', reason, 'use a text of at most 123 bytes')
    this.#givenUp ||= this.#connecting
    this.#close(code, reason)
  }
  #peerEnds(answer: () => void): void {
    if (!this.open || this.stale || !this.attached) return answer()
    this.#answerEnd = answer
    this.followPeer()
  }
  protected override endSide(): void {
    this.#answerEnd()
  }
  override destroy(reason?: 'idle'): void {
    if (reason === 'idle') this.lose(this.buffered, 'bytes', 'the peer did not take them and the connection was idle')
    else this.#unsent = NaN
    this.#givenUp ||= this.#connecting
    this.#socket.terminate()
  }

  override attach(ctx: ActorContext<never>, to: ActorRef<never> | undefined, connection: ActorRef<WebSocketCommand> | undefined): void {
    if (this.#pingEvery > 0) this.#keepAlive(ctx, this.#pingEvery)
    super.attach(ctx, to, connection)
  }

  /** Pings for as long as the incarnation lives; ends the connection if one goes unanswered. */
  #keepAlive(ctx: ActorContext<never>, every: number): void {
    let cancel = (): void => {}
    const look = (): void => {
      if (this.stale) return
      this.#checkAlive()
      cancel = later(ctx, every, look)
    }
    cancel = later(ctx, every, look)
    onRelease(ctx, { release: () => cancel() })
  }
  #checkAlive(): void {
    // Behind the peer's end no answer comes.
    if (!this.open || this.peerEnded) return
    // Nothing is read, so no answer could be seen: that is not the peer's fault.
    if (this.held) this.#alive = true
    if (!this.#alive) return this.fail(new IoError(`reach ${this.what}`, 'ping-timeout', 'the peer did not answer a ping'))
    this.#alive = false
    this.#socket.ping()
  }

  override release(): void {
    this.stale = true
    const socket = this.#socket
    if (socket.readyState === socket.CLOSED) return
    if (!this.open) return socket.terminate()
    // 1001, going away. A peer that does not answer is cut off.
    if (this.peerEnded) this.follow()
    else this.#close(1001)
    const timer = setTimeout(() => socket.terminate(), 1000)
    socket.once('close', () => clearTimeout(timer))
    socket.resume()
  }

  protected override halt(): void {
    this.#socket.pause()
  }
  protected override flow(): void {
    this.#socket.resume()
  }
  protected override cut(): void {
    this.#socket.terminate()
  }

  readonly #sent = (error?: Error | null): void => {
    if (error) this.#unsent++
    if (!this.#full || this.#socket.bufferedAmount > highWater) return
    this.#full = false
    this.tell({ type: 'drained' })
  }
  #onOpen(): void {
    // `ws` takes no pause before this.
    if (this.held) this.halt()
    this.tell({ type: 'connected' })
    const early = this.#early
    this.#early = []
    this.#earlyBytes = 0
    for (const data of early) this.#socket.send(data, this.#sent)
  }
  #onMessage(data: RawData, binary: boolean): void {
    if (this.stale) return
    this.#alive = true
    const bytes = data as Buffer
    this.received(binary ? new BinaryEvent(bytes, this.connection) : new TextEvent(bytes.toString(), this.connection))
  }
}
