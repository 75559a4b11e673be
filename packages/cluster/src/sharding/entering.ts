// What waits before the full mailbox of a sharded actor until there is room: letters that came and may not be refused, and offers of this node's actors.

import type { WaitingOffer } from '@troupe/core'
import type { Cell, Meta } from '@troupe/core/internal'
import type { EntityOffer } from './accounts.ts'
import { LetterCredit } from './letter-credit.ts'
import type { Letter } from './letter.ts'

/** How many offers of one node may be on their way to a mailbox: an eighth of it, and any number where it has no bound that blocks. */
export function windowOf({ options: { mailbox } }: Cell): number {
  return mailbox?.overflow === 'block' && mailbox.capacity !== undefined ? Math.max(1, mailbox.capacity >> 3) : 0
}

/** A letter that was counted as sent where it was sent. */
export class EnteringLetter implements WaitingOffer {
  readonly message: unknown
  readonly meta: Meta
  ended = false
  readonly #letter: Letter
  readonly #cell: Cell
  readonly #then: { entered(): void; again(): void }

  constructor(letter: Letter, message: unknown, meta: Meta, cell: Cell, then: { entered(): void; again(): void }) {
    this.#letter = letter
    this.message = message
    this.meta = meta
    this.#cell = cell
    this.#then = then
  }
  took(): void {
    this.ended = true
    this.#then.entered()
    if (this.meta instanceof LetterCredit) this.meta.entered(windowOf(this.#cell))
  }
  /** The incarnation ends, and the mailbox ends all waits. */
  fail(): void {
    if (!this.ended) this.#then.again()
  }
  /** It goes to the next actor, as it came. */
  leave(): Letter {
    this.ended = true
    return this.#letter
  }
}

/** An offer of this node, which is not sent before it is in. */
export class HereOffer implements WaitingOffer {
  readonly #offer: EntityOffer
  readonly #again: () => void
  constructor(offer: EntityOffer, again: () => void) {
    this.#offer = offer
    this.#again = again
  }
  get message(): unknown {
    return this.#offer.waiting.message
  }
  get meta(): unknown {
    return this.#offer.waiting.meta
  }
  get ended(): boolean {
    return this.#offer.waiting.ended
  }
  took(): void {
    this.#offer.waiting.took()
  }
  /** The incarnation ends; the offer waits for the next one. */
  fail(): void {
    if (!this.ended) this.#again()
  }
}
