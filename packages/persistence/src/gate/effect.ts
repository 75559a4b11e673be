// What a command asked for by `after`: a message of the actor to itself, which leaves as everything does, once all is durable. What it does
// is not held any more, so that it runs only where memory is what the journal has.

import type { ActorContext } from '@troupe/core'
import type { Gated } from './gated.ts'

/** What an actor is told once something of it is durable, and does in its own turn. */
export class Effect {
  /** Whose command asked for it: what it sees of the state is that one's. */
  readonly owner: Gated
  readonly run: (ctx: ActorContext<never>) => void
  constructor(owner: Gated, run: (ctx: ActorContext<never>) => void) {
    this.owner = owner
    this.run = run
  }
}
