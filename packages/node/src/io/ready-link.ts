// A stream as a link that tells when it can be read or written and leaves both to its owner. Node keeps at most a high-water
// mark of bytes that came; beyond, the peer waits: that is all the flow control there is, and no credits are counted.
// What the end means waits for the owner: neither does this side follow nor the actor stop before it could read the end.

import type { Duplex } from 'node:stream'
import type { ActorRef } from '@troupe/core'
import { checkWhole } from '@troupe/core/internal'
import { type MessageEnd, HandledCarrier } from './credit.ts'
import type { Bytes, ConnectionOptions } from './protocol.ts'
import { Readiness } from './readiness.ts'
import type { ReadResult } from './readiness-protocol.ts'
import { SocketLink } from './socket-link.ts'

/** A notice: `heard` once it was handled, unhandled or failed. */
class NoticeCarrier extends HandledCarrier {
  readonly #heard: (failed: boolean) => void
  #failed = false
  constructor(sender: ActorRef<never> | undefined, source: ReadyLink, heard: (failed: boolean) => void) {
    super(sender, source, () => heard(this.#failed))
    this.#heard = heard
  }
  override end(reason: MessageEnd, cause: unknown): void {
    if (reason === 'failed') this.#failed = true
    else super.end(reason, cause)
    // By now the stream is over, and what waits for the owner waits no more.
    if (reason === 'refused') this.#heard(false)
  }
}

export class ReadyLink extends SocketLink {
  readonly #readable: Readiness
  readonly #writable: Readiness
  /** The peer's end has been reached: all bytes before it were read. */
  #ended = false
  /** The owner has read it. */
  #endRead = false
  /** `closed` was told, and is the last. */
  #over = false
  /** What is to be done once the owner has heard of the end. */
  #afterEnd: (() => void)[] = []
  readonly #onReadable = (): void => this.#came()
  readonly #onConnect = (): void => this.#writable.look()

  constructor(socket: Duplex, what: string, options: ConnectionOptions, interest: readonly string[]) {
    super(socket, what, options, interest as never)
    this.#readable = new Readiness(
      () => this.wants('readable') && !this.held && !this.#over && (this.#ended ? !this.#endRead : this.open && socket.readableLength > 0),
      (heard) => this.#tell('readable', heard),
    )
    this.#writable = new Readiness(
      () => this.wants('writable') && socket.writable && !socket.writableNeedDrain && !this.#connecting,
      (heard) => this.#tell('writable', heard),
    )
  }
  get #connecting(): boolean {
    return (this.socket as { connecting?: boolean }).connecting === true
  }

  protected override begin(): void {
    super.begin()
    const { socket } = this
    if (socket.destroyed) return
    if (socket.readable) socket.on('readable', this.#onReadable)
    if (this.#connecting) socket.once('connect', this.#onConnect)
    this.#writable.look()
  }
  override own(to: ActorRef<never> | undefined): void {
    super.own(to)
    this.#readable.begin()
    this.#writable.begin()
  }
  #tell(type: 'readable' | 'writable', heard: (failed: boolean) => void): void {
    const carrier = new NoticeCarrier(this.connection, this, (failed) => {
      heard(failed)
      if (type === 'readable') this.#endHeard()
    })
    this.tell({ type } as never, carrier)
  }

  /** Takes what is there: at most `n` bytes, if that is said. */
  read(n?: number): ReadResult {
    const { socket } = this
    const most = n === undefined ? Infinity : checkWhole('n', n, 1)
    // Node would wait until there are `n`, and keep so many.
    const size = Math.min(most, socket.readableLength)
    const chunk = size > 0 && !socket.destroyed ? (socket.read(size) as Buffer | null) : null
    if (chunk !== null) {
      this.activity++
      this.#seekEnd()
      this.#readable.used()
      return { type: 'bytes', chunk }
    }
    if (this.#ended) {
      this.#endRead = true
      this.#endHeard()
      return { type: 'end' }
    }
    this.#readable.used()
    return { type: socket.destroyed ? 'gone' : 'nothing' }
  }
  override write(data: Bytes, encoding?: 'utf8' | 'latin1'): boolean {
    const roomy = super.write(data, encoding)
    this.#writable.used()
    return roomy
  }

  // Nothing flows by itself, except what is thrown away while the last bytes leave.
  protected override halt(): void {}
  protected override flow(): void {
    if (!this.stale) return this.#readable.look()
    this.socket.removeListener('readable', this.#onReadable)
    super.flow()
  }

  override undelivered(why: 'stopped' | 'refused'): void {
    // Nobody is there to read it.
    this.#endRead = true
    super.undelivered(why)
  }
  #came(): void {
    this.activity++
    this.#seekEnd()
    this.#readable.look()
  }
  /** Node tells of the end to whoever tries to read behind the last byte. */
  #seekEnd(): void {
    if (this.socket.readableLength === 0) this.socket.read(0)
  }
  override onDrained(): void {
    super.onDrained()
    this.#writable.look()
  }
  override onHalfClosed(): void {
    this.#ended = true
    this.#readable.look()
    if (this.wants('half-closed')) super.onHalfClosed()
    else this.#onceEndHeard(() => super.onHalfClosed())
  }
  override onClosed(): void {
    if (this.#ended && !this.faulty) this.#onceEndHeard(() => this.#close())
    else this.#close()
  }
  #close(): void {
    this.#over = true
    super.onClosed()
  }
  #onceEndHeard(act: () => void): void {
    if (this.#readable.told) this.#afterEnd.push(act)
    else act()
  }
  #endHeard(): void {
    if (this.#ended && !this.#readable.told) for (const act of this.#afterEnd.splice(0)) act()
  }
}
