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
  /** `along`: with its group; who suspended it has not taken that back. */
  | { readonly verb: 'restart'; readonly cause: unknown; readonly delay: number; readonly along?: true; readonly above?: number }
  /** A child escalated: fail with this. */
  | { readonly verb: 'escalated'; readonly child: Cell; readonly cause: unknown }
  /** A supervisor gives up: fail with this. */
  | { readonly verb: 'fail'; readonly cause: unknown }
  /** What the phase waited for has come about: children gone, a step timed out, a backoff passed; or there is more to do than fits a slice. */
  | { readonly verb: 'proceed' }

export class SystemLane {
  readonly commands: MessageRing<Command> = new MessageRing()
  readonly signals: MessageRing<Signal> = new MessageRing()
  /** Verbs that came before the actor was up. */
  deferred: Command[] = []
  /** What waits for the message in progress to be dealt with. */
  afterwards: Afterwards | undefined
}
