// The way of messages from this thread to one actor of another, and its credit: how many messages, and how many bytes,
// may be under way before the actor has taken some of them.
//
// A link holds the ref of its actor weakly, so that an unused ref can be collected. The link is closed then, or when the actor has stopped.
// A closed link is kept until all its credit is back. If the actor gets another link before that, messages that are still under way by the
// old one count against the new one.

import type { AnyRef } from '@troupe/core'
import { type Cell, type Envelope, headersOf, PendingAsk, poison, senderOf } from '@troupe/core/internal'
import { type Crossing, record } from './crossing.ts'
import type { Writer } from '../codec/writer.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Route, WireQueue } from './wire-queue.ts'

/** What an unbounded mailbox may have under way: enough to keep both threads busy; for all but the smallest messages the bytes decide. */
export const widest = 131_072
export const mostBytes: number = 1024 * 1024

const meta = { sender: 0, envelope: 1, ask: 2, poison: 3 } as const
export const metaKind: typeof meta = meta

export class Link implements Route {
  readonly crossing: Crossing
  readonly id: number
  readonly uid: number
  /** The messages that wait for this link. Weak: a link must not keep the ref that it belongs to. */
  readonly #queue: WeakRef<WireQueue>
  readonly #exchange: Exchange
  /** How many messages may be under way. */
  readonly window: number
  #credit: number
  #bytes: number
  #closed = false
  /** The link that followed this one to the same actor: it gets the credit that comes back for this one. */
  #successor: Link | undefined

  constructor(exchange: Exchange, crossing: Crossing, uid: number, window: number, queue: WireQueue) {
    this.#exchange = exchange
    this.#queue = new WeakRef(queue)
    this.crossing = crossing
    this.uid = uid
    this.window = window
    const before = crossing.linkTo(uid)
    before?.close()
    this.id = crossing.linked(this)
    const owed = before === undefined || before.isDone ? undefined : before
    if (owed !== undefined) owed.#successor = this
    this.#credit = window - (owed?.underWay ?? 0)
    this.#bytes = mostBytes - (owed?.bytesUnderWay ?? 0)
    crossing.plain((w) => {
      w.byte(record.link)
      w.whole(this.id)
      w.double(crossing.numberOut(uid))
      w.whole(window)
    })
  }

  get open(): boolean {
    if (this.#credit <= 0 || this.#bytes <= 0) return false
    return this.crossing.hasRoom || this.crossing.wantRoom()
  }

  /** Messages that have gone and were not taken, as far as is known. */
  get underWay(): number {
    return this.window - this.#credit
  }

  get bytesUnderWay(): number {
    return mostBytes - this.#bytes
  }
  /** The messages that wait for this link; undefined after its ref was collected. */
  get queue(): WireQueue | undefined {
    return this.#queue.deref()
  }
  get isClosed(): boolean {
    return this.#closed
  }
  /** True once it is closed and has all its credit back. */
  get isDone(): boolean {
    return this.#closed && this.underWay <= 0
  }

  /** The actor has taken so much. What waits goes as far as that lets it. */
  grant(messages: number, bytes: number): void {
    this.#credit += messages
    this.#bytes += bytes
    if (this.#closed) {
      if (this.isDone) this.crossing.unlinked(this)
      this.#successor?.grant(messages, bytes)
      return
    }
    const { queue } = this
    if (queue?.wants === true) queue.pump()
  }

  pass(message: unknown): number {
    return this.#passed(this.crossing.message(this.id, message))
  }
  passSent(message: unknown, sender: AnyRef): number {
    return this.#passed(
      this.crossing.valued((w) => {
        this.#head(w, meta.sender)
        w.value(sender)
      }, message),
    )
  }
  passEnvelope(cell: Cell, given: unknown, envelope: Envelope): number {
    if (envelope === poison) return this.#passed(this.crossing.valued((w) => this.#head(w, meta.poison), null))
    // A question that has expired, or whatever else must not reach its handler, ends here.
    const message = envelope.open(cell, given)
    if (message === undefined) return 0
    const onward = envelope.onward()
    if (onward instanceof PendingAsk) return this.#passAsk(message, onward)
    const sender = senderOf(onward)
    const headers = headersOf(onward)
    return this.#passed(
      this.crossing.valued((w) => {
        this.#head(w, meta.envelope)
        w.value(sender)
        w.labelled('headers', headers)
        w.value(envelope.priority)
      }, message),
    )
  }
  #passAsk(message: unknown, ask: PendingAsk): number {
    // One that goes over at once has no deadline yet, only its time.
    const remaining = ask.at > 0 ? Math.max(1, ask.at - this.#exchange.now) : ask.timeout
    const { questions } = this.#exchange
    const { origin, id } = questions.markOf(ask)
    const size = this.#passed(
      this.crossing.valued((w) => {
        this.#head(w, meta.ask)
        w.whole(this.crossing.placeOut(origin))
        w.whole(id)
        w.double(remaining)
        w.labelled('headers', ask.headers)
      }, message),
    )
    questions.left(ask, this.crossing)
    return size
  }

  #head(writer: Writer, kind: number): void {
    writer.byte(record.envelope)
    writer.whole(this.id)
    writer.byte(kind)
  }
  #passed(size: number): number {
    this.crossing.sent++
    this.#credit--
    this.#bytes -= size
    return size
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    if (this.isDone) this.crossing.unlinked(this)
    this.crossing.plain((w) => {
      w.byte(record.unlink)
      w.whole(this.id)
    })
  }
}
