// How much waits on this node for actors of a kind that cannot have it yet: nobody knows their owner, their shard is starting or on its way, or one
// is leaving and its successor not there. Bounded in bytes for all of them together, for nobody knows how long that takes. A letter counts from when
// it first waits until it goes on, or is refused; whoever lets it wait asks first.

import { measured } from '@troupe/border'
import { budgets, type SystemCore } from '@troupe/core/internal'
import type { Letter } from './letter.ts'

/** What may wait for the actors of one kind on one node, in bytes. */
const most = 64 * 1_048_576
/** What fits a frame between two nodes. */
const largest = 1_048_576
/** What keeping a message costs beside its bytes. */
const perMessage = 128

export class Backlog {
  #bytes = 0

  /** `core`: the system whose messages wait; tests without a system leave it out. */
  constructor(core?: SystemCore) {
    budgets.onOwner?.('bytes that wait for sharded actors', () => this.#bytes, core)
  }

  get bytes(): number {
    return this.#bytes
  }
  /** Whether the largest message that can go to another node may still wait: an offer that is taken is no dead letter for want of room. */
  get hasRoom(): boolean {
    return this.#bytes + largest + perMessage <= most
  }

  /** Counts a letter that is to wait; false where there is no room for it. One that has waited elsewhere counts already. */
  admit(letter: Letter): boolean {
    return letter.waits > 0 || this.reserve(letter, sizeOf(letter))
  }

  /** The same for one whose size is known. */
  reserve(letter: Letter, bytes: number): boolean {
    if (this.#bytes + bytes + perMessage > most) return false
    this.#count(letter, bytes)
    return true
  }

  /** Counts a letter that was here already, in a mailbox or on its way out: it is not refused for coming back, others are for its sake. */
  keep(letter: Letter): void {
    if (letter.waits === 0) this.#count(letter, sizeOf(letter))
  }

  /** Counts a letter that waited in another backlog. */
  take(letter: Letter, from: Backlog): void {
    const bytes = letter.waits - perMessage
    from.release(letter)
    this.#count(letter, bytes)
  }

  /** It waits no longer. */
  release(letter: Letter): void {
    this.#bytes -= letter.waits
    letter.waits = 0
  }

  #count(letter: Letter, bytes: number): void {
    letter.waits = bytes + perMessage
    this.#bytes += letter.waits
  }
}

function sizeOf({ message }: Letter): number {
  try {
    return measured(message).size
  } catch {
    // It cannot leave this node, which is for whoever sends it on to say.
    return 0
  }
}
