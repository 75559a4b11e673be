// Goes with a letter whose sender waits for its credit: in the mailbox of its actor until that takes it, and beside it while it is written to another node.

import { Returning } from '@troupe/border'
import { type Cell, Envelope, type Meta } from '@troupe/core/internal'
import type { Credits, Origin } from './credits.ts'

/** Gives the credit of a letter back when its actor takes it, or when it ends otherwise. */
export class LetterCredit extends Returning {
  readonly origin: Origin
  #credits: Credits | undefined
  /** 1 while its sender has not heard that it is in a mailbox. */
  #offered: 0 | 1

  constructor(credits: Credits, origin: Origin, offered: boolean, inner: Meta) {
    super(inner)
    this.#credits = credits
    this.origin = origin
    this.#offered = offered ? 1 : 0
  }

  /** It is in a mailbox, to which so many offers may be on their way. */
  entered(window: number): void {
    if (this.#offered === 0 || this.#credits === undefined) return
    this.#offered = 0
    this.#credits.entered(this.origin, window)
  }

  /** Whether its credit was given back. */
  get isGiven(): boolean {
    return this.#credits === undefined
  }

  protected override give(): void {
    const credits = this.#credits
    this.#credits = undefined
    credits?.taken(this.origin, this.#offered)
  }
}

/** The same for a letter that is passed to another node: the credit goes along, unless the letter ends before it has left. */
export class PassedCredit extends LetterCredit {
  override open(cell: Cell, message: unknown): unknown {
    const opened = this.inner instanceof Envelope ? this.inner.open(cell, message) : message
    if (opened === undefined) this.give()
    return opened
  }
}
