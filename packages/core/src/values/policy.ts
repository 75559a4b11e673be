// What a supervision policy consists of, as plain data. `supervise` (deciders) checks and completes it.

import type { AnyRef } from './ref.ts'
import type { Directive } from './signals.ts'

/** What is known about a failing actor when its supervisor decides. */
export interface FailureContext {
  readonly child: AnyRef
  /** What it was handling; undefined for a signal, a start or a timeout. */
  readonly message: unknown
  /** Failures within the last `limit.within` ms, this one included; with a group scope, of the group. */
  readonly failures: number
  /** When the oldest of them was, in milliseconds of the system's clock. */
  readonly windowStart: number
  /** What it, or with a group scope one of the group, failed with before this, if it did. */
  readonly lastError: unknown
  /** What the actor's own `onError` threw about this failure. */
  readonly hookError?: unknown
}

/** How long to wait before a restart: `min·factor^(attempt−1)`, at most `max`, varied by ± `jitter`. */
export interface Backoff {
  readonly min: number
  readonly max: number
  readonly factor: number
  readonly jitter: number
}

/** Who is treated together with a failing child. */
export type Scope = 'one-for-one' | 'all-for-one' | 'rest-for-one'

/** A complete policy, as `supervise` returns it. */
export interface SupervisionPolicy {
  readonly decide: ((cause: unknown, failure: FailureContext) => Directive) | undefined
  readonly limit: { readonly restarts: number; readonly within: number }
  readonly onLimit: 'stop' | 'escalate'
  readonly backoff: Backoff
  readonly scope: Scope
  readonly retryStart: boolean
}

/** A policy, or a word for one: `'inherit'` takes the parent's `childSupervision`, else the system's default. */
export type Supervision = SupervisionPolicy | 'restart' | 'stop' | 'resume' | 'escalate' | 'inherit'
