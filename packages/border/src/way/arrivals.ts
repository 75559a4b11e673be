// The other end of a link: messages that come for one actor of this thread, and the credit that goes back as it takes
// them. A message for an actor that is not here yet waits; its home is asked what became of it.

import { type Cell, Envelope, headersOf, MessageRing, type Meta, senderOf, Told } from '@troupe/core/internal'
import { type Channel, record } from './channel.ts'
import { mostBytes } from './link.ts'

export class Arrivals {
  readonly channel: Channel
  readonly id: number
  readonly uid: number
  cell: Cell | undefined
  /** Messages for an actor that has not come yet. */
  early: MessageRing | undefined = undefined
  readonly #step: number
  #messages = 0
  #bytes = 0

  constructor(channel: Channel, id: number, uid: number, window: number, cell: Cell | undefined) {
    this.channel = channel
    this.id = id
    this.uid = uid
    this.cell = cell
    this.#step = Math.max(1, window >> 2)
  }

  /** Takes a message that has come; it was counted as sent where it was sent. */
  take(message: unknown, meta: Meta, size: number): void {
    this.channel.received++
    this.#messages++
    this.#bytes += size
    let marked = meta
    if (this.#messages >= this.#step || this.#bytes >= mostBytes / 4) {
      marked = new Credit(this, meta, this.#messages, this.#bytes)
      this.#messages = 0
      this.#bytes = 0
    }
    if (this.cell !== undefined) this.cell.accept(message, marked)
    else (this.early ??= new MessageRing()).push(message, marked)
  }

  /** The actor has come: it gets what waited. */
  arrived(cell: Cell): void {
    this.cell = cell
    const { early } = this
    this.early = undefined
    for (let message = early?.shift(); message !== undefined; message = early!.shift()) {
      const meta = early!.meta as Meta
      if (meta instanceof Envelope) meta.moved(cell)
      cell.accept(message, meta)
    }
  }
}

/** Gives credit back when its message is taken, or ends otherwise. */
export class Credit extends Told {
  readonly inner: Meta
  #of: Arrivals | undefined
  readonly #messages: number
  readonly #bytes: number
  constructor(of: Arrivals, inner: Meta, messages: number, bytes: number) {
    super(senderOf(inner), headersOf(inner), inner instanceof Envelope ? inner.priority : undefined)
    this.#of = of
    this.inner = inner
    this.#messages = messages
    this.#bytes = bytes
  }
  #give(): void {
    const of = this.#of
    if (of === undefined) return
    this.#of = undefined
    of.channel.plain((w) => {
      w.byte(record.credit)
      w.whole(of.id)
      w.whole(this.#messages)
      w.whole(this.#bytes)
    })
  }
  override from(): ReturnType<typeof senderOf> {
    return senderOf(this.inner)
  }
  override asked(): ReturnType<Envelope['asked']> {
    return this.inner instanceof Envelope ? this.inner.asked() : undefined
  }
  override get deadline(): number {
    return this.inner instanceof Envelope ? this.inner.deadline : Infinity
  }
  override open(cell: Cell, message: unknown): unknown {
    this.#give()
    return this.inner instanceof Envelope ? this.inner.open(cell, message) : message
  }
  override end(reason: 'failed' | 'unhandled' | 'refused' | 'stopped', cause: unknown): void {
    this.#give()
    if (this.inner instanceof Envelope) this.inner.end(reason, cause)
  }
  override onward(): Meta {
    return this.inner instanceof Envelope ? this.inner.onward() : this.inner
  }
  override moved(to: Cell): void {
    if (this.inner instanceof Envelope) this.inner.moved(to)
  }
}
