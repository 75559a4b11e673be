// What may be said when an actor or a system is made. Checked where it is used: a wrong option fails there, by name.

import type { Behavior } from './behavior.ts'
import type { FlightRecorder } from './flight.ts'
import type { LevelledLogger, LogFields } from './logger.ts'
import type { MailboxKind } from './mailbox.ts'
import type { Measuring } from './measuring.ts'
import type { Middleware } from './middleware.ts'
import type { Supervision } from './policy.ts'
import type { AnyRef, DeadlockMode } from './ref.ts'
import type { ExecutionRuntime, RuntimeSource } from './runtime.ts'
import type { MessageSchema } from './schema.ts'
import type { SystemView } from './system.ts'

/** What becomes of messages that a stopped actor leaves: dead letters, counted drops, or the mailbox of another. */
export type Drain = 'dead-letter' | 'drop' | { readonly redirect: AnyRef }

/** Which thread of several takes an actor: by a rule, always the same one for a key, or a certain one. */
export type Placement = 'round-robin' | 'least-loaded' | { readonly key: string } | { readonly thread: number }

/** As good as no limit, and still a finite number of milliseconds. */
export const endless: number = Number.MAX_SAFE_INTEGER

/** How a spawned actor is set up; every field has a default. */
export interface SpawnOptions {
  /** Unique among the living children of one parent; without it the actor is only reachable by ref. */
  readonly name?: string | undefined
  /** Made by `bounded()`, `priority()` or `mailboxOf()`; unbounded and in order if left out. */
  readonly mailbox?: MailboxKind | undefined
  /** How many messages `ctx.stash` holds (1,000 if left out), and whether one more is an error (default) or drops the oldest. */
  readonly stash?: { readonly capacity?: number | undefined; readonly overflow?: 'error' | 'drop-oldest' | undefined } | undefined
  /** Which dispatcher runs it; `concurrent` if left out. */
  readonly dispatcher?: string | undefined
  /** Which thread it goes to, on a dispatcher that has several; round robin if left out. */
  readonly placement?: Placement | undefined
  /** How this actor is treated when it fails. */
  readonly supervision?: Supervision | undefined
  /** How its children are treated; with a group scope their own `supervision` yields to this. */
  readonly childSupervision?: Supervision | undefined
  /** What becomes of messages that it leaves when it stops; `dead-letter` if left out. */
  readonly drain?: Drain | undefined
  /** Milliseconds for an async `setup`, PreStart and PostStart; 5,000 if left out. */
  readonly startTimeout?: number | undefined
  /**
   * Milliseconds until a stop, or the end that a restart begins with, goes on without user code that has not settled, here and
   * below; 5,000 if left out. The actor's own PostStop then still has as much, at most a second. A deadline from above cuts it short.
   */
  readonly stopTimeout?: number | undefined
  /** What a restart does with queued messages (`keep` if left out) and with children (`stop` if left out). */
  readonly onRestart?: { readonly mailbox?: 'keep' | 'clear' | undefined; readonly children?: 'stop' | 'keep' | undefined } | undefined
  /** Takes further messages while an async handler is pending; handlers may then not return a behavior. */
  readonly reentrant?: boolean | { readonly maxConcurrent: number } | undefined
  /** A Standard Schema for what others send, not for the actor's own timers; what does not fit is a dead letter `not-accepted`. */
  readonly accepts?: MessageSchema | undefined
  /** Links between mailbox and handler, inside those of the system; at most 16 in all. */
  readonly middleware?: readonly Middleware[] | undefined
  /**
   * What goes with every line that this actor logs, and with those about its failures, as `MDC` does elsewhere: fields, or a function of the
   * message that is handled (undefined where there is none). The logger's `child` is given them, where it has one, as pino does. What the
   * function throws is ignored. Asked for when a line is written, not for each message.
   */
  readonly logFields?: LogFields | ((message: unknown) => LogFields | undefined) | undefined
  /**
   * Made by `measured()`: counts and samples what this actor does, for `inspect`. What the system says if left out; `false`: not measured,
   * whatever that is.
   */
  readonly metrics?: Measuring | false | undefined
  /**
   * On a thread: milliseconds that one of its turns may take without a sign of life until the thread is ended as hung, here and
   * below; that of `threads` if left out. `false` for ever, on `pinned` only.
   */
  readonly hangAfter?: number | false | undefined
  /**
   * What sort of actor it is, for those who look: many actors, few kinds. If left out the name of its class or definition, else its path
   * with a star for each number in it.
   */
  readonly kind?: string | undefined
}

/**
 * What joins a system: another package, with state of its own for each system. Given as `extensions` to `ActorSystem.create`.
 *
 * Guarantees: opened before the first actor, in the order given; closed after the last has ended, in reverse. Fails: what `open` throws,
 * `create` throws; what `close` throws or rejects with is logged.
 *
 * @example
 * const audit: Extension = { name: 'audit', open: (system) => new AuditLog(system.clock) }
 */
export interface Extension {
  /** One of a name in each system. */
  readonly name: string
  /** Makes its state; `close` of it, where it has one, is waited for until the deadline of the shutdown. */
  open(system: SystemView): { close?(): unknown }
}

/** How a dispatcher shares the thread among its actors, and with the host. */
export interface DispatcherOptions {
  /** Messages per turn, never more; 1,024 if left out. A turn ends sooner when an eighth of the slice is over. */
  readonly throughput?: number | undefined
  /** Milliseconds until the host has its turn; 5 if left out. */
  readonly slice?: number | undefined
  /** Turns until the host has its turn; as many as fit the slice if left out. */
  readonly maxTurns?: number | undefined
}

/** How a system is set up; every field has a default. `R` is what its root understands. */
export interface SystemOptions<in R = never> {
  /** The actor that is the application, spawned as `/user/root`: its end, whatever the reason, ends the system. */
  readonly root?: Behavior<R> | undefined
  /** Where it writes: standard error, warnings and errors only, if left out; nowhere if `false`. */
  readonly logger?: LevelledLogger | false | undefined
  /** What `'inherit'` comes down to at the top: restart, 3 in 1 s, backoff 10 ms–1 s ×2, then stop. */
  readonly supervision?: Supervision | undefined
  /** Milliseconds until a question without an own `timeout` is rejected; 5,000 if left out. */
  readonly askTimeout?: number | undefined
  /** What happens to a question that closes a cycle of waiting actors; `reject` if left out. */
  readonly deadlock?: DeadlockMode | undefined
  /** The default dispatcher's settings. */
  readonly dispatcher?: DispatcherOptions | undefined
  /** Further dispatchers by name. */
  readonly dispatchers?: Readonly<Record<string, DispatcherOptions>> | undefined
  /** What drives it: `host` (the event loop), `manual` (`system.pump()`), one of `runtimes`, or an own one. */
  readonly runtime?: string | ExecutionRuntime | undefined
  /** Further runtimes by name, where one may replace a built-in; or a registry of all there are, such as `ExecutionRuntimes`. */
  readonly runtimes?: Readonly<Record<string, () => ExecutionRuntime>> | RuntimeSource | undefined
  /** Whether a running system keeps the process alive; true if left out. */
  readonly keepAlive?: boolean | undefined
  /** How many dead letters are kept; 10,000 if left out. */
  readonly deadLetterCapacity?: number | undefined
  /** How many failures are kept, with their messages; 1,000 if left out. */
  readonly failureCapacity?: number | undefined
  /** What an escalation past the top does: end the system (default), or stop the top-level actor only. */
  readonly onEscalation?: 'shutdown' | 'stop' | undefined
  /** Links between mailbox and handler of every actor. */
  readonly middleware?: readonly Middleware[] | undefined
  /**
   * Made by `measured()`: every actor is measured that does not say otherwise; none if left out. `{ every }` has `system.metrics()`
   * observed as `metrics.system` every so many ms; `actors` then says how every actor is measured.
   */
  readonly metrics?: Measuring | false | { readonly every: number; readonly actors?: Measuring | false | undefined } | undefined
  /** Made by `flightRecorder()`: keeps the last messages and transitions of each actor. */
  readonly flightRecorder?: FlightRecorder | undefined
  /** What joins it, such as `persistence(…)`. */
  readonly extensions?: readonly Extension[] | undefined
}

/** How a shutdown goes about it. */
export interface ShutdownOptions {
  /** Milliseconds until survivors are killed; 30,000 if left out. */
  readonly deadline?: number | undefined
  /**
   * Lets mailboxes empty first, for at most so many milliseconds, `true` for half of the deadline; then whoever still works is stopped
   * in order, in what is left of it. Meanwhile actors go on, and servers take requests. Must be below the deadline.
   */
  readonly drain?: boolean | number | undefined
}

/** What a shutdown found. */
export interface ShutdownReport {
  /** Actors that ended by themselves since it began; not those that had ended with a root whose end is the reason for it. */
  readonly stopped: number
  /** Paths that were killed at the deadline. */
  readonly killed: readonly string[]
  /** Messages still in mailboxes when their actors ended. */
  readonly undelivered: number
  /** What ended the system, when it was not asked to end. */
  readonly cause?: unknown
}
