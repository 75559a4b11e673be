// The numbers of a whole system, gathered when asked for: what the cells and dispatchers count anyway, in one report.

import { fairnessOf } from '../cell/fairness.ts'
import type { ActorMetrics } from '../cell/metrics.ts'
import type { Dispatcher, DispatcherState } from '../cell/dispatcher.ts'
import type { HistogramReport } from '../queues/histogram.ts'
import type { DeadLetterReason } from '../values/dead-letter.ts'
import type { DropReason } from '../values/options.ts'
import type { SupervisionCounts, SystemCore } from './core.ts'

export type { ActorMetrics, HistogramReport }

/** What a dispatcher has done since it was made. */
export interface DispatcherMetrics {
  readonly name: string
  readonly state: DispatcherState
  /** Actors that live here. */
  readonly actors: number
  /** Actors that have something to do and wait for their turn. */
  readonly ready: number
  /** Threads that work for it: one where it is awake, else none. */
  readonly activeWorkers: number
  readonly turns: number
  /** Messages and signals that were handled. */
  readonly messages: number
  readonly messagesPerTurn: number
  /**
   * How evenly actors that had turns lately shared the messages (Jain's index): 1 when each took as many as any other, 1/n
   * when one of n took them all. Sampled: 1,024 turns of 16,384.
   */
  readonly fairness: number
  /** Milliseconds from yielding to the host to being called again: what sockets and timers took, and other load. */
  readonly loopLatency: HistogramReport
  /** After how many of its turns, in percent, the actor had more to do: near 100 means that actors cannot keep up. */
  readonly pressure: number
}

/** What a system has done since it was created; `at` is milliseconds of its clock. */
export interface SystemMetrics {
  readonly at: number
  readonly active: number
  readonly terminated: number
  /** Async handlers that have not settled. */
  readonly pending: number
  readonly messages: {
    readonly sent: number
    readonly handled: number
    readonly failed: number
    readonly unhandled: number
    readonly dropped: number
    readonly deadLettered: number
  }
  /** How many of the dropped and the dead letters had which reason; a reason that never came is left out. */
  readonly dropReasons: Readonly<Partial<Record<DropReason, number>>>
  readonly deadLetterReasons: Readonly<Partial<Record<DeadLetterReason, number>>>
  readonly supervision: SupervisionCounts
  readonly dispatchers: readonly DispatcherMetrics[]
  readonly subscriptions: number
  readonly timers: number
  /** Observations that were not made because nobody listened. */
  readonly unheard: number
}

export function systemMetrics(core: SystemCore): SystemMetrics {
  const { active, terminated, pending, ledger, restarts, limitsHit, fatalStops, failedEndSignals, unheard } = core
  const { sent, handled, failed, unhandled, dropped, deadLettered } = ledger
  return {
    at: core.runtime.now(),
    active,
    terminated,
    pending,
    messages: { sent, handled, failed, unhandled, dropped, deadLettered },
    dropReasons: { ...core.drops },
    deadLetterReasons: { ...core.burials },
    supervision: { restarts, limitsHit, fatalStops, failedEndSignals },
    dispatchers: [...core.dispatchers.all].map(dispatcherMetrics),
    subscriptions: core.events.size,
    timers: core.timers.size,
    unheard,
  }
}

function dispatcherMetrics(dispatcher: Dispatcher): DispatcherMetrics {
  const { name, state, population, depth, awake, turns, messages, shares, loopLatency, unfinished } = dispatcher
  return {
    name,
    state,
    actors: population,
    ready: depth,
    activeWorkers: awake ? 1 : 0,
    turns,
    messages,
    messagesPerTurn: turns === 0 ? 0 : messages / turns,
    fairness: fairnessOf(shares),
    loopLatency: loopLatency.report(),
    pressure: turns === 0 ? 0 : (100 * unfinished) / turns,
  }
}
