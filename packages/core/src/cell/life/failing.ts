// A failure: counted, logged, decided about and acted on, at once, whatever the parent is doing. The decision itself is
// pure (deciders/supervision); here it meets the tree.

import { logFailure } from './failure-log.ts'
import { backoffDelay, decideFailure, FailureHistory } from '../../deciders/supervision.ts'
import { beginRestart } from './restarting.ts'
import { on, outcomeOf, takesMessages } from '../../deciders/phase.ts'
import { actorErrorOf, ActorInitializationError, Escalated, readable } from '../../values/errors.ts'
import type { SupervisionPolicy } from '../../values/policy.ts'
import type { Directive } from '../../values/signals.ts'
import { observed } from '../../values/thenable.ts'
import type { Cell } from '../turn/cell.ts'
import { bind } from './group-restart.ts'
import { change, infoOf, isLive, phaseInfo } from './phase-change.ts'
import { beginStop } from './stopping.ts'
import { resumeEscalated } from './escalated-children.ts'

/** Fails the present incarnation with `cause`, and does what its policy says. */
export function fail(cell: Cell, thrown: unknown, message: unknown): void {
  const cause = readable(thrown)
  const { phase, dispatcher } = cell
  if (phase === 'failed' || phase === 'created' || phase === 'restarting' || !takesMessages(phase)) {
    // Ending already, being replaced, or failed and waiting for its parent: nothing left to decide.
    note(cell, cause, message, undefined)
    return
  }
  const host = dispatcher.host
  const hookError = isLive(cell) ? runErrorHook(cell, cause, message) : undefined
  const starting = phase === 'starting'
  const firstStart = starting && !phaseInfo(cell).again
  const suspension = suspensionOf(cell)
  const info = infoOf(cell, cause)
  info.unstarted = starting
  change(cell, on.fail, info)
  const keeper = cell.extras?.keeper
  if (keeper !== undefined) {
    const told = firstStart ? new ActorInitializationError(cell.ref.path, cause) : cause
    const directive = keeper.failed(cell, told, message)
    if (directive !== undefined) announce(cell, told, message, directive, hookError)
    // A keeper counts its restarts itself, and one on another thread everything.
    if (directive !== undefined && isFatal(cause)) host.count({ directive: 'stop', limitHit: false, fatal: true })
    suspendAgain(cell, suspension)
    return
  }
  const policy = policyFor(cell)
  const extras = cell.more
  if (firstStart) extras.neverUp = true
  if (firstStart && !policy.retryStart) {
    const error = new ActorInitializationError(cell.ref.path, cause)
    host.count({ directive: 'stop', limitHit: false, fatal: isFatal(cause) })
    announce(cell, error, message, 'stop', hookError)
    beginStop(cell, 'failure', error)
    return
  }
  const now = host.runtime.now()
  const decision = decideFailure(
    policy,
    { cause, child: cell.ref, message, now, starting, runningSince: starting ? undefined : extras.runningSince, hookError },
    historyFor(cell, policy),
    () => host.runtime.random(),
  )
  host.count(decision)
  if (decision.deciderError !== undefined)
    host.logger.error({ actor: cell.ref.path, cause: decision.deciderError }, 'decide failed; the actor is stopped')
  const last = extras.neverUp && decision.directive === 'stop' ? new ActorInitializationError(cell.ref.path, cause) : cause
  announce(cell, last, message, decision.directive, hookError)
  act(cell, decision.directive, policy, last, decision.delay)
  if (firstStart && decision.directive === 'restart') for (const waiter of extras.startWaiters ?? []) waiter(undefined, true)
  suspendAgain(cell, suspension)
}

function isFatal(cause: unknown): boolean {
  return actorErrorOf(cause)?.kind === 'fatal'
}

/** Why the cell is suspended; undefined if it is not. */
function suspensionOf(cell: Cell): string | undefined {
  return cell.phase === 'suspended' ? phaseInfo(cell).note : undefined
}

/** Who suspended an actor has not taken that back because it failed. */
function suspendAgain(cell: Cell, reason: string | undefined): void {
  if (reason !== undefined) cell.command({ verb: 'suspend', reason })
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
  if (child.phase !== 'failed' || phaseInfo(child).again) return
  // Being replaced already, it ends its children, or begins those anew that it keeps: nothing more to decide.
  if (cell.phase !== 'restarting') fail(cell, new Escalated(child.ref.path, cause), undefined)
}

/** How long a start that failed waits when it is made again without having been counted as a restart: not at all at first, then as its policy says. */
export function retryDelay(cell: Cell): number {
  const policy = policyFor(cell)
  const { runtime } = cell.host
  const { count } = historyFor(cell, policy).failures.within(runtime.now(), policy.limit.within)
  return count < 2 ? 0 : backoffDelay(policy.backoff, count - 1, () => runtime.random())
}

function policyFor(cell: Cell): SupervisionPolicy {
  const parents = cell.ref.parent?.cell.options.childSupervision
  if (parents !== undefined && parents.scope !== 'one-for-one') return parents
  return cell.options.supervision ?? parents ?? cell.host.policy
}

/** Where failures under this policy are counted: with a group scope all of them together, for as long as the parent's incarnation lives. */
function historyFor(cell: Cell, policy: SupervisionPolicy): FailureHistory {
  const parent = cell.ref.parent?.cell
  if (policy.scope === 'one-for-one' || parent === undefined) return (cell.more.history ??= new FailureHistory())
  return (parent.more.groupHistory ??= new FailureHistory())
}

/** Keeps and logs a failure. */
function note(cell: Cell, cause: unknown, message: unknown, directive: Directive | undefined, attached?: { readonly hookError: unknown }): void {
  const { host } = cell
  host.failed({ actor: cell.ref, message, cause, directive, at: host.runtime.now() })
  logFailure(cell, cause, message, directive, attached)
}

/** Tells the log, the listeners and the parent. */
function announce(cell: Cell, cause: unknown, message: unknown, directive: Directive, hookError: unknown): void {
  const { host } = cell
  const attached = hookError === undefined ? undefined : { hookError }
  note(cell, cause, message, directive, attached)
  if (host.listening) host.observe({ type: 'actor.failed', ref: cell.ref, cause, message, directive, ...attached, at: host.runtime.now() })
  const parent = cell.ref.parent
  if (parent?.parent !== undefined) parent.cell.signal({ type: 'ChildFailed', child: cell.ref, cause, message, directive, ...attached })
}
