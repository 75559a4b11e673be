// How a supervisor refuses, gives up, and says why. Codes are their identity, as with every error of Troupe.

import { clauseOf, messageOf, TroupeError } from '../../values/errors.ts'

/** The children of a supervisor contradict each other: a name twice, an unknown name in `needs`, or a cycle of `needs`. */
export class InvalidChildren extends TroupeError {
  readonly code = 'invalid-children'
}

/** One restart that counted towards the intensity: whose, when, and why. */
export interface CountedRestart {
  readonly child: string
  readonly at: number
  /** What it failed with; undefined where it ended without failing. */
  readonly cause: unknown
}

/**
 * A supervisor's children needed more than `intensity` restarts within `period` ms. They were stopped, youngest
 * first, and the supervisor fails with this; whoever supervises it decides.
 */
export class RestartIntensityExceeded extends TroupeError {
  readonly code = 'restart-intensity-exceeded'
  readonly path: string
  /** The child whose restart was one too many. */
  readonly child: string
  /** The restarts within the period, oldest first, the one too many last. */
  readonly failures: readonly CountedRestart[]
  constructor(path: string, child: string, failures: readonly CountedRestart[], limits: { readonly intensity: number; readonly period: number }) {
    const cause = failures.at(-1)?.cause
    const counted = failures.map((f) => f.child).join(', ')
    super(
      `${path} gave up: ${child} needed a restart, the ${ordinal(failures.length)} within ${limits.period} ms (${counted}), ` +
        `and at most ${limits.intensity} are allowed. Fix the cause, give the child a backoff, or raise intensity.` +
        ` Last: ${cause === undefined ? `${child} ended without a failure.` : messageOf(cause)}`,
      { cause },
    )
    this.path = path
    this.child = child
    this.failures = failures
  }
}

/** A child failed with an `ActorError` that rules out a restart (`permanent` or `fatal`), though its supervisor needs it. */
export class ChildUnrecoverable extends TroupeError {
  readonly code = 'child-unrecoverable'
  readonly path: string
  readonly child: string
  constructor(path: string, child: string, cause: unknown) {
    super(
      `${path} gave up: ${child} failed for good: ${clauseOf(cause)}. ` +
        "Throw a transient error to have it restarted, or make the child restart: 'temporary' if the others can do without it.",
      { cause },
    )
    this.path = path
    this.child = child
  }
}

/** Why a supervisor refused to start, stop, restart or delete a child. */
export type RefusalReason =
  | 'already-present'
  | 'already-started'
  | 'running'
  | 'restarting'
  | 'stopping'
  | 'not-found'
  | 'needed'
  | 'invalid'
  | 'start-failed'

/** A supervisor refused a request; `reason` says why, the message what to do about it. */
export class ChildRefused extends TroupeError {
  readonly code = 'child-refused'
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}

function ordinal(n: number): string {
  const tail = n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${tail}`
}
