// The decisions of a supervisor: an event in, effects out, the tree's state brought up to date. Deterministic; nothing
// is done here, and nobody waits here. What a child's end leads to is in answering.ts, who restarts with it in scope.ts, how groups come to rest and up
// again in operations.ts, what may be asked for at run time in controlling.ts.
//
//   event ─→ decide(tree, event, now) ─→ effects ─→ (the engine performs them) ─→ events …

import { answerExit, giveUpOn, gone, isHopeless, startFailed } from './answering.ts'
import { controlled, stopMember } from './controlling.ts'
import { advance, advanceClosing, advanceOthers, begin, beginClosing, dropIfDone, launch, renewHolders, type Step } from './operations.ts'
import type { Effect, Event, Member, Tree } from './tree.ts'

/** What is to be done about an event. */
export function decide(tree: Tree, event: Event, now: number): Effect[] {
  const step: Step = { tree, now, out: [] }
  take(step, event)
  advanceOthers(step)
  answerLater(step)
  renewHolders(step)
  return step.out
}

function take(step: Step, event: Event): void {
  const { tree } = step
  switch (event.type) {
    case 'boot':
      return begin(step, { kind: 'boot', rest: [], start: [...tree.members.values()].reverse() })
    case 'close':
      if (tree.closing === undefined) return beginClosing(step, { type: 'stop' })
      tree.closing.purpose = { type: 'stop' }
      return advanceClosing(step)
    case 'due':
      if (event.operation.step !== 'waiting' || !tree.operations.has(event.operation)) return
      event.operation.step = 'starting'
      return advance(step, event.operation)
    case 'started':
    case 'failed':
    case 'held':
    case 'ended': {
      const member = tree.members.get(event.id)
      return member === undefined ? undefined : heard(step, member, event)
    }
    default:
      return controlled(step, event)
  }
}

type News = Extract<Event, { readonly type: 'started' | 'failed' | 'held' | 'ended' }>

function heard(step: Step, member: Member, event: News): void {
  switch (event.type) {
    case 'started':
      return started(step, member)
    case 'failed':
      return failed(step, member, event.cause)
    case 'held':
      return held(step, member)
    case 'ended':
      return ended(step, member, event)
  }
}

/** Whether an operation is starting this child right now. */
function isNext(member: Member): boolean {
  const { operation } = member
  return operation?.step === 'starting' && operation.start.at(-1) === member && member.standing !== 'held' && member.standing !== 'absent'
}

function started(step: Step, member: Member): void {
  // Asked to come to rest meanwhile: that is what counts.
  if (member.standing !== 'starting' && member.standing !== 'running') return
  member.standing = 'running'
  member.runningSince = step.now
  if (isNext(member)) advance(step, member.operation!)
}

function held(step: Step, member: Member): void {
  if (member.standing === 'stopping') return
  member.standing = 'held'
  if (member.operation?.step === 'resting') return advance(step, member.operation)
  if (member.operation !== undefined || step.tree.closing !== undefined) return
  // Nobody wants it to wait any more: let it go on.
  launch(step, member)
}

function failed(step: Step, member: Member, cause: unknown): void {
  const { operation } = member
  const next = isNext(member)
  member.standing = 'failed'
  member.cause = cause
  if (step.tree.closing !== undefined) return advanceClosing(step)
  const exit = { reason: 'failure', cause } as const
  // Whoever was to be taken along by another's restart must not come back with it.
  if (operation?.step === 'resting')
    return operation.kind === 'restart' && isHopeless(member, exit) ? giveUpOn(step, member, exit) : advance(step, operation)
  if (next) startFailed(step, operation!, member, exit)
  else answerExit(step, member, exit)
}

function ended(step: Step, member: Member, { reason, cause }: Extract<Event, { type: 'ended' }>): void {
  const { tree } = step
  const { operation, standing } = member
  const next = isNext(member)
  member.standing = 'absent'
  if (tree.closing !== undefined) {
    tree.closing.alive--
    dropIfDone(step, member)
    return advanceClosing(step)
  }
  if (operation?.step === 'resting') return advance(step, operation)
  // One that was at rest, and waited for its start, is spawned instead.
  if (operation?.step === 'waiting' || (operation !== undefined && standing === 'held')) return
  if (next) {
    // A child that stops itself while it starts wants not to be there; that is not a failure.
    if (reason === 'normal' || reason === 'shutdown') advance(step, operation!, member)
    else startFailed(step, operation!, member, { reason, cause })
  } else if (standing === 'stopping') gone(step, member)
  else answerExit(step, member, { reason, cause })
}

/** Takes up what waited for an operation, as long as that leads anywhere. */
function answerLater(step: Step): void {
  const { tree } = step
  for (let before = Infinity; tree.later.length > 0 && tree.later.length < before;) {
    const later = tree.later
    before = later.length
    tree.later = []
    for (const entry of later) {
      const { member } = entry
      if (entry.type === 'stop') {
        if (tree.closing !== undefined) step.out.push({ type: 'answer', request: entry.request, outcome: { ok: false, reason: 'stopping' } })
        else if (tree.members.has(member.id)) stopMember(step, entry.request, member)
        else step.out.push({ type: 'answer', request: entry.request, outcome: { ok: true } })
      } else if (member.exit !== undefined && tree.members.has(member.id)) answerExit(step, member, member.exit)
    }
  }
}
