// What the system of a thread shows while it works: whose turn it is and what it takes, on the thread's signs, where that can
// be read also when it never comes back; what it buries, what fails and what it observes, by telling the main one.

import type { DeadLetter, Failure, Observation } from '@troupe/core'
import { type Cell, type LocalRef, MessageRing, type ThreadReporter, typeOf } from '@troupe/core/internal'
import { type Control, HostedCell } from '@troupe/border'
import type { Pulse } from './pulse.ts'
import type { Signs } from '../wire/signs.ts'

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
  readonly #pulse: Pulse
  readonly #tell: (content: Control) => void
  constructor(signs: Signs, pulse: Pulse, tell: (content: Control) => void) {
    this.#signs = signs
    this.#pulse = pulse
    this.#tell = tell
  }
  turn(cell: Cell): void {
    this.#pulse.turn(cell)
  }
  rest(): void {
    this.#pulse.between()
  }
  makeRing(): MessageRing {
    return new NotingRing(this.#signs)
  }
  buried({ message, sender, recipient, reason }: DeadLetter): void {
    this.#tell({ op: 'letter', message, sender, recipient, reason })
  }
  failed({ actor, message, cause, directive }: Failure): void {
    this.#tell({ op: 'failure', actor, message, cause, directive })
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
