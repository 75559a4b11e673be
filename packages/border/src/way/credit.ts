// How credit returns to a sender elsewhere: with every so many messages goes one that gives it back when its actor takes it, or when it ends
// otherwise. Once: what is put aside and comes again has given it already.

import { type Cell, Envelope, headersOf, type Meta, senderOf, Told } from '@troupe/core/internal'
import type { Arrivals } from './arrivals.ts'
import { record } from './crossing.ts'

/** Goes with a message, and gives back what that takes up when it is taken, or ends otherwise. */
export abstract class Returning extends Told {
  readonly inner: Meta
  constructor(inner: Meta) {
    super(senderOf(inner), headersOf(inner), inner instanceof Envelope ? inner.priority : undefined)
    this.inner = inner
  }
  /** Gives it back, the first time it is called. */
  protected abstract give(): void
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
    this.give()
    return this.inner instanceof Envelope ? this.inner.open(cell, message) : message
  }
  override end(reason: 'failed' | 'unhandled' | 'refused' | 'stopped', cause: unknown): void {
    this.give()
    if (this.inner instanceof Envelope) this.inner.end(reason, cause)
  }
  override onward(): Meta {
    return this.inner instanceof Envelope ? this.inner.onward() : this.inner
  }
  override moved(to: Cell): void {
    if (this.inner instanceof Envelope) this.inner.moved(to)
  }
}

/** Gives the credit of a link back. */
export class Credit extends Returning {
  #of: Arrivals | undefined
  readonly #messages: number
  readonly #bytes: number
  constructor(of: Arrivals, inner: Meta, messages: number, bytes: number) {
    super(inner)
    this.#of = of
    this.#messages = messages
    this.#bytes = bytes
  }
  protected override give(): void {
    const of = this.#of
    if (of === undefined) return
    this.#of = undefined
    giveCredit(of, this.#messages, this.#bytes)
  }
  release(): Meta {
    this.give()
    return this.inner
  }
}

/** Tells the sender of a link that so much was taken. */
export function giveCredit(of: Arrivals, messages: number, bytes: number): void {
  of.crossing.plain((w) => {
    w.byte(record.credit)
    w.whole(of.id)
    w.whole(messages)
    w.whole(bytes)
  })
}

/** The meta of a message that came, without the credit that it gives back: that goes back now. */
export function taken(meta: Meta): Meta {
  return meta instanceof Credit ? meta.release() : meta
}
