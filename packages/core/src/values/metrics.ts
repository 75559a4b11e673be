// What is told of actors, dispatchers and systems in numbers; who counts them is in cell and system.

import type { DeadLetterReason } from './dead-letter.ts'
import type { DropReason } from './ledger.ts'

/** What a histogram knows, in milliseconds. */
export interface HistogramReport {
  readonly count: number
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** What is known of one actor that was spawned with `metrics: true`. Times are milliseconds, sampled. */
export interface ActorMetrics {
  readonly mailbox: {
    /** Messages that got in. */
    readonly enqueued: number
    /** Messages that a policy dropped or refused. */
    readonly dropped: number
    readonly depth: number
    readonly peak: number
    /** From being sent to being taken. */
    readonly queueTime: HistogramReport
  }
  readonly invoker: {
    /** Messages whose handler has ended. */
    readonly processed: number
    /** How many of them in the last full second. */
    readonly rate: number
    readonly handlerTime: HistogramReport
    readonly turns: number
    /** Messages per turn. */
    readonly perTurn: number
    /** How long a turn took, of one turn in 16. */
    readonly turnTime: HistogramReport
    /** From a turn that left something to do to the next one: what others took, and the host. */
    readonly loopLatency: HistogramReport
    /** After how many of its recent turns, in percent, it had more to do: near 100 it cannot keep up, and who sends should slow down. */
    readonly pressure: number
  }
  /** Percent of all that was handled that were signals. */
  readonly systemShareUsed: number
  readonly suspendedMs: number
}

/** A dispatcher's life. */
export type DispatcherState = 'starting' | 'running' | 'draining' | 'stopped'

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

/** What supervision has done so far. */
export interface SupervisionCounts {
  readonly restarts: number
  readonly limitsHit: number
  readonly fatalStops: number
  readonly failedEndSignals: number
}

/** How many actors live, how many have ended, and what supervision did. */
export interface SystemCounts {
  readonly active: number
  readonly terminated: number
  readonly supervision: SupervisionCounts
}

/** What went through the event stream. */
export interface EventTotals {
  readonly published: number
  /** Handed on, to each subscriber that wanted it. */
  readonly delivered: number
  /** Lost by subscribers that were too slow. */
  readonly dropped: number
  /** What waits for subscribers now. */
  readonly waiting: number
}

/** What a system has done since it was created; `at` is milliseconds of its clock. */
export interface SystemMetrics extends SystemCounts {
  readonly at: number
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
  readonly dispatchers: readonly DispatcherMetrics[]
  readonly subscriptions: number
  /** The event stream's totals, observations included. */
  readonly events: EventTotals
  readonly timers: number
  /** Observations that were not made because nobody listened. */
  readonly unheard: number
}
