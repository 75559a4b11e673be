// What a cell sees of its system. Narrow on purpose: no cycle, no late binding, and easy to stand in for.

import type { Decision } from '../../deciders/supervision.ts'
import type { TimerQueue } from '../../queues/timers.ts'
import type { DeadLetterReason } from '../../values/dead-letter.ts'
import type { Failure } from '../../values/failure.ts'
import type { FlightRecorder } from '../../values/flight.ts'
import type { LevelledLogger, Logger } from '../../values/logger.ts'
import type { Observation } from '../../values/observation.ts'
import type { DropReason } from '../../values/ledger.ts'
import type { SupervisionPolicy } from '../../values/policy.ts'
import type { AnyRef, DeadlockMode } from '../../values/ref.ts'
import type { ExecutionRuntime } from '../../values/runtime.ts'
import type { SystemPhase, SystemView } from '../../values/system.ts'
import type { Cell } from './cell.ts'
import type { CallContext, Context } from '../context/context.ts'
import type { AskEdge } from '../ask/deadlock.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Meta } from '../message/envelope.ts'
import type { Ledger } from '../message/ledger.ts'
import type { YoungAsks } from '../ask/young-asks.ts'
import type { CellOptions } from '../context/options.ts'
import type { Tap } from './tap.ts'
import type { ThreadReporter } from './thread-reporter.ts'

export interface CellHost {
  readonly name: string
  readonly phase: SystemPhase
  readonly view: SystemView
  readonly ledger: Ledger
  readonly timers: TimerQueue
  readonly youngAsks: YoungAsks
  readonly runtime: ExecutionRuntime
  readonly logger: Logger
  /** The logger as it was given: it may throw. */
  readonly ownLogger: LevelledLogger
  readonly policy: SupervisionPolicy
  readonly askTimeout: number
  readonly deadlock: DeadlockMode
  /** The dispatcher whose turns run now; how a question is attributed to the handler that asks it. */
  running: Dispatcher | undefined
  /** Where a test looks inside; absent otherwise. */
  readonly tap: Tap | undefined
  /** Who is told what happens here, on a thread of many; absent otherwise. */
  readonly reporter: ThreadReporter | undefined
  /** Hears of each new phase of a cell, whether anybody listens or not. */
  readonly onPhase: ((cell: Cell) => void) | undefined
  /** Whether anybody listens to observations; without it none is made. */
  readonly listening: boolean
  /** How many observations were not made, because nobody listened. */
  unheard: number
  /** Closing, but letting mailboxes empty first: actors may still spawn, as their work may need. */
  readonly draining: boolean
  /** A handler waits for an answer, in no circle of this thread; where there are others, they may know of one. */
  readonly onWait: ((edge: AskEdge) => void) | undefined
  /** The deadline of the shutdown has passed: no user code is waited for any more. */
  readonly hurried: boolean
  /** What actors have that were spawned with nothing special. */
  readonly defaults: CellOptions
  /** The same with a kind, for those that were spawned with that alone. */
  readonly kinds: Map<string, CellOptions>
  readonly flightRecorder: FlightRecorder | undefined
  /** Who connects this thread with others: told that an actor breathes, and, by its name, that it goes on. */
  readonly otherPlaces: { breathe(drawn?: Cell): void } | undefined
  /** Handlers that wait for a promise. */
  pending: number
  /** Messages that actors left behind when they ended. */
  undelivered: number
  /** Keeps a failure. */
  failed(failure: Failure): void
  /** PreStop, PostStop and PreRestart handlers that failed. */
  failedEndSignals: number
  nextUid(): number
  /** What handlers of a new incarnation see. */
  makeContext(cell: Cell): Context
  /** What one call of a reentrant actor sees. */
  makeCall(cell: Cell, main: Context): CallContext
  dispatcher(name: string | undefined): Dispatcher
  /** A dispatcher has nothing left to do. */
  readonly onIdle: (() => void) | undefined
  observe(observation: Observation): void
  /** Adds a decision to the counters of supervision. */
  count(decision: Pick<Decision, 'directive' | 'limitHit' | 'fatal'>): void
  /** Ends a message as a dead letter. It was counted as sent before. */
  bury(message: unknown, meta: Meta, recipient: AnyRef | undefined, reason: DeadLetterReason, cause?: unknown): void
  /** Ends a message as dropped. It was counted as sent before. */
  drop(message: unknown, meta: Meta, reason: DropReason): void
  born(cell: Cell): void
  /** The cell left the tree; before its watchers learn of it. */
  unregister(cell: Cell): void
  died(cell: Cell): void
  /** A failure climbed past the top. */
  topFailed(child: Cell, cause: unknown): void
}
