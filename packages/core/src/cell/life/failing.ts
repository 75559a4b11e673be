// A failure: counted, logged, decided about and acted on, at once, whatever the parent is doing. The decision itself is
// pure (deciders/supervision); here it meets the tree, and who fails together is found. A handler's throw comes from outcome,
// which has told whoever asked.

import { logFailure } from './failure-log.ts'
import { backoffDelay, decideFailure, FailureHistory, type UpkeptPolicy } from '../../deciders/supervision.ts'
import { beginRestart } from './restarting.ts'
import { on, outcomeOf, takesMessages } from '../../deciders/phase.ts'
import { actorErrorOf, ActorInitializationError, Escalated, readable } from '../../values/errors.ts'
import type { Observation } from '../../values/observation.ts'
import type { SupervisionPolicy } from '../../values/policy.ts'
import type { Directive } from '../../values/signals.ts'
import { observed } from '../../values/thenable.ts'
import type { Cell } from '../turn/cell.ts'
import { bind } from './group-restart.ts'
import type { CellSupervisor } from './cell-supervisor.ts'
import { change } from './phase-change.ts'
import { Failed, infoIn, isLive } from './phase-info.ts'
import { beginStop } from './stopping.ts'
import { resumeEscalated } from './escalated-children.ts'

/** What happened: what was thrown, at which message, and what the error hook threw on top. */
interface Incident {
  readonly cause: unknown
  readonly message: unknown
  readonly hookError: unknown
  /** In a start, and in the first of all. */
  readonly starting: boolean
  readonly first: boolean
}

/** Fails the present incarnation with `cause`, and does what is decided about it. */
export function fail(cell: Cell, thrown: unknown, message?: unknown): void {
  const cause = readable(thrown)
  const { phase } = cell
  // Ending already, being replaced, or failed and waiting for its parent: nothing left to decide.
  if (phase === 'failed' || phase === 'created' || phase === 'restarting' || !takesMessages(phase)) return note(cell, cause, message, undefined)
  const suspension = infoIn(cell, 'suspended')?.reason
  const incident = enterFailed(cell, cause, message)
  const keeper = cell.extras?.keeper
  const policy = policyFor(cell)
  if (keeper !== undefined && !policy.own?.(cause)) leaveToKeeper(cell, keeper, incident)
  else if (incident.first && !policy.retryStart) giveUpStart(cell, incident)
  else decide(cell, policy, incident)
  // Whoever suspended an actor has not taken that back because it failed.
  if (suspension !== undefined) cell.command({ verb: 'suspend', reason: suspension })
}

function enterFailed(cell: Cell, cause: unknown, message: unknown): Incident {
  const hookError = isLive(cell) ? runErrorHook(cell, cause, message) : undefined
  const start = infoIn(cell, 'starting')
  change(cell, on.fail, new Failed(cell, cause))
  return { cause, message, hookError, starting: start !== undefined, first: start?.from === 'created' }
}

/** Its keeper decides, and counts its restarts itself; one on another thread counts everything. */
function leaveToKeeper(cell: Cell, keeper: CellSupervisor, incident: Incident): void {
  const { cause } = incident
  const told = incident.first ? new ActorInitializationError(cell.ref.path, cause) : cause
  const directive = keeper.failed(cell, told, incident.message)
  if (directive === undefined) return
  announce(cell, incident, told, directive)
  if (isFatal(cause)) cell.host.count({ directive: 'stop', limitHit: false, fatal: true })
}

/** A first start that failed is not made again, unless the policy says so. */
function giveUpStart(cell: Cell, incident: Incident): void {
  const { cause } = incident
  const error = new ActorInitializationError(cell.ref.path, cause)
  cell.ensureExtras().neverUp = true
  cell.host.count({ directive: 'stop', limitHit: false, fatal: isFatal(cause) })
  announce(cell, incident, error, 'stop')
  beginStop(cell, 'failure', error)
}

/** Asks the policy, and does what it says. */
function decide(cell: Cell, policy: SupervisionPolicy, incident: Incident): void {
  const { cause, first } = incident
  const { host } = cell
  const extras = cell.ensureExtras()
  if (first) extras.neverUp = true
  const decision = decideFailure(
    policy,
    { ...incident, child: cell.ref, now: host.runtime.now(), runningSince: incident.starting ? undefined : extras.runningSince },
    historyFor(cell, policy),
    () => host.runtime.random(),
  )
  host.count(decision)
  if (decision.deciderError !== undefined)
    host.logger.error({ actor: cell.ref.path, cause: decision.deciderError }, 'decide failed; the actor is stopped')
  const last = extras.neverUp && decision.directive === 'stop' ? new ActorInitializationError(cell.ref.path, cause) : cause
  announce(cell, incident, last, decision.directive, () => ({
    attempt: historyFor(cell, policy).attempt,
    delay: decision.delay,
    limit: policy.limit,
  }))
  act(cell, decision.directive, policy, last, decision.delay)
  if (first && decision.directive === 'restart') for (const waiter of extras.startWaiters ?? []) waiter(undefined, true)
}

function isFatal(cause: unknown): boolean {
  return actorErrorOf(cause)?.kind === 'fatal'
}

/** Lets the failing actor hear of its failure first; returns what that threw. */
function runErrorHook(cell: Cell, cause: unknown, message: unknown): unknown {
  try {
    // Nobody waits for it: the supervisor decides now. A rejection is logged, not thrown at the process.
    observed(cell.behavior.error?.(cell.ctx as never, cause, message), (late) => logFailure(cell, late, message, undefined))
    return undefined
  } catch (thrown) {
    return thrown ?? new Error('onError threw nothing')
  }
}

function act(cell: Cell, directive: Directive, policy: SupervisionPolicy, cause: unknown, delay: number): void {
  const parent = cell.ref.parent?.cell
  switch (directive) {
    case 'resume':
      change(cell, on.resume, undefined)
      resumeEscalated(cell)
      return
    case 'restart':
      // Later siblings first: they may depend on those before them.
      for (const sibling of restartedWith(cell, policy)) sibling.command({ verb: 'restart', cause, delay, along: true })
      beginRestart(cell, cause, delay)
      return
    case 'stop':
      for (const sibling of group(cell, policy)) sibling.command({ verb: 'stop', reason: 'shutdown', cause })
      beginStop(cell, 'failure', cause)
      return
    case 'escalate':
      if (parent === undefined) return
      if (parent.ref.parent === undefined) cell.host.topFailed(cell, cause)
      else parent.command({ verb: 'escalated', child: cell, cause })
  }
}

/** The siblings that share a failing child's fate, youngest first. */
function group(cell: Cell, policy: SupervisionPolicy): Cell[] {
  if (policy.scope === 'one-for-one') return []
  const siblings = cell.ref.parent?.cell.children?.list() ?? []
  const from = policy.scope === 'all-for-one' ? 0 : siblings.indexOf(cell)
  return siblings
    .slice(from)
    .filter((s) => s !== cell)
    .reverse()
}

/** Like `group`; those that are up come back together with the failing child. */
function restartedWith(cell: Cell, policy: SupervisionPolicy): Cell[] {
  const siblings = group(cell, policy)
  const members = siblings.filter((s) => outcomeOf(s.phase, on.restart) === 'restarting')
  if (members.length > 0) bind([cell, ...members].toSorted((a, b) => a.ref.uid - b.ref.uid))
  return siblings
}

/** A child gave its failure to this cell, which fails in turn under its own policy. */
export function failEscalated(cell: Cell, child: Cell, cause: unknown): void {
  if (infoIn(child, 'failed')?.told !== false) return
  // Being replaced already, it ends its children, or begins those anew that it keeps: nothing more to decide.
  if (cell.phase !== 'restarting') fail(cell, new Escalated(child.ref.path, cause))
}

/** How long a start that failed waits when it is made again without having been counted as a restart: not at all at first, then as its policy says. */
export function retryDelay(cell: Cell): number {
  const policy = policyFor(cell)
  const { runtime } = cell.host
  const { count } = historyFor(cell, policy).failures.within(runtime.now(), policy.limit.within)
  return count < 2 ? 0 : backoffDelay(policy.backoff, count - 1, () => runtime.random())
}

function policyFor(cell: Cell): UpkeptPolicy {
  const parents = cell.ref.parent?.cell.options.childSupervision
  if (parents !== undefined && parents.scope !== 'one-for-one') return parents
  return cell.options.supervision ?? parents ?? cell.host.policy
}

/** Where failures under this policy are counted: with a group scope all of them together, for as long as the parent's incarnation lives. */
function historyFor(cell: Cell, policy: SupervisionPolicy): FailureHistory {
  const parent = cell.ref.parent?.cell
  if (policy.scope === 'one-for-one' || parent === undefined) return (cell.ensureExtras().history ??= new FailureHistory())
  return (parent.ensureExtras().groupHistory ??= new FailureHistory())
}

/** Keeps and logs a failure. */
function note(cell: Cell, cause: unknown, message: unknown, directive: Directive | undefined, attached?: { readonly hookError: unknown }): void {
  const { host } = cell
  host.failed({ actor: cell.ref, message, cause, directive, at: host.runtime.now() })
  logFailure(cell, cause, message, directive, attached)
}

/** What else there is to say about a decision. */
type Decided = Pick<Extract<Observation, { readonly type: 'directive' }>, 'attempt' | 'delay' | 'limit'>

/** Tells the log, the listeners and the parent. */
function announce(cell: Cell, { message, hookError }: Incident, cause: unknown, directive: Directive, more?: () => Decided): void {
  const { host, ref } = cell
  const attached = hookError === undefined ? undefined : { hookError }
  note(cell, cause, message, directive, attached)
  if (host.listening) {
    const at = host.runtime.now()
    host.observe({ type: 'actor.failed', ref, cause, message, directive, ...attached, at })
    if (more !== undefined) host.observe({ type: 'directive', ref, directive, ...more(), at })
  }
  const parent = cell.ref.parent
  if (parent?.parent !== undefined) parent.cell.signal({ type: 'ChildFailed', child: cell.ref, cause, message, directive, ...attached })
}
