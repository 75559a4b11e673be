// The lane that goes before user messages: control verbs, which act also while a handler is pending, and signals,
// which run user code and therefore wait for it. Taken from the dispatcher with the first entry, given back with the last.

import { MessageRing } from '../../queues/ring.ts'
import type { ExitReason, Signal } from '../../values/signals.ts'
import type { Afterwards } from './afterwards.ts'
import type { Cell } from '../turn/cell.ts'

/** What may be asked of a cell from outside its turn. */
export type Command =
  /** `above`: when the time of whoever is above is up. */
  | { readonly verb: 'stop'; readonly reason: ExitReason; readonly cause: unknown; readonly above?: number }
  /** `below`: with one above it, which was killed. */
  | { readonly verb: 'kill'; readonly below?: true }
  | { readonly verb: 'suspend'; readonly reason: string }
  /** `along`: with its parent, to which it failed up; means nothing once it has gone on. */
  | { readonly verb: 'resume'; readonly along?: true }
  /** `along`: with its group; whoever suspended it has not taken that back. */
  | { readonly verb: 'restart'; readonly cause: unknown; readonly delay: number; readonly along?: true; readonly above?: number }
  /** Restart, but wait for the keeper's word before the next incarnation. */
  | { readonly verb: 'hold'; readonly cause: unknown; readonly along?: true; readonly above?: number }
  /** A child escalated: fail with this. */
  | { readonly verb: 'escalated'; readonly child: Cell; readonly cause: unknown }
  /** A supervisor gives up: fail with this. */
  | { readonly verb: 'fail'; readonly cause: unknown }
  // What a cell tells itself, or is told from below: something that its phase waited for has come about.
  /** The last child has gone. */
  | { readonly verb: 'children-gone' }
  /** The time of the present step is up: of a start, of the end of an incarnation, or of a backoff. */
  | { readonly verb: 'step-timeout' }
  /** The next incarnation may begin. */
  | { readonly verb: 'relaunch' }
  /** The slice was over before all was done; go on. */
  | { readonly verb: 'next-slice' }

export class SystemLane {
  readonly commands: MessageRing<Command> = new MessageRing()
  readonly signals: MessageRing<Signal> = new MessageRing()
  /** Verbs that came before the actor was up. */
  deferred: Command[] = []
  /** What waits for the message in progress to be dealt with. */
  afterwards: Afterwards | undefined
}
