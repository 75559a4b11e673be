// What only some actors have, made on first use, so that an idle actor is one cell, one ref and one context.
// Grouped by how long it lives: for good, or for one incarnation.

import type { FailureHistory } from '../../deciders/supervision.ts'
import type { AbortSource } from '../../values/abort.ts'
import type { FlightLog } from '../../values/flight.ts'
import type { AnyRef } from '../../values/ref.ts'
import type { Adapter } from '../ref/adapter.ts'
import type { PendingAsk } from '../ask/ask.ts'
import type { AskEdge } from '../ask/deadlock.ts'
import type { Children } from './children.ts'
import type { CallContext } from '../context/context.ts'
import type { FailureLog } from '../life/failure-log.ts'
import type { GroupRestart } from '../life/group-restart.ts'
import type { SetupHandlers } from '../life/hearing.ts'
import type { CellSupervisor } from '../life/cell-supervisor.ts'
import type { CellMetrics } from '../message/metrics.ts'
import type { KeyedTimers, ReceiveTimer } from '../context/timers.ts'
import type { MessagePassage } from './middleware-run.ts'
import type { PendingCall } from '../life/pending.ts'
import type { StepTimer } from '../life/step-timer.ts'
import type { CellStash } from '../context/stash.ts'
import type { SystemLane } from '../life/commands.ts'
import type { Watch } from '../ref/watch.ts'
import type { Cell } from './cell.ts'
import type { TerminationReason } from '../../values/signals.ts'

export class Extras {
  // For good.
  children: Children | undefined
  lane: SystemLane | undefined
  incarnation = 0
  history: FailureHistory | undefined
  failureLog: FailureLog | undefined
  runningSince: number | undefined
  /** Those that restart together with this one; until all of them have come as far. */
  group: GroupRestart | undefined
  /** The first start failed, and no later one has come up yet. */
  neverUp = false
  /** Somebody below declares to take as long to end as it needs. */
  aboveEndless = false
  /** Who decides about this actor instead of a policy. */
  keeper: CellSupervisor | undefined
  watchers: Set<Cell> | undefined
  watching: Map<AnyRef, Watch> | undefined
  stash: CellStash | undefined
  /** Questions that this actor has not answered yet; an intrusive list. */
  asked: PendingAsk | undefined
  metrics: CellMetrics | undefined
  flight: FlightLog | undefined
  /** The default mailbox is above its high water mark. */
  pressed = false
  /** How many signals may be handled before the next message, where that is limited. */
  signalCredit = 0
  /** Who forgets this actor when it ends, before its watchers hear of it; may not throw. */
  endHooks: Set<() => void> | undefined
  /** Called when it is up, or with an error when it never will be; `again`: its first start failed, and there is another try. */
  startWaiters: ((error: unknown, again?: true) => void)[] | undefined
  endWaiters: ((end: { readonly reason: TerminationReason; readonly cause: unknown }) => void)[] | undefined
  /** What the actor says it is about. */
  label: string | undefined
  handedOver: unknown
  handingOver: unknown

  // For one incarnation.
  /** Who hears signals that the behavior does not handle. */
  setupHandlers: SetupHandlers | undefined
  /** Failures of children that share their fate by a group scope. */
  groupHistory: FailureHistory | undefined
  abort: AbortSource | undefined
  /** What lies outside the actor and must be let go with the incarnation: sockets, files, processes. */
  releases: { release(): void }[] | undefined
  timers: KeyedTimers | undefined
  receiveTimer: ReceiveTimer | undefined
  adapters: Map<string, Adapter> | undefined
  /** Questions that this actor has under way; an intrusive list, the youngest first. */
  asking: AskEdge | undefined
  /** The handler, signal handler or setup that has not settled. */
  pending: PendingCall | undefined
  /** The call of a reentrant actor whose synchronous part runs now: what it asks is its own. */
  calling: CallContext | undefined
  /** Pending handlers of a reentrant actor. */
  calls: Set<CallContext> | undefined
  /** Those of them that have settled and wait for the next turn. */
  settledCalls:
    | { readonly ctx: CallContext; readonly ok: boolean; readonly value: unknown; readonly passage: MessagePassage | undefined }[]
    | undefined
  /** As many of them are pending as may be. */
  saturated = false
  /** What bounds the present step of starting, stopping or restarting. */
  stepTimer: StepTimer | undefined

  /** Nothing here has a word to say about the next turn: it may be messages alone. */
  get quiet(): boolean {
    return (
      this.lane === undefined && this.pending === undefined && this.receiveTimer === undefined && this.settledCalls === undefined && !this.saturated
    )
  }
}

/**
 * Lets go of extras that say nothing, as those of an actor that needed them for its start only. Since when it runs matters to nobody as long
 * as it has not failed. For packages, between turns of that actor.
 */
export function shed(cell: Cell): void {
  const { extras } = cell
  // What begins, restarts or ends finds its way by them.
  if (cell.phase !== 'running') return
  for (const name in extras) if (name !== 'runningSince' && extras[name as keyof Extras]) return
  cell.extras = undefined
}
