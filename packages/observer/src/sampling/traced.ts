// The envelope of a message that is followed. Whatever else the message has with it is inside and is asked in its stead. When it is taken
// a behavior stands in for that of its actor for the length of one call: so the call is timed, and what it sends is known to be its.

import { type Cell, Envelope, HookedNode, type Meta, type PendingAsk, senderOf } from '@troupe/core/internal'
import type { AnyRef } from '@troupe/core'
import type { Span } from './span.ts'

export interface Follower {
  readonly now: number
  /** Runs a handler whose sends are to be followed. */
  run(span: Span, cell: Cell, handler: () => unknown): unknown
  /** Its handler is about to begin; what is returned goes into the headers that it sees. */
  taken?(span: Span, cell: Cell): Readonly<Record<string, string>> | undefined
  /** The message has gone on to another actor. */
  forwarded(span: Span, to: Cell): Span
}

/** Only where nothing else stands between: an actor of another thread, or of a test, has cells of its own kind. */
const plain = (cell: Cell): boolean => Object.getPrototypeOf(Object.getPrototypeOf(cell) as object) === Object.prototype

export class Traced extends Envelope {
  readonly inner: Meta
  span: Span
  readonly #follower: Follower
  /** It was opened by one that passes it on to another thread: there nobody follows it. */
  #leaves = false

  constructor(inner: Meta, span: Span, follower: Follower) {
    super()
    this.inner = inner
    this.span = span
    this.#follower = follower
    if (inner instanceof Envelope) Object.assign(this, { headers: inner.headers, priority: inner.priority })
  }

  static follows(cell: Cell): boolean {
    return plain(cell)
  }

  override from(): AnyRef | undefined {
    return senderOf(this.inner)
  }
  override get deadline(): number {
    return this.inner instanceof Envelope ? this.inner.deadline : Infinity
  }
  override get own(): boolean {
    return this.inner instanceof Envelope && this.inner.own
  }
  override asked(): PendingAsk | undefined {
    return this.inner instanceof Envelope ? this.inner.asked() : undefined
  }
  override end(reason: 'failed' | 'unhandled' | 'refused' | 'stopped', cause: unknown): void {
    if (this.inner instanceof Envelope) this.inner.end(reason, cause)
  }
  override onward(): Meta {
    const inner = this.inner instanceof Envelope ? this.inner.onward() : this.inner
    return this.#leaves ? inner : new Traced(inner, this.span, this.#follower)
  }
  override moved(to: Cell): void {
    this.span = this.#follower.forwarded(this.span, to)
    if (this.inner instanceof Envelope) this.inner.moved(to)
  }

  override open(cell: Cell, message: unknown): unknown {
    const opened = this.inner instanceof Envelope ? this.inner.open(cell, message) : message
    this.#leaves = !plain(cell)
    if (opened === undefined || this.#leaves) return opened
    this.span.takenAt = this.#follower.now
    const headers = this.#follower.taken?.(this.span, cell)
    if (headers !== undefined) Object.assign(this, { headers: { ...this.headers, ...headers } })
    this.#standIn(cell)
    return opened
  }

  #standIn(cell: Cell): void {
    const { behavior } = cell
    const handle = (ctx: never, message: never): unknown => {
      if (cell.behavior === standIn) cell.behavior = behavior
      // One that was put aside before its handler began is another message's turn by now.
      if ((ctx as { readonly meta?: unknown }).meta !== this) return behavior.handle(ctx, message)
      return this.#follower.run(this.span, cell, () => behavior.handle(ctx, message))
    }
    const standIn = new HookedNode('receive', handle, behavior.signal, behavior.error, undefined)
    cell.behavior = standIn
  }
}
