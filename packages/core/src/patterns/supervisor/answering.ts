// What the end of a child leads to, as OTP has it: restart types against exit reasons, the scope of the strategy, the
// intensity, auto-shutdown. An end that would touch an operation under way is answered when that is done.

import { ActorError } from '../../values/actor-error.ts'
import { ActorInitializationError, Cancelled } from '../../values/errors.ts'
import { backoffDelay } from '../../deciders/supervision.ts'
import { ChildUnrecoverable, RestartIntensityExceeded } from './errors.ts'
import { advance, begin, beginClosing, cancel, dropIfDone, type Step, stop, withdraw } from './operations.ts'
import type { ExitReason } from '../../values/signals.ts'
import type { RestartType } from './child-spec.ts'
import { scopeOf } from './scope.ts'
import { type Exit, labelOf, type Member, type Operation } from './tree.ts'

/** Whether an end is answered with a restart. */
export function restarts(type: RestartType, reason: ExitReason): boolean {
  return type === 'permanent' || (type === 'transient' && (reason === 'failure' || reason === 'killed'))
}

/** Answers an end that nobody asked for, or leaves it for later. */
export function answerExit(step: Step, member: Member, exit: Exit): void {
  const { tree } = step
  member.exit = undefined
  if (tree.leaving) return
  if (!restarts(member.facts.restart, exit.reason)) {
    // The actor of a failed child is still there; its end comes back as an event.
    if (member.standing === 'failed') stop(step, member)
    else gone(step, member)
    return
  }
  if (isHopeless(member, exit)) return giveUpOn(step, member, exit)
  const scope = scopeOf(tree, member)
  if (scope.some((m) => m.operation !== undefined && m.operation.step !== 'waiting')) {
    member.exit = exit
    tree.later.push({ type: 'exit', member })
  } else if (count(step, member, exit)) restart(step, member, exit, scope)
}

/** What a child failed with, also where that was its first start. */
function causeOf({ cause }: Exit): unknown {
  return cause instanceof ActorInitializationError ? cause.cause : cause
}

/** Whether a restart would be due, and cannot help. */
export function isHopeless(member: Member, exit: Exit): boolean {
  const cause = causeOf(exit)
  return cause instanceof ActorError && cause.kind !== 'transient' && restarts(member.facts.restart, exit.reason)
}

/** Closes because of a child that no restart can help. */
export function giveUpOn(step: Step, member: Member, exit: Exit): void {
  giveUp(step, member, new ChildUnrecoverable(step.tree.path, labelOf(member), causeOf(exit)))
}

/** A child is gone and stays away. */
export function gone(step: Step, member: Member): void {
  const { tree } = step
  dropIfDone(step, member)
  if (!member.facts.significant || tree.autoShutdown === 'never' || tree.leaving) return
  if (tree.autoShutdown === 'all-significant')
    for (const m of tree.members.values()) if (m !== member && m.facts.significant && (m.standing !== 'absent' || m.exit !== undefined)) return
  tree.leaving = true
  step.out.push({ type: 'leave' })
}

/** The child that an operation was starting did not come up. */
export function startFailed(step: Step, operation: Operation, member: Member, exit: Exit): void {
  if (operation.kind === 'boot')
    return beginClosing(step, { type: 'boot-failed', cause: exit.cause ?? new Cancelled(`The start of ${step.tree.path}/${labelOf(member)}`) })
  if (operation.kind === 'start') {
    operation.failure = { cause: exit.cause }
    operation.step = 'resting'
    operation.rest = [member]
    operation.start = []
    return advance(step, operation)
  }
  // Its scope is tried again; whoever else was to be started goes on.
  withdraw(operation, scopeOf(step.tree, member))
  answerExit(step, member, exit)
  if (step.tree.operations.has(operation)) advance(step, operation)
}

/** Counts a restart; false if it was one too many, and the supervisor gives up. */
function count(step: Step, member: Member, exit: Exit): boolean {
  const { tree, now } = step
  // As OTP's, the window slides, both ends included. In order, so that only those are looked at that leave it.
  const { counted } = tree
  while (counted.length > 0 && now - counted[0]!.at > tree.period) counted.shift()
  counted.push({ child: labelOf(member), at: now, cause: exit.cause })
  if (tree.counted.length <= tree.intensity) return true
  giveUp(step, member, new RestartIntensityExceeded(tree.path, labelOf(member), tree.counted, tree))
  return false
}

function giveUp(step: Step, member: Member, cause: Error): void {
  step.tree.counted = []
  step.out.push({ type: 'gave-up', child: labelOf(member), cause })
  beginClosing(step, { type: 'fail', cause })
}

function restart(step: Step, trigger: Member, exit: Exit, scope: readonly Member[]): void {
  const { tree, now } = step
  const { backoff } = trigger.facts
  const quiet = trigger.runningSince !== undefined && now - trigger.runningSince > tree.period
  trigger.attempt = quiet ? 1 : trigger.attempt + 1
  trigger.runningSince = undefined
  let until = now + (backoff === undefined ? 0 : backoffDelay(backoff, trigger.attempt, tree.random))
  // Groups that wait for their own restart join this one; nobody's wait gets shorter.
  const group = new Set(scope)
  for (const waiting of new Set(scope.map((m) => m.operation))) {
    if (waiting === undefined) continue
    for (const m of waiting.members) group.add(m)
    until = Math.max(until, waiting.until)
    cancel(step, waiting)
  }
  const ordered = group.size === scope.length ? scope : [...tree.members.values()].filter((m) => group.has(m))
  const back = ordered.filter((m) => m.facts.restart !== 'temporary')
  for (const m of back) m.restarts++
  step.out.push({ type: 'restarting', child: labelOf(trigger), cause: exit.cause })
  // The one that ended goes first: it is as good as gone. The others follow, youngest first.
  begin(step, { kind: 'restart', rest: [...ordered.filter((m) => m !== trigger), trigger], start: back.reverse(), until, cause: exit.cause })
}
