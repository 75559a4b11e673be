// The mailbox of an actor that runs on another thread, on the sender's side: messages pass straight to the wire while
// there is credit, and wait here otherwise, under the policy that was chosen for the mailbox.

import type { AnyRef, MailboxQueue, WaitingOffer } from '@troupe/core'
import { type Cell, Envelope, headersOf, highWater, MessageRing, type Meta, notePressure, poison } from '@troupe/core/internal'
import type { Exchange } from '../exchange/exchange.ts'
import { measured, snapshot } from '../values/snapshot.ts'
import { homeOf } from '../values/epochs.ts'
import { Returning } from './credit.ts'

/** How messages get from here to the actor. */
export interface Route {
  /** Whether another message may go now. */
  readonly open: boolean
  /** Each returns the bytes that it took; 0 for a message that ended here. */
  pass(message: unknown): number
  passSent(message: unknown, sender: AnyRef): number
  passEnvelope(from: Cell, message: unknown, envelope: Envelope): number
  close(): void
}

/** What keeping a message costs beside its bytes. */
const perMessage = 128

export class WireQueue implements MailboxQueue {
  meta: unknown = undefined
  readonly inner: MailboxQueue
  readonly #cell: Cell
  readonly #exchange: Exchange
  link: Route | undefined = undefined
  /** What each message that waits counts in bytes, in their order; only where that is bounded. */
  readonly #sizes: number[] = []
  /** Offers that wait for credit; only where what waits is bounded. */
  #offers: WaitingOffer[] = []
  /** Tasks to be done once nothing waits. */
  #onEmpty: (() => void)[] = []
  /** Whether a question may be among what waits. */
  #hasQuestions = false

  constructor(cell: Cell, inner: MailboxQueue, exchange: Exchange) {
    this.#cell = cell
    this.inner = inner
    this.#exchange = exchange
  }

  /** Whether it belongs to a ref of an actor of another thread, whose cell is in no tree of this one. */
  get ofProxy(): boolean {
    return this.#cell.ref.parent === undefined
  }
  get size(): number {
    return this.inner.size
  }

  /** True if what is pushed next goes at once. */
  get isOpen(): boolean {
    return this.inner.size === 0 && this.#passes()
  }

  /** Returns the bytes that the message takes, on its way or here; 0 if it was refused. */
  push(message: unknown, meta: unknown): number {
    return this.isOpen ? this.#pass(message, meta as Meta) : this.#wait(message, meta)
  }

  #wait(message: unknown, meta: unknown): number {
    // What waits is what it was when it was told.
    let kept: { readonly copy: unknown; readonly size: number }
    try {
      kept = meta === poison ? { copy: message, size: 0 } : measured(message)
      keepHeaders(meta as Meta)
    } catch (cause) {
      return this.#refuse(message, meta as Meta, cause)
    }
    if (this.#exchange.bounded && !this.#reserve(kept.size + perMessage)) {
      this.#cell.dispatcher.host.bury(message, meta as Meta, this.#cell.ref, 'node-behind')
      return 0
    }
    this.inner.push(kept.copy, meta)
    if (meta instanceof Envelope && meta.asked() !== undefined) this.#hasQuestions = true
    this.#exchange.waits(this)
    // A mailbox that was chosen looks after this by itself.
    if (this.inner.size >= highWater && this.inner instanceof MessageRing) notePressure(this.#cell, this.inner.size)
    if (this.link === undefined) this.#exchange.whereabouts.locate(this.#cell)
    // Somebody's getter may have opened the way meanwhile.
    else if (this.#passes()) this.pump()
    return kept.size + perMessage
  }

  /** Does something when all that waits here has gone. */
  whenEmpty(task: () => void): void {
    this.#onEmpty.push(task)
  }

  #reserve(bytes: number): boolean {
    if (!this.#exchange.mayWait(this.#place, bytes)) return false
    this.#sizes.push(bytes)
    return true
  }
  /** A message that waited does so no longer. */
  #took(): void {
    const bytes = this.#sizes.shift()
    if (bytes !== undefined) this.#exchange.waited(this.#place, bytes)
  }
  get #place(): number {
    return homeOf(this.#exchange.numberOf(this.#cell))
  }

  /** Offers that wait here, those that were given up since the last sweep included. */
  get waitingOffers(): number {
    return this.#offers.length
  }
  /** Whether something waits here for a way. */
  get wants(): boolean {
    return this.inner.size > 0 || this.#offers.length > 0
  }

  #passes(): boolean {
    const { link } = this
    return link !== undefined && link.open && this.#cell.phase === 'running'
  }

  #pass(message: unknown, meta: Meta): number {
    try {
      if (meta === undefined) return this.link!.pass(message)
      return meta instanceof Envelope ? this.link!.passEnvelope(this.#cell, message, meta) : this.link!.passSent(message, meta)
    } catch (cause) {
      return this.#refuse(message, meta, cause)
    }
  }
  #refuse(message: unknown, meta: Meta, cause: unknown): 0 {
    this.#cell.dispatcher.host.bury(message, meta, this.#cell.ref, 'not-transferable', cause)
    return 0
  }

  /** Lets go what may go; returns whether anything did. */
  pump(): boolean {
    const { inner } = this
    const before = inner.size
    while (inner.size > 0 && this.#passes()) {
      const message = inner.shift()
      if (message === undefined) break
      this.#took()
      this.#pass(message, inner.meta as Meta)
    }
    if (inner.size === 0) {
      this.#exchange.waitsNoMore(this)
      if (this.#offers.length > 0) this.#takeOffers()
      for (const task of this.#onEmpty.splice(0)) task()
    }
    if (this.#cell.extras?.pressed === true) notePressure(this.#cell, inner.size)
    return inner.size < before
  }

  /** Lets in who waits with an offer, while there is credit. */
  #takeOffers(): void {
    while (this.#offers.length > 0 && this.inner.size === 0 && this.#passes()) {
      const offer = this.#offers.shift()!
      if (offer.ended) continue
      this.#cell.send(offer.message, offer.meta as Meta)
      offer.took()
    }
    if (this.#offers.length > 0) this.#exchange.waits(this)
  }

  /** Lets go of offers and questions that were given up: the connection may stay closed for long. */
  sweep(): void {
    if (this.#offers.length > 0) this.#offers = this.#offers.filter((offer) => !offer.ended)
    const { inner } = this
    // A mailbox that was chosen decides itself what is in it.
    if (!this.#hasQuestions || !(inner instanceof MessageRing)) return
    this.#hasQuestions = false
    for (let left = inner.size; left > 0; left--) {
      const message = inner.shift()
      const meta = inner.meta as Meta
      const bytes = this.#sizes.shift()
      const question = meta instanceof Envelope ? meta.asked() : undefined
      if (question?.settled === true) {
        // It counts as expired.
        ;(meta as Envelope).open(this.#cell, message)
        if (bytes !== undefined) this.#exchange.waited(this.#place, bytes)
        continue
      }
      this.#hasQuestions ||= question !== undefined
      inner.push(message, meta)
      if (bytes !== undefined) this.#sizes.push(bytes)
    }
    if (!this.wants) this.#exchange.waitsNoMore(this)
  }

  /** What the cell takes: nothing in its turns, for what may go has gone; everything when it is drained. */
  shift(): unknown {
    if (this.#cell.phase === 'running') {
      this.pump()
      this.meta = undefined
      return undefined
    }
    const message = this.inner.shift()
    if (message !== undefined) this.#took()
    this.meta = this.inner.meta
    if (this.inner.size === 0) this.#exchange.waitsNoMore(this)
    return message
  }

  /** Whether an offer would be taken now: passed on, or let wait here. */
  hasRoom(): boolean {
    return this.isOpen || (this.inner.hasRoom?.() ?? !this.#exchange.bounded)
  }
  wait(offer: WaitingOffer): void {
    if (!this.#exchange.bounded) return this.inner.wait?.(offer)
    this.#offers.push(offer)
    this.#exchange.waits(this)
    if (this.link === undefined) this.#exchange.whereabouts.locate(this.#cell)
  }
  endWaits(cause: Error): void {
    this.inner.endWaits?.(cause)
    for (const offer of this.#offers.splice(0)) offer.fail(cause)
  }
  unshift(message: unknown, meta: unknown): void {
    this.inner.unshift?.(message, meta)
  }

  /** The way to the actor is gone, or the actor is. */
  unlink(): void {
    this.link?.close()
    this.link = undefined
  }
}

/** Headers are nobody's to change once they are sent; whoever gave them may still hold them. */
function keepHeaders(meta: Meta): void {
  if (meta instanceof Returning) return keepHeaders(meta.inner)
  const headers = headersOf(meta)
  if (headers !== undefined) (meta as { headers: unknown }).headers = snapshot(headers, undefined, ['headers'])
}
