// A failure: counted, logged, decided about and acted on, at once, whatever the parent is doing. The decision itself is
// pure (deciders/supervision); here it meets the tree.

import { decideFailure } from '../deciders/supervision.ts'
import { takesMessages } from '../deciders/phase.ts'
import { ActorInitializationError, Escalated } from '../values/errors.ts'
import type { SupervisionPolicy } from '../values/policy.ts'
import type { Directive } from '../values/signals.ts'
import type { Cell } from './cell.ts'
import { logFailure } from './failure-log.ts'
import { change, infoOf, phaseInfo } from './phase-change.ts'
import { beginRestart } from './restarting.ts'
import { beginStop } from './stopping.ts'

/** Fails the present incarnation with `cause`, and does what its policy says. */
export function fail(cell: Cell, cause: unknown, message: unknown): void {
  const { phase, dispatcher } = cell
  const replaced = phase === 'restarting' && phaseInfo(cell).step === 'handler'
  if (phase === 'failed' || phase === 'created' || replaced || !takesMessages(phase)) {
    // Ending already, about to be replaced, or failed and waiting for its parent: nothing left to decide.
    logFailure(cell, cause, message, undefined)
    return
  }
  const host = dispatcher.host
  const starting = phase === 'starting'
  const firstStart = starting && !phaseInfo(cell).again
  change(cell, 'fail', infoOf(cell, cause))
  const policy = policyFor(cell)
  if (firstStart && !policy.retryStart) {
    const error = new ActorInitializationError(cell.ref.path, cause)
    announce(cell, error, message, 'stop')
    beginStop(cell, 'failure', error)
    return
  }
  const extras = cell.more
  const now = host.runtime.now()
  const decision = decideFailure(
    policy,
    { cause, child: cell.ref, message, now, runningSince: starting ? undefined : extras.runningSince },
    extras.history,
    () => host.runtime.random(),
  )
  extras.history = decision.history
  host.count(decision)
  if (decision.deciderError !== undefined)
    host.logger.error({ actor: cell.ref.path, cause: decision.deciderError }, 'decide failed; the actor is stopped')
  announce(cell, cause, message, decision.directive)
  act(cell, decision.directive, policy, cause, decision.delay)
}

function act(cell: Cell, directive: Directive, policy: SupervisionPolicy, cause: unknown, delay: number): void {
  const parent = cell.ref.parent?.cell
  switch (directive) {
    case 'resume':
      change(cell, 'resume', undefined)
      return
    case 'restart':
      // Later siblings first: they may depend on those before them.
      for (const sibling of group(cell, policy)) sibling.command({ verb: 'restart', cause, delay })
      beginRestart(cell, cause, delay)
      return
    case 'stop':
      for (const sibling of group(cell, policy)) sibling.command({ verb: 'stop', reason: 'shutdown', cause })
      beginStop(cell, 'failure', cause)
      return
    case 'escalate':
      if (parent === undefined) return
      if (parent.ref.parent === undefined) cell.dispatcher.host.topFailed(cell, cause)
      else parent.command({ verb: 'escalated', child: cell, cause })
  }
}

/** The siblings that share a failing child's fate, youngest first. */
function group(cell: Cell, policy: SupervisionPolicy): Cell[] {
  if (policy.scope === 'one-for-one') return []
  const siblings = cell.ref.parent?.cell.children?.list() ?? []
  const from = policy.scope === 'all-for-one' ? 0 : siblings.indexOf(cell)
  return siblings.slice(from).filter((s) => s !== cell).reverse()
}

/** A child gave its failure to this cell, which fails in turn under its own policy. */
export function failEscalated(cell: Cell, child: Cell, cause: unknown): void {
  if (child.phase === 'failed') fail(cell, new Escalated(child.ref.path, cause), undefined)
}

function policyFor(cell: Cell): SupervisionPolicy {
  const parents = cell.ref.parent?.cell.options.childSupervision
  if (parents !== undefined && parents.scope !== 'one-for-one') return parents
  return cell.options.supervision ?? parents ?? cell.dispatcher.host.policy
}

/** Tells the log, the listeners and the parent. */
function announce(cell: Cell, cause: unknown, message: unknown, directive: Directive): void {
  const { host, now } = cell.dispatcher
  logFailure(cell, cause, message, directive)
  if (host.listening) host.observe({ type: 'actor.failed', ref: cell.ref, cause, message, directive, at: now })
  const parent = cell.ref.parent
  if (parent?.parent !== undefined) parent.cell.signal({ type: 'ChildFailed', child: cell.ref, cause, message, directive })
}
