// What a phase carries: why, since when, and how far it has come. One shape for all, in the cell's one slot for it.

import type { BehaviorNode } from '../../values/behavior.ts'
import type { ExitReason } from '../../values/signals.ts'

/** How far starting, stopping or restarting has come. */
export type Step = 'handler' | 'setup' | 'pre-start' | 'post-start' | 'post-restart' | 'pre-stop' | 'children' | 'post-stop' | 'clearing' | 'backoff'

/** How an actor ended. */
export interface EndInfo {
  readonly reason: ExitReason
  readonly cause: unknown
  /** Whether it ended without ever having come up. */
  readonly unstarted?: boolean
}

export class PhaseInfo implements EndInfo {
  /** Why the actor stops; in other phases without meaning. */
  reason: ExitReason = 'normal'
  cause: unknown
  declare since: number
  step: Step = 'handler'
  /** Whether the present incarnation saw PreStart and has not seen PostStop. */
  declare live: boolean
  /** When the time is up that the actor itself, and whoever is above it, has to end; of `stopping` and `restarting`. */
  until: number = Infinity
  above: number = Infinity
  /** Killed, or below one that was: no user code is waited for; of `stopping`. */
  hurry = false
  /** Messages that are still to be cleared away, and pills found among them; of `restarting`. */
  uncleared = 0
  pills = 0
  /** Milliseconds to wait before the next incarnation; of `restarting`. */
  delay = 0
  /** Whether it was a start that failed; of `failed`. Whether none ever came up; of `stopping`. */
  unstarted = false
  /** What `spawn` was given: the cell has one place for it and for this. */
  initial: BehaviorNode | undefined
  /** Why it is suspended, in words. */
  note = ''
  /** Whether the next incarnation replaces one that failed; of `starting`. Whether it was told to begin anew with its parent; of `failed`. */
  again = false
  constructor(since: number, live: boolean) {
    this.since = since
    this.live = live
  }
}

/** How the fast way out of the running phase ended. */
export const normalEnd: EndInfo = { reason: 'normal', cause: undefined }
