// What the system of a thread shows while it works: whose turn it is and what it takes, on the thread's signs, where that can
// be read also when it never comes back; what it buries and observes, by telling the main one.

import type { DeadLetter, Observation } from 'troupe'
import { type Cell, type LocalRef, MessageRing, type ThreadReporter, typeOf } from 'troupe/internal'
import type { Control } from './control.ts'
import { HostedCell } from './hosted.ts'
import type { Signs } from './signs.ts'

/** Says which message is taken. */
class NotingRing extends MessageRing {
  readonly #signs: Signs
  constructor(signs: Signs) {
    super()
    this.#signs = signs
  }
  override shift(): unknown {
    const message = super.shift()
    if (message !== undefined) this.#signs.message(typeOf(message))
    return message
  }
}

export class PlaceReporter implements ThreadReporter {
  listens = false
  readonly #signs: Signs
  readonly #tell: (content: Control) => void
  constructor(signs: Signs, tell: (content: Control) => void) {
    this.#signs = signs
    this.#tell = tell
  }
  turn(cell: Cell): void {
    this.#signs.turn(cell.ref.uid, hostedAbove(cell.ref))
  }
  makeRing(): MessageRing {
    return new NotingRing(this.#signs)
  }
  buried({ message, sender, recipient, reason }: DeadLetter): void {
    this.#tell({ op: 'letter', message, sender, recipient, reason })
  }
  observed(event: Observation): void {
    // Dead letters go over anyway; of actors that stand on another thread that one tells.
    if (
      !this.listens ||
      event.type === 'message.dead' ||
      ('ref' in event && event.type.startsWith('actor.') && (event.ref as LocalRef).cell instanceof HostedCell)
    )
      return
    this.#tell({ op: 'event', event })
  }
}

/** The actor, or the one next above it, that the thread of its parent knows. */
function hostedAbove(ref: LocalRef): number {
  let at: LocalRef | undefined = ref
  while (at !== undefined && !(at.cell instanceof HostedCell)) at = at.parent
  return at?.uid ?? ref.uid
}
