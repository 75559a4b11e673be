// What is asked of a supervisor at run time: start, stop, restart and delete of a child. Each is answered exactly once,
// at once where it is refused, and otherwise when it is done.

import { answer, begin, cancel, forget, type Step, withdraw } from './operations.ts'
import { scopeOf } from './scope.ts'
import { type Event, join, type Member, type Refusal, statusOf } from './tree.ts'

type Control = Extract<Event, { readonly request: number }>

export function controlled(step: Step, event: Control): void {
  const { tree } = step
  const { request } = event
  const refuse = (reason: Refusal['reason'], names?: readonly string[]): void => answer(step, request, { ok: false, reason, ...(names && { names }) })
  if (tree.closing !== undefined || tree.leaving) return refuse('stopping')
  if (event.type === 'start') return startNew(step, event, refuse)
  const member = event.id === undefined ? undefined : tree.members.get(event.id)
  if (member === undefined) return refuse('not-found')
  if (event.type === 'stop') return stopMember(step, request, member)
  const status = statusOf(tree, member)
  if (status === 'running' || status === 'starting') return refuse('running')
  if (status !== 'stopped') return refuse(status)
  if (event.type === 'restart') return begin(step, { kind: 'start', rest: [], start: [member], request })
  const dependents = [...tree.members.values()].filter((m) => m.facts.needs.includes(member.facts.name!)).map((m) => m.facts.name!)
  if (dependents.length > 0) return refuse('needed', dependents)
  forget(step, member)
  answer(step, request, { ok: true })
}

function startNew(
  step: Step,
  event: Extract<Event, { type: 'start' }>,
  refuse: (reason: Refusal['reason'], names?: readonly string[]) => void,
): void {
  const { tree } = step
  const { name, needs } = event.facts
  const present = name === undefined ? undefined : tree.names.get(name)
  if (present !== undefined) {
    const status = statusOf(tree, present)
    // As in OTP one that waits for its restart is present, and not started.
    return refuse(status === 'stopped' || status === 'restarting' ? 'already-present' : 'already-started')
  }
  const unknown = needs.filter((need) => !tree.names.has(need))
  if (unknown.length > 0) return refuse('invalid', unknown)
  const member = join(tree, event.facts)
  step.out.push({ type: 'joined', id: member.id, request: event.request })
  begin(step, { kind: 'start', rest: [], start: [member], request: event.request, discard: true })
}

/** Stops a child; one that takes part in something is stopped as soon as it can be taken out of it. */
export function stopMember(step: Step, request: number, member: Member): void {
  const { tree } = step
  const { operation } = member
  if (operation !== undefined && operation.step !== 'waiting') {
    tree.later.push({ type: 'stop', request, member })
    return
  }
  if (operation !== undefined) {
    withdraw(operation, [member])
    if (operation.start.length === 0) cancel(step, operation)
  }
  const unanswered = member.exit !== undefined
  begin(step, { kind: 'stop', rest: [member], start: [], request })
  if (unanswered) bringBack(step, member)
}

/** A child whose end was still to be answered is stopped instead: those that had come to rest for its restart come up without it. */
function bringBack(step: Step, member: Member): void {
  const waiting = scopeOf(step.tree, member).filter((m) => m !== member && m.standing === 'held' && m.operation === undefined)
  if (waiting.length > 0) begin(step, { kind: 'restart', rest: [], start: waiting.reverse() })
}
