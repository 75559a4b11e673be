// The last things that happened to an actor, for whoever looks at a failure. Off unless the system was given a recorder.

import type { Phase } from './observation.ts'

/** One thing that happened; `at` is milliseconds of the system's clock. */
export type FlightEntry =
  | { readonly what: 'message'; readonly type: string; readonly message: unknown; readonly at: number }
  | { readonly what: 'phase'; readonly from: Phase; readonly to: Phase; readonly at: number }

/** What is kept of one actor. */
export interface FlightLog {
  add(entry: FlightEntry): void
  /** Oldest first. */
  entries(): readonly FlightEntry[]
}

/** Made by `flightRecorder()`; given to `ActorSystem.create`. */
export interface FlightRecorder {
  open(): FlightLog
}
