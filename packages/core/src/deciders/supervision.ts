// Failure → directive, purely: policy, cause and history in, decision and history out. No clock, no cell.
// The history belongs to the failing actor, so that a rebuilt wrapper or parent does not reset its budget.

import { ActorError } from '../values/actor-error.ts'
import { checkBoolean, checkFactor, checkFinite, checkKnown, checkOneOf, checkWhole } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { Backoff, FailureContext, Scope, Supervision, SupervisionPolicy } from '../values/policy.ts'
import type { AnyRef } from '../values/ref.ts'
import type { Directive } from '../values/signals.ts'
import { observed } from '../values/thenable.ts'

/** What is remembered of an actor's failures. */
export interface FailureHistory {
  /** Failures in the present window, whatever was decided about them. */
  readonly failures: number
  /** Those of them that asked for a restart; what the limit counts. */
  readonly restarts: number
  readonly windowStart: number
  readonly lastError: unknown
  /** Restarts in a row without a quiet `within`; drives the backoff. */
  readonly attempt: number
}

export interface Failure {
  readonly cause: unknown
  readonly child: AnyRef
  readonly message: unknown
  readonly now: number
  /** Since when the incarnation that failed had been running; undefined if it never was. */
  readonly runningSince: number | undefined
  /** Whether it failed while it started: then there is nothing to resume. */
  readonly starting?: boolean
  /** What the actor's own `onError` threw about it. */
  readonly hookError?: unknown
}

export interface Decision {
  readonly directive: Directive
  /** Milliseconds to wait before the restart. */
  readonly delay: number
  readonly history: FailureHistory
  /** The limit turned a restart into `onLimit`. */
  readonly limitHit: boolean
  /** A fatal error overruled whatever the policy says. */
  readonly fatal: boolean
  /** What `decide` itself threw, or that it returned no directive. */
  readonly deciderError: unknown
}

/** What a user may leave out of a policy. */
export interface SuperviseOptions {
  /** The directive for a failure; without it the kind of error decides. Pure and quick: it runs beside the parent. */
  readonly decide?: (cause: unknown, failure: FailureContext) => Directive
  /** At most `restarts` within `within` ms, then `onLimit`. */
  readonly limit?: { readonly restarts: number; readonly within: number }
  readonly onLimit?: 'stop' | 'escalate'
  readonly backoff?: Partial<Backoff>
  /** Who is treated along with the failing child; for `childSupervision`. */
  readonly scope?: Scope
  /** Whether a first start that fails is tried again. */
  readonly retryStart?: boolean
}

const directives: readonly Directive[] = ['resume', 'restart', 'stop', 'escalate']
const scopes: readonly Scope[] = ['one-for-one', 'all-for-one', 'rest-for-one']

/** What `supervise` made; a policy that was put together otherwise is checked where it is used. */
const checkedPolicies = new WeakSet<object>()

/**
 * A supervision policy. What is left out: restart, at most 3 in 1,000 ms, backoff 10–1,000 ms ×2 ±10 %, then stop.
 *
 * Guarantees: at most `restarts` restarts per window, failed starts during restarts included; a fatal `ActorError` is
 * never restarted. Fails with `InvalidOption` on a limit, backoff or word that makes no sense.
 *
 * @example
 * system.spawn(worker(), { supervision: supervise({ limit: { restarts: 5, within: 10_000 }, onLimit: 'escalate' }) })
 */
export function supervise(options: SuperviseOptions = {}): SupervisionPolicy {
  checkKnown('supervise', options, ['decide', 'limit', 'onLimit', 'backoff', 'scope', 'retryStart'])
  const { decide, limit = { restarts: 3, within: 1000 }, onLimit = 'stop', scope = 'one-for-one', retryStart = false } = options
  const backoff: Backoff = { min: 10, max: 1000, factor: 2, jitter: 0.1, ...options.backoff }
  if (decide !== undefined && typeof decide !== 'function') throw new InvalidOption('decide', decide, 'use a function')
  checkKnown('limit', limit, ['restarts', 'within'])
  checkKnown('backoff', backoff, ['min', 'max', 'factor', 'jitter'])
  checkWhole('limit.restarts', limit.restarts, 0)
  checkFinite('limit.within', limit.within, 'above')
  checkOneOf('onLimit', onLimit, ['stop', 'escalate'])
  checkOneOf('scope', scope, scopes)
  checkFinite('backoff.min', backoff.min, 'from')
  checkFinite('backoff.max', backoff.max, 'from')
  if (backoff.min > backoff.max) throw new InvalidOption('backoff.min', backoff.min, `it must not exceed backoff.max (${backoff.max})`)
  checkFactor('backoff.factor', backoff.factor)
  if (!(backoff.jitter >= 0 && backoff.jitter <= 1)) throw new InvalidOption('backoff.jitter', backoff.jitter, 'use a number from 0 to 1')
  checkBoolean('retryStart', retryStart)
  const policy = { decide, limit, onLimit, backoff, scope, retryStart }
  checkedPolicies.add(policy)
  return policy
}

/** A policy from a word or a policy; `'inherit'` and undefined give `inherited`. */
export function policyOf(supervision: Supervision | undefined, inherited: SupervisionPolicy, option: string): SupervisionPolicy {
  switch (supervision) {
    case undefined:
    case 'inherit':
      return inherited
    case 'restart':
      return restarting
    case 'stop':
      return stopping
    case 'resume':
      return resuming
    case 'escalate':
      return escalating
    default:
      if (typeof supervision === 'object' && supervision !== null && scopes.includes(supervision.scope))
        return checkedPolicies.has(supervision) ? supervision : supervise(supervision as SuperviseOptions)
      throw new InvalidOption(option, supervision, "use supervise({ … }), 'restart', 'stop', 'resume', 'escalate' or 'inherit'")
  }
}

const restarting = supervise()
const stopping = supervise({ decide: () => 'stop' })
const resuming = supervise({ decide: () => 'resume' })
const escalating = supervise({ decide: () => 'escalate' })

/** The policy that holds where nobody said anything. */
export const defaultPolicy: SupervisionPolicy = restarting

/** What is to be done about a failure, and what is remembered of it. */
export function decideFailure(policy: SupervisionPolicy, failure: Failure, before: FailureHistory | undefined, random: () => number): Decision {
  const { cause, now } = failure
  const known = cause instanceof ActorError ? cause : undefined
  const limit = known?.retry === undefined ? policy.limit : { restarts: known.retry.max, within: known.retry.within }
  const fresh = before === undefined || now - before.windowStart >= limit.within
  const failures = fresh ? 1 : before.failures + 1
  const windowStart = fresh ? now : before.windowStart
  const quiet = failure.runningSince !== undefined && now - failure.runningSince >= limit.within
  const attempt = before === undefined || quiet ? 1 : before.attempt + 1

  const { child, message, hookError } = failure
  const asked = ask(policy, failure, { child, message, failures, windowStart, lastError: before?.lastError, hookError })
  const fatal = known?.kind === 'fatal'
  let directive = asked.directive
  const resumable = failure.starting !== true && (known === undefined || known.kind === 'transient')
  if (fatal || (directive === 'resume' && !resumable)) directive = 'stop'
  const counted = directive === 'restart'
  const restarts = (fresh ? 0 : before.restarts) + (counted ? 1 : 0)
  const limitHit = counted && restarts > limit.restarts
  if (limitHit) directive = policy.onLimit

  const history: FailureHistory = { failures, restarts, windowStart, lastError: cause, attempt: counted ? attempt : (before?.attempt ?? 0) }
  const delay = directive === 'restart' ? backoffDelay(policy.backoff, attempt, random) : 0
  return { directive, delay, history, limitHit, fatal, deciderError: asked.error }
}

function ask(policy: SupervisionPolicy, failure: Failure, context: FailureContext): { directive: Directive; error: unknown } {
  const kind = failure.cause instanceof ActorError ? failure.cause.kind : 'transient'
  if (policy.decide === undefined) return { directive: kind === 'transient' ? 'restart' : 'stop', error: undefined }
  try {
    const directive = policy.decide(failure.cause, context)
    if (directives.includes(directive)) return { directive, error: undefined }
    observed(directive, () => {})
    return { directive: 'stop', error: new InvalidOption('decide', directive, `it must return ${directives.join(', ')}`) }
  } catch (error) {
    return { directive: 'stop', error }
  }
}

/** `min·factor^(attempt−1)`, clamped to `max`, varied by ± `jitter`. */
export function backoffDelay(backoff: Backoff, attempt: number, random: () => number): number {
  const { min, max, factor, jitter } = backoff
  // Many attempts take the power to Infinity, which times a minimum of 0 would be no number.
  const base = min === 0 ? 0 : Math.min(max, min * factor ** (attempt - 1))
  return jitter === 0 ? base : base * (1 + jitter * (2 * chanceOf(random) - 1))
}

/** A runtime of one's own may be wrong about chance; that is no reason not to restart. */
function chanceOf(random: () => number): number {
  try {
    const chance = random()
    return chance >= 0 && chance <= 1 ? chance : 0.5
  } catch {
    return 0.5
  }
}
