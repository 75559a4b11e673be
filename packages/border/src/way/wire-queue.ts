// The mailbox of an actor that runs on another thread, on the sender's side: messages pass straight to the wire while
// there is credit, and wait here otherwise, under the policy that was chosen for the mailbox.

import type { AnyRef, MailboxQueue, WaitingOffer } from '@troupe/core'
import { type Cell, Envelope, headersOf, highWater, MessageRing, type Meta, notePressure, poison } from '@troupe/core/internal'
import type { Exchange } from '../exchange/exchange.ts'
import { snapshot } from '../values/snapshot.ts'

/** How messages get from here to the actor. */
export interface Way {
  /** Whether another message may go now. */
  readonly open: boolean
  pass(message: unknown): void
  passSent(message: unknown, sender: AnyRef): void
  passEnvelope(from: Cell, message: unknown, envelope: Envelope): void
  close(): void
}

export class WireQueue implements MailboxQueue {
  meta: unknown = undefined
  readonly inner: MailboxQueue
  readonly #cell: Cell
  readonly #exchange: Exchange
  link: Way | undefined = undefined

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

  push(message: unknown, meta: unknown): void {
    if (this.inner.size === 0 && this.#passes()) this.#pass(message, meta as Meta)
    else this.#wait(message, meta)
  }

  #wait(message: unknown, meta: unknown): void {
    // What waits is what it was when it was told.
    let kept: unknown
    try {
      kept = meta === poison ? message : snapshot(message)
      keepHeaders(meta as Meta)
    } catch (cause) {
      return this.#refuse(message, meta as Meta, cause)
    }
    this.inner.push(kept, meta)
    this.#exchange.waits(this)
    // A mailbox that was chosen looks after this by itself.
    if (this.inner.size >= highWater && this.inner instanceof MessageRing) notePressure(this.#cell, this.inner.size)
    if (this.link === undefined) this.#exchange.whereabouts.locate(this.#cell)
    // Somebody's getter may have opened the way meanwhile.
    else if (this.#passes()) this.pump()
  }

  #passes(): boolean {
    const { link } = this
    return link !== undefined && link.open && this.#cell.phase === 'running'
  }

  #pass(message: unknown, meta: Meta): void {
    try {
      if (meta === undefined) this.link!.pass(message)
      else if (meta instanceof Envelope) this.link!.passEnvelope(this.#cell, message, meta)
      else this.link!.passSent(message, meta)
    } catch (cause) {
      this.#refuse(message, meta, cause)
    }
  }
  #refuse(message: unknown, meta: Meta, cause: unknown): void {
    this.#cell.dispatcher.host.bury(message, meta, this.#cell.ref, 'not-transferable', cause)
  }

  /** Lets go what may go; returns whether anything did. */
  pump(): boolean {
    const { inner } = this
    const before = inner.size
    while (inner.size > 0 && this.#passes()) {
      const message = inner.shift()
      if (message === undefined) break
      this.#pass(message, inner.meta as Meta)
    }
    if (inner.size === 0) this.#exchange.waitsNoMore(this)
    if (this.#cell.extras?.pressed === true) notePressure(this.#cell, inner.size)
    return inner.size < before
  }

  /** What the cell takes: nothing in its turns, for what may go has gone; everything when it is drained. */
  shift(): unknown {
    if (this.#cell.phase === 'running') {
      this.pump()
      this.meta = undefined
      return undefined
    }
    const message = this.inner.shift()
    this.meta = this.inner.meta
    if (this.inner.size === 0) this.#exchange.waitsNoMore(this)
    return message
  }

  /** Whether an offer would be taken now: passed on, or let wait here. */
  hasRoom(): boolean {
    return (this.inner.size === 0 && this.#passes()) || (this.inner.hasRoom?.() ?? true)
  }
  wait(offer: WaitingOffer): void {
    this.inner.wait?.(offer)
  }
  endWaits(cause: Error): void {
    this.inner.endWaits?.(cause)
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
  const headers = headersOf(meta)
  if (headers !== undefined) (meta as { headers: unknown }).headers = snapshot(headers, undefined, ['headers'])
}
