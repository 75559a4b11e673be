// What a system on a thread of many shows to the others while it works: whose turn it is, what it takes, what it buries and
// observes. A system that is alone has no reporter, and pays one look for it per turn and per dead letter.

import type { MessageRing } from '../../queues/ring.ts'
import type { DeadLetter } from '../../values/dead-letter.ts'
import type { Failure } from '../../values/failure.ts'
import type { Observation } from '../../values/observation.ts'
import type { Witness } from './witness.ts'

export interface ThreadReporter extends Witness {
  /** A ring for a mailbox, which may show what is taken from it. */
  makeRing(): MessageRing
  buried(letter: DeadLetter): void
  failed(failure: Failure): void
  /** Whether anybody elsewhere wants to know what is observed here. */
  readonly listens: boolean
  observed(observation: Observation): void
}
