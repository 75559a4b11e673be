// Failure → directive: policy, cause and history in, a decision out, and the history brought up to date. No clock, no cell.
// The history is the failing actor's, so that a rebuilt wrapper or parent does not reset its budget, or that of its group.

import {
  checkBoolean,
  checkFactor,
  checkFinite,
  checkFunction,
  checkOneOf,
  checkPart,
  checkUpTo,
  checkWhole,
  readOptions,
  type Table,
} from '../values/checks.ts'
import { actorErrorOf, InvalidOption } from '../values/errors.ts'
import type { Backoff, FailureContext, Scope, Supervision, SupervisionPolicy } from '../values/policy.ts'
import type { AnyRef } from '../values/ref.ts'
import type { Directive } from '../values/signals.ts'
import { observed } from '../values/thenable.ts'
import { RecentTimes } from './recent-times.ts'

/** What is remembered of the failures of an actor, or of a group that shares its fate. Updated in place: it may be long. */
export class FailureHistory {
  /** All failures, whatever was decided about them. */
  readonly failures: RecentTimes = new RecentTimes()
  /** Those of them that led to a restart; what the limit counts. */
  readonly restarts: RecentTimes = new RecentTimes()
  lastError: unknown
  /** Restarts asked for in a row without a quiet `within`; drives the backoff. */
  attempt = 0
}

export interface Failure {
  readonly cause: unknown
  readonly child: AnyRef
  readonly message: unknown
  readonly now: number
  /** Since when the incarnation that failed had been running, where that is known. */
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
  readonly decide?: ((cause: unknown, failure: FailureContext) => Directive) | undefined
  /** At most `restarts` within any `within` ms, then `onLimit`; `Number.MAX_SAFE_INTEGER` for no limit. Beyond 1,000 it is kept to within a 500th of `within`. */
  readonly limit?: { readonly restarts: number; readonly within: number } | undefined
  /** What happens at the limit: `stop` (default) the actor, or `escalate` to its parent. */
  readonly onLimit?: 'stop' | 'escalate' | undefined
  /** The wait before a restart: `min`, `max` and their growth; 10 to 1,000 ms, doubled each time, ± 10 % if left out. */
  readonly backoff?: { readonly [K in keyof Backoff]?: Backoff[K] | undefined } | undefined
  /** Who is treated along with the failing child; for `childSupervision`. */
  readonly scope?: Scope | undefined
  /** Whether a first start that fails is tried again. */
  readonly retryStart?: boolean | undefined
}

const directives: readonly Directive[] = ['resume', 'restart', 'stop', 'escalate']
const scopes: readonly Scope[] = ['one-for-one', 'all-for-one', 'rest-for-one']

const usual: Backoff = { min: 10, max: 1000, factor: 2, jitter: 0.1 }
const backoffTable: Table<Backoff> = { min: [checkFinite, 'from'], max: [checkFinite, 'from'], factor: checkFactor, jitter: [checkUpTo, 1] }

/** Pauses, checked and completed. */
export function checkBackoff(option: string, value: unknown): Backoff {
  const backoff = { ...usual, ...checkPart(option, value, backoffTable) }
  if (backoff.min <= backoff.max) return backoff
  throw new InvalidOption(`${option}.min`, backoff.min, `it must not exceed ${option}.max (${backoff.max})`)
}

const limitTable: Table<SupervisionPolicy['limit']> = { restarts: [checkWhole, 0, true], within: [checkFinite, 'above', true] }
const table: Table<SuperviseOptions> = {
  decide: checkFunction,
  limit: [checkPart, limitTable],
  onLimit: [checkOneOf, ['stop', 'escalate']],
  backoff: checkBackoff,
  scope: [checkOneOf, scopes],
  retryStart: checkBoolean,
}

/** What a policy is as far as nothing is said. */
const leftOut: SupervisionPolicy = {
  decide: undefined,
  limit: { restarts: 3, within: 1000 },
  onLimit: 'stop',
  backoff: usual,
  scope: 'one-for-one',
  retryStart: false,
}

/** What `supervise` made; a policy that was put together otherwise is checked where it is used. */
const checkedPolicies = new WeakSet<object>()

/**
 * A supervision policy. What is left out: restart, at most 3 in 1,000 ms, backoff 10–1,000 ms ×2 ±10 %, then stop.
 *
 * Guarantees: at most `restarts` restarts within any `within` ms, failed starts during restarts included; with a group scope,
 * of the group. A fatal `ActorError` is never restarted. Fails with `InvalidOption` on a limit, backoff or word that makes no sense.
 *
 * @example
 * system.spawn(worker(), { supervision: supervise({ limit: { restarts: 5, within: 10_000 }, onLimit: 'escalate' }) })
 */
export function supervise(options: SuperviseOptions = {}): SupervisionPolicy {
  const policy = { ...leftOut, ...(readOptions('supervise', options, table) as Partial<SupervisionPolicy>) }
  checkedPolicies.add(policy)
  return policy
}

/** A policy from a word or a policy; `'inherit'` and undefined give `inherited`. */
export function policyOf<I>(supervision: Supervision | undefined, inherited: I, option: string): SupervisionPolicy | I {
  if (supervision === undefined || supervision === 'inherit') return inherited
  if (typeof supervision === 'object' && supervision !== null && scopes.includes(supervision.scope))
    return checkedPolicies.has(supervision) ? supervision : supervise(supervision)
  const policy = named.get(supervision)
  if (policy !== undefined) return policy
  throw new InvalidOption(option, supervision, "use supervise({ … }), 'restart', 'stop', 'resume', 'escalate' or 'inherit'")
}

/** A policy for actors that may have any siblings: a scope of theirs would act on who has nothing to do with them. */
export function ownPolicyOf<I extends SupervisionPolicy | undefined>(
  supervision: Supervision | undefined,
  inherited: I,
  option: string,
): SupervisionPolicy | I {
  const policy = policyOf(supervision, inherited, option)
  if (policy === undefined || policy.scope === 'one-for-one') return policy
  throw new InvalidOption(
    option,
    supervision,
    `scope '${policy.scope}' is about all children of one parent; put this policy into childSupervision of that parent`,
  )
}

/** A policy that comes with a behavior of a package, put together by `Object.assign`: it tells failures apart by more than their directive. */
export interface UpkeptPolicy extends SupervisionPolicy {
  /** Whether a failure is neither the actor's nor its supervisor's: the policy answers it also where a supervisor of declared children has the actor, and no intensity counts it. */
  own?(cause: unknown): boolean
  /** Milliseconds to wait before a restart, in place of the backoff. */
  delay?(failure: Failure, random: () => number): number
}

/** The policy that holds where nobody said anything. */
export const defaultPolicy: SupervisionPolicy = /* @__PURE__ */ supervise()

/** A directive as a policy: always that one, but to restart is what the default does. */
const named: ReadonlyMap<unknown, SupervisionPolicy> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ directives.map((directive) => [directive, directive === 'restart' ? defaultPolicy : supervise({ decide: () => directive })]),
)

/** What is to be done about a failure; `history` remembers it. */
export function decideFailure(policy: UpkeptPolicy, failure: Failure, history: FailureHistory, random: () => number): Decision {
  const { cause, now, child, message, hookError } = failure
  const known = actorErrorOf(cause)
  const limit = known?.retry === undefined ? policy.limit : { restarts: known.retry.max, within: known.retry.within }
  const { within } = limit
  const { lastError } = history
  // A start that never came up is never quiet, however long it took.
  if (failure.starting !== true && now - Math.max(failure.runningSince ?? -Infinity, history.failures.last) >= within) history.attempt = 0
  history.failures.add(now, within)
  history.lastError = cause
  const { count: failures, first: windowStart } = history.failures.within(now, within)

  const asked = ask(policy, failure, { child, message, failures, windowStart, lastError, hookError })
  const fatal = known?.kind === 'fatal'
  let directive = asked.directive
  const resumable = failure.starting !== true && (known === undefined || known.kind === 'transient')
  if (fatal || (directive === 'resume' && !resumable)) directive = 'stop'
  const counted = directive === 'restart'
  if (counted) history.attempt++
  // Looked up only now: what `decide` called may have led to another restart of the same group.
  const limitHit = counted && history.restarts.within(now, within).count >= limit.restarts
  if (limitHit) directive = policy.onLimit
  else if (counted) history.restarts.add(now, within)

  const delay = directive === 'restart' ? (policy.delay?.(failure, random) ?? backoffDelay(policy.backoff, history.attempt, random)) : 0
  return { directive, delay, limitHit, fatal, deciderError: asked.error }
}

function ask(policy: SupervisionPolicy, failure: Failure, context: FailureContext): { directive: Directive; error: unknown } {
  const kind = actorErrorOf(failure.cause)?.kind ?? 'transient'
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
  // Many attempts take the power to Infinity, which times a minimum of 0 would not be a number.
  const base = min === 0 ? 0 : Math.min(max, min * factor ** (attempt - 1))
  return jitter === 0 ? base : base * (1 + jitter * (2 * chanceOf(random) - 1))
}

/** A runtime of one's own may be wrong about chance; that is not a reason not to restart. */
function chanceOf(random: () => number): number {
  try {
    const chance = random()
    return chance >= 0 && chance <= 1 ? chance : 0.5
  } catch {
    return 0.5
  }
}
