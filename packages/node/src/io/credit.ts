// The envelopes that a connection's messages travel in. Opening a chunk gives its credit back: that is flow control
// towards the owner. A chunk that nobody will handle ends the connection (a stream with a hole is worse than none), an
// error that nobody handles fails the connection's actor, and what an earlier incarnation's socket said is dropped.

import type { AnyRef } from 'troupe'
import { Told } from 'troupe/internal'

/** The way in which messages end otherwise than by being handled. */
export type EndReason = 'failed' | 'unhandled' | 'refused' | 'stopped'

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
  /** One chunk was taken out of the mailbox by its handler. */
  credited(): void
  /** A message ended without a handler. */
  undelivered(why: string): void
}

/** The part of a cell that an envelope needs to account for a message that it swallows. */
interface Accounts {
  readonly dispatcher: { readonly host: { drop(message: unknown, meta: undefined, reason: 'restart'): void } }
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
  override open(cell: unknown, message: unknown): unknown {
    if (this.source.stale) {
      ;(cell as Accounts).dispatcher.host.drop(message, undefined, 'restart')
      return undefined
    }
    if (message instanceof Credited && message.settle()) this.source.credited()
    return message
  }
  override end(reason: EndReason, cause: unknown): void {
    if (reason === 'stopped') this.source.undelivered('its owner stopped')
    else if (reason === 'refused' && !this.source.stale) this.source.undelivered(String(cause))
  }
}

/** A message that may be lost without harm to the others: where a mailbox refuses it, `refused` hears so, and the rest goes on. */
export class LossyCarrier extends Carrier {
  readonly #refused: () => void
  constructor(sender: AnyRef | undefined, source: Source, refused: () => void) {
    super(sender, source)
    this.#refused = refused
  }
  override end(reason: EndReason, cause: unknown): void {
    if (reason === 'refused') this.#refused()
    else super.end(reason, cause)
  }
}

/** An `error`: where nobody handles it, whoever met it fails. */
export class ErrorCarrier extends Carrier {
  readonly #unowned: () => void
  constructor(sender: AnyRef | undefined, source: Source, unowned: () => void) {
    super(sender, source)
    this.#unowned = unowned
  }
  override end(reason: EndReason): void {
    if (reason !== 'failed' && !this.source.stale) this.#unowned()
  }
}

/** The last message: `seen` is called once it was opened or will never be, so after whatever became of the others. */
export class LastCarrier extends Carrier {
  readonly #seen: () => void
  constructor(sender: AnyRef | undefined, source: Source, seen: () => void) {
    super(sender, source)
    this.#seen = seen
  }
  override open(cell: unknown, message: unknown): unknown {
    const opened = super.open(cell, message)
    if (opened !== undefined) this.#seen()
    return opened
  }
  override end(reason: EndReason): void {
    if (reason !== 'failed' && reason !== 'unhandled') this.#seen()
  }
}
