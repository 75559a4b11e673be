// Events about the system itself: one union, published on `system.events` while somebody listens.

import type { DeadLetter } from './dead-letter.ts'
import type { AskExplanation } from './errors.ts'
import type { ActorMetrics, SystemMetrics } from './metrics.ts'
import type { Phase } from './phase.ts'
import type { AnyRef } from './ref.ts'
import type { Directive, ExitReason } from './signals.ts'

/** An event about the system; `at` is milliseconds of its clock. */
export type Observation =
  | { readonly type: 'actor.spawned'; readonly ref: AnyRef; readonly at: number }
  | { readonly type: 'actor.phase'; readonly ref: AnyRef; readonly from: Phase; readonly to: Phase; readonly at: number }
  | {
      readonly type: 'actor.failed'
      readonly ref: AnyRef
      readonly cause: unknown
      readonly message: unknown
      readonly directive: Directive
      /** What the actor's own `onError` threw about it. */
      readonly hookError?: unknown
      readonly at: number
    }
  /** What was decided about a failure, right after it: how often in a row it is restarted now, and after which pause. */
  | {
      readonly type: 'directive'
      readonly ref: AnyRef
      readonly directive: Directive
      readonly attempt: number
      /** Milliseconds until the restart. */
      readonly delay: number
      /** At most so many restarts within so many milliseconds. */
      readonly limit: { readonly restarts: number; readonly within: number }
      readonly at: number
    }
  | {
      readonly type: 'actor.terminated'
      readonly ref: AnyRef
      readonly reason: ExitReason
      readonly cause: unknown
      readonly at: number
    }
  | { readonly type: 'message.dead'; readonly letter: DeadLetter; readonly at: number }
  | { readonly type: 'message.unhandled'; readonly ref: AnyRef; readonly message: unknown; readonly at: number }
  /** A question was not answered in time; why, as far as its target can tell. */
  | {
      readonly type: 'ask.timeout'
      readonly ref: AnyRef
      /** Who asked, where a handler did. */
      readonly asker: AnyRef | undefined
      readonly ms: number
      readonly explanation: AskExplanation
      readonly at: number
    }
  /** A question closes a circle of actors that wait for each other; `rejected`: it has been refused. */
  | { readonly type: 'deadlock'; readonly ref: AnyRef; readonly cycle: readonly string[]; readonly rejected: boolean; readonly at: number }
  | { readonly type: 'stash.overflow'; readonly ref: AnyRef; readonly capacity: number; readonly at: number }
  /** Somebody who looks at the system has done something to it: a verb, and by which way. */
  | { readonly type: 'control'; readonly ref: AnyRef; readonly verb: string; readonly by: string; readonly at: number }
  | {
      readonly type: 'mailbox.pressure'
      readonly ref: AnyRef
      /** Above its high water mark, or back at the low one. */
      readonly level: 'high' | 'low'
      readonly depth: number
      readonly at: number
    }
  | {
      readonly type: 'events.backpressured'
      /** Whose subscription it is. */
      readonly ref: AnyRef
      /** It begins to lose events, or half of what may wait for it is free again. */
      readonly level: 'high' | 'low'
      readonly waiting: number
      /** Events that it has lost so far. */
      readonly dropped: number
      readonly at: number
    }
  /** Where `metrics: { every }` asks for it. */
  | { readonly type: 'metrics.system'; readonly metrics: SystemMetrics; readonly at: number }
  | { readonly type: 'metrics.actor'; readonly ref: AnyRef; readonly metrics: ActorMetrics; readonly at: number }
  | { readonly type: 'thread.started'; readonly thread: number; readonly at: number }
  | {
      readonly type: 'thread.lost'
      readonly thread: number
      /** What became of it: it exited, threw, ran out of memory, hung, or was ended by hand. */
      readonly why: string
      readonly cause: unknown
      /** The path of the actor whose turn it was, and the type of its message, as far as known. */
      readonly actor: string | undefined
      readonly message: string | undefined
      /** Actors that were on it. */
      readonly actors: number
      /** Milliseconds since it last showed a sign of life. */
      readonly silent: number
      readonly at: number
    }
  | { readonly type: 'adapter.replaced'; readonly ref: AnyRef; readonly key: string; readonly at: number }
  /** The actor held the loop for longer than a slice. A lone slow handler is noticed from its second time on. */
  | {
      readonly type: 'turn.slow'
      readonly ref: AnyRef
      /** The message's type where it was timed alone, else undefined. */
      readonly message: string | undefined
      readonly ms: number
      readonly at: number
    }
