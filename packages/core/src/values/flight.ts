// The last things that happened to an actor, for whoever looks at a failure. Off unless the system was given a recorder.

import type { Phase } from './phase.ts'
import type { AnyRef } from './ref.ts'
import type { Signal } from './signals.ts'

/** One thing that happened; `at` is milliseconds of the system's clock. */
export type FlightEntry =
  | { readonly what: 'message'; readonly type: string; readonly message: unknown; readonly sender?: AnyRef | undefined; readonly at: number }
  | { readonly what: 'phase'; readonly from: Phase; readonly to: Phase; readonly at: number }

/** What else a log may want to know: a signal that the actor was told, and the answer to a question of its own, or why there is none. */
export type FlightNote =
  | { readonly what: 'signal'; readonly type: string; readonly signal: Signal; readonly at: number }
  | { readonly what: 'answer'; readonly of: AnyRef; readonly ok: boolean; readonly value: unknown; readonly at: number }

/** What is kept of one actor. */
export interface FlightLog {
  add(entry: FlightEntry): void
  /** Signals and answers, where they are wanted. */
  note?(note: FlightNote): void
  /** Oldest first. */
  entries(): readonly FlightEntry[]
}

/** Whom a log is opened for: the actor, and what it was spawned of. */
export interface FlightSubject {
  readonly ref: AnyRef
  /** The behavior or class that `spawn` was given, and the arguments of a class. */
  readonly spawned: unknown
  readonly args: readonly unknown[]
}

/** Made by `flightRecorder()`; given to `ActorSystem.create`. */
export interface FlightRecorder {
  open(of: FlightSubject): FlightLog
}
