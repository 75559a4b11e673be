// The way of messages from this thread to one actor of another, and its credit: how many messages, and how many bytes,
// may be under way before the actor has taken some of them.

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
  /** What waits for this way alone. */
  readonly queue: WireQueue
  readonly #exchange: Exchange
  /** How many messages may be under way. */
  readonly window: number
  #credit: number
  #bytes: number = mostBytes
  #closed = false

  constructor(exchange: Exchange, crossing: Crossing, uid: number, window: number, queue: WireQueue) {
    this.#exchange = exchange
    this.queue = queue
    this.crossing = crossing
    this.uid = uid
    this.id = crossing.linked(this)
    this.window = window
    this.#credit = window
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

  /** The actor has taken so much. */
  grant(messages: number, bytes: number): void {
    this.#credit += messages
    this.#bytes += bytes
  }

  pass(message: unknown): void {
    this.#passed(this.crossing.message(this.id, message))
  }
  passSent(message: unknown, sender: AnyRef): void {
    this.#passed(
      this.crossing.valued((w) => {
        this.#head(w, meta.sender)
        w.value(sender)
      }, message),
    )
  }
  passEnvelope(cell: Cell, given: unknown, envelope: Envelope): void {
    if (envelope === poison) {
      this.#passed(this.crossing.valued((w) => this.#head(w, meta.poison), null))
      return
    }
    // A question that has expired, or whatever else must not reach its handler, ends here.
    const message = envelope.open(cell, given)
    if (message === undefined) return
    const onward = envelope.onward()
    if (onward instanceof PendingAsk) this.#passAsk(message, onward)
    else {
      const sender = senderOf(onward)
      const headers = headersOf(onward)
      this.#passed(
        this.crossing.valued((w) => {
          this.#head(w, meta.envelope)
          w.value(sender)
          w.labelled('headers', headers)
          w.value(envelope.priority)
        }, message),
      )
    }
  }
  #passAsk(message: unknown, ask: PendingAsk): void {
    // One that goes over at once has no deadline yet, only its time.
    const remaining = ask.at > 0 ? Math.max(1, ask.at - this.#exchange.now) : ask.timeout
    const { questions } = this.#exchange
    const { origin, id } = questions.markOf(ask)
    this.#passed(
      this.crossing.valued((w) => {
        this.#head(w, meta.ask)
        w.whole(this.crossing.placeOut(origin))
        w.whole(id)
        w.double(remaining)
        w.labelled('headers', ask.headers)
      }, message),
    )
    questions.left(ask, this.crossing)
  }

  #head(writer: Writer, kind: number): void {
    writer.byte(record.envelope)
    writer.whole(this.id)
    writer.byte(kind)
  }
  #passed(size: number): void {
    this.crossing.sent++
    this.#credit--
    this.#bytes -= size
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.crossing.unlinked(this.id)
    this.crossing.plain((w) => {
      w.byte(record.unlink)
      w.whole(this.id)
    })
  }
}
