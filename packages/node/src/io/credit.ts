// The envelopes that a connection's messages travel in. Opening a chunk gives its credit back: that is flow control
// towards the owner. A chunk that nobody will handle ends the connection (a stream with a hole is worse than none), an
// error that nobody handles fails the connection's actor, and what an earlier incarnation's socket said is dropped.

import type { AnyRef } from '@troupe/core'
import { afterwards, type Cell, type Meta, Told } from '@troupe/core/internal'

/** The way in which messages end otherwise than by being handled. */
export type MessageEnd = 'failed' | 'unhandled' | 'refused' | 'stopped'

/** A message that holds a credit until it is opened for the first time; a stash or forward opens it again. */
export abstract class Credited {
  #held = true
  /** Whether this is the first call. */
  settle(): boolean {
    const held = this.#held
    this.#held = false
    return held
  }
}

/** What stands behind the envelopes of one stream. */
export interface Source {
  /** The incarnation that these messages were for has ended. */
  readonly stale: boolean
  /** One chunk was taken out of the mailbox of `by` by its handler, which begins now. */
  credited(by: Cell): void
  /** A message ended without a handler. */
  undelivered(why: 'stopped' | 'refused'): void
}

/** Events without a special end, chunks among them; one for each connection. */
export class Carrier extends Told {
  protected readonly source: Source
  constructor(sender: AnyRef | undefined, source: Source) {
    super(sender, undefined, undefined)
    this.source = source
  }
  get stale(): boolean {
    return this.source.stale
  }
  override open(cell: Cell, message: unknown): unknown {
    if (this.source.stale) {
      cell.dispatcher.host.drop(message, undefined, 'restart')
      return undefined
    }
    if (message instanceof Credited && message.settle()) this.source.credited(cell)
    return message
  }
  override end(reason: MessageEnd, _cause: unknown): void {
    if (reason === 'stopped' || (reason === 'refused' && !this.source.stale)) this.source.undelivered(reason)
  }
}

/** A message that may be lost without harm to the others: where a mailbox refuses it, `refused` hears so, and the rest goes on. */
export class LossyCarrier extends Carrier {
  readonly #refused: () => void
  constructor(sender: AnyRef | undefined, source: Source, refused: () => void) {
    super(sender, source)
    this.#refused = refused
  }
  override end(reason: MessageEnd, cause: unknown): void {
    if (reason === 'refused') this.#refused()
    else super.end(reason, cause)
  }
}

/** `handled` is called once its handler is done; where it is stashed or passed on, once that of the last is. */
export class HandledCarrier extends Carrier {
  readonly #handled: (by: Cell) => void
  #opened = 0
  constructor(sender: AnyRef | undefined, source: Source, handled: (by: Cell) => void) {
    super(sender, source)
    this.#handled = handled
  }
  override open(cell: Cell, message: unknown): unknown {
    const opened = super.open(cell, message)
    if (opened === undefined) return undefined
    const mine = ++this.#opened
    afterwards(cell, () => {
      if (mine === this.#opened) this.#handled(cell)
    })
    return opened
  }
  override onward(): Meta {
    this.#opened++
    return this
  }
}

/** The last message: `seen` is called once it was opened or will never be, so after whatever became of the others. */
export class LastCarrier extends Carrier {
  readonly #seen: () => void
  constructor(sender: AnyRef | undefined, source: Source, seen: () => void) {
    super(sender, source)
    this.#seen = seen
  }
  override open(cell: Cell, message: unknown): unknown {
    const opened = super.open(cell, message)
    if (opened !== undefined) this.#seen()
    return opened
  }
  override end(reason: MessageEnd): void {
    if (reason !== 'failed' && reason !== 'unhandled') this.#seen()
  }
}

/** The last message of a link: what went wrong since it was told is heard in its place, and it is told again behind that. */
export class LinkEndCarrier extends LastCarrier {
  readonly #instead: () => unknown
  readonly #unowned: () => void
  #replaced = false
  constructor(sender: AnyRef | undefined, source: Source, seen: () => void, instead: () => unknown, unowned: () => void) {
    super(sender, source, seen)
    this.#instead = instead
    this.#unowned = unowned
  }
  override open(cell: Cell, message: unknown): unknown {
    // The error that stands for it may have been stashed, and is opened again.
    if (this.#replaced && !this.source.stale) return message
    const error = this.source.stale ? undefined : this.#instead()
    if (error === undefined) return super.open(cell, message)
    this.#replaced = true
    return error
  }
  override end(reason: MessageEnd): void {
    if (!this.#replaced) super.end(reason)
    else if (reason !== 'failed') this.#unowned()
  }
}
