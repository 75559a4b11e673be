// How children come to rest and up again: one after the other, youngest first and oldest first. At most one operation
// has a child at a time; those on other children go on beside it. Closing, which takes them all, ends every operation.

import { type Closing, type Effect, leave, type Member, type Operation, type Outcome, type Tree } from './tree.ts'

/** One decision: the tree, the time, and what came of it so far. */
export interface Step {
  readonly tree: Tree
  readonly now: number
  readonly out: Effect[]
}

type Beginning = Pick<Operation, 'kind' | 'rest' | 'start'> & Partial<Pick<Operation, 'until' | 'cause' | 'request' | 'discard'>>

/** Begins an operation on children that no other has. `rest` and `start` are stacks: the last one is next. */
export function begin(step: Step, beginning: Beginning): void {
  const { kind, rest, start, until = 0, cause, request, discard = false } = beginning
  const members = new Set([...rest, ...start])
  const operation: Operation = {
    id: ++step.tree.serial,
    kind,
    step: 'resting',
    members,
    rest,
    start,
    until,
    cause,
    request,
    failure: undefined,
    discard,
  }
  step.tree.operations.add(operation)
  for (const member of members) {
    member.operation = operation
    member.exit = undefined
  }
  advance(step, operation)
}

/** Goes on with an operation as far as it can without waiting. `passed` ended while it started, and is not tried again. */
export function advance(step: Step, operation: Operation, passed?: Member): void {
  if (operation.step === 'resting' && !rested(step, operation)) return
  if (operation.step === 'resting') {
    if (operation.until > step.now && operation.start.length > 0) {
      operation.step = 'waiting'
      step.out.push({ type: 'wait', operation })
    } else operation.step = 'starting'
  }
  if (operation.step === 'waiting') return
  for (let m = operation.start.at(-1); m !== undefined; m = operation.start.at(-1)) {
    if (m === passed) dropIfDone(step, m)
    else if (m.standing === 'absent' || m.standing === 'held') {
      if (awaitsOthers(step.tree, m)) return
      launch(step, m)
      return
    } else if (m.standing !== 'running') return
    operation.start.pop()
  }
  finish(step, operation)
}

/** Starts a child: in place where its actor waits, else as a new one. */
export function launch({ tree, out }: Step, member: Member): void {
  const anew = member.standing === 'absent'
  if (anew && ++member.life > 1 && tree.holders) tree.replaced.add(member)
  const { siblings } = member.facts
  if (siblings.length > 0) member.held = new Map(siblings.map(({ name }) => tree.names.get(name!)).map((m) => [m?.id ?? -1, m?.life ?? 0]))
  out.push({ type: anew ? 'spawn' : 'relaunch', id: member.id })
  member.standing = 'starting'
}

/** Restarts those that hold the ref of an actor which was replaced since, or ends them if temporary; not counted, for none has failed. */
export function renewHolders(step: Step): void {
  const { tree } = step
  if (tree.replaced.size === 0 || tree.closing !== undefined || tree.leaving) return
  for (const member of tree.replaced) {
    if (member.standing !== 'running') continue
    const stale = [...tree.members.values()].filter((m) => (m.held?.get(member.id) ?? member.life) !== member.life && m.standing !== 'absent')
    if (stale.length === 0) tree.replaced.delete(member)
    // Those that take part in something are looked at when that is done.
    const idle = stale.filter((m) => m.standing === 'running' && m.operation === undefined && m.exit === undefined)
    if (idle.length === 0) continue
    const back = idle.filter((m) => m.facts.restart !== 'temporary')
    for (const m of back) m.restarts++
    begin(step, { kind: 'restart', rest: idle, start: back.toReversed() })
  }
}

/**
 * Whether another operation brings up what a child needs, as it happens when a start failed and was split off: then that goes first. Start
 * order puts each child after those it needs, so that operations never wait for each other in a circle.
 */
function awaitsOthers(tree: Tree, member: Member): boolean {
  return (
    tree.strategy === 'dependents' &&
    member.facts.needs.some((name) => {
      const needed = tree.names.get(name)
      return needed?.operation !== undefined && needed.operation !== member.operation && needed.operation.start.includes(needed)
    })
  )
}

/** Goes on with operations that may have waited for others. */
export function advanceOthers(step: Step): void {
  const { tree } = step
  if (tree.strategy !== 'dependents' || tree.operations.size === 0) return
  for (const operation of tree.operations) if (operation.step === 'starting') advance(step, operation)
}

/** Whether everybody is at rest; asks the next one to be. */
function rested(step: Step, operation: Operation): boolean {
  for (let m = operation.rest.at(-1); m !== undefined; m = operation.rest.at(-1)) {
    const back = operation.kind === 'restart' && m.facts.restart !== 'temporary'
    if (m.standing !== 'absent' && !(m.standing === 'held' && back)) {
      if (m.standing !== 'stopping' && m.standing !== 'holding') settle(step, operation, m, back)
      return false
    }
    operation.rest.pop()
    if (back || operation.discard) continue
    release(operation, m)
    dropIfDone(step, m)
  }
  return true
}

/** Asks a child to come to rest: in place where it comes back, for good where it does not. */
function settle(step: Step, operation: Operation, member: Member, back: boolean): void {
  // Whoever may not clean up has to be killed, and a killed one is gone; one that failed has nothing left to be cut off.
  if (!back || (member.facts.shutdown === 'kill' && member.standing !== 'failed')) return stop(step, member)
  member.standing = 'holding'
  step.out.push({ type: 'hold', id: member.id, cause: operation.cause })
}

/** Asks a child to stop, for good. */
export function stop(step: Step, member: Member): void {
  const failed = member.standing === 'failed'
  member.standing = 'stopping'
  step.out.push({ type: 'stop', id: member.id, reason: failed ? 'failure' : 'shutdown', cause: failed ? member.cause : undefined })
}

/** Takes a child that is gone for good off the books, where its kind says so. */
export function dropIfDone(step: Step, member: Member): void {
  const { tree } = step
  if (member.standing === 'absent' && (member.facts.restart === 'temporary' || tree.strategy === 'simple-one-for-one')) forget(step, member)
}

export function forget(step: Step, member: Member): void {
  if (!step.tree.members.has(member.id)) return
  leave(step.tree, member)
  step.out.push({ type: 'forget', id: member.id })
}

function release(operation: Operation, member: Member): void {
  operation.members.delete(member)
  if (member.operation === operation) member.operation = undefined
}

/** Takes children out of an operation, which then goes on without them. */
export function withdraw(operation: Operation, members: readonly Member[]): void {
  const leaving = new Set(members)
  for (const m of leaving) release(operation, m)
  operation.rest = operation.rest.filter((m) => !leaving.has(m))
  operation.start = operation.start.filter((m) => !leaving.has(m))
}

/** Ends an operation that waits, because another takes over its children. */
export function cancel(step: Step, operation: Operation): void {
  step.out.push({ type: 'unwait', operation })
  close(step.tree, operation)
}

function finish(step: Step, operation: Operation): void {
  const { kind, request, failure, discard, members } = operation
  const [member] = members
  close(step.tree, operation)
  if (kind === 'boot') step.out.push({ type: 'booted' })
  if (failure !== undefined && discard && member !== undefined) forget(step, member)
  if (request === undefined) return
  answer(step, request, failure === undefined ? { ok: true } : { ok: false, reason: 'start-failed', cause: failure.cause })
}

function close(tree: Tree, operation: Operation): void {
  tree.operations.delete(operation)
  for (const m of operation.members) if (m.operation === operation) m.operation = undefined
}

export function answer(step: Step, request: number, outcome: Outcome): void {
  step.out.push({ type: 'answer', request, outcome })
}

/** Stops everybody, youngest first, for a purpose that follows when all are gone. */
export function beginClosing(step: Step, purpose: Closing['purpose']): void {
  const { tree } = step
  for (const operation of tree.operations) {
    if (operation.step === 'waiting') step.out.push({ type: 'unwait', operation })
    if (operation.request !== undefined) answer(step, operation.request, { ok: false, reason: 'stopping' })
  }
  for (const entry of tree.later) if (entry.type === 'stop') answer(step, entry.request, { ok: false, reason: 'stopping' })
  tree.operations.clear()
  tree.later = []
  const rest = [...tree.members.values()]
  let alive = 0
  for (const m of rest) {
    m.operation = undefined
    m.exit = undefined
    if (m.standing !== 'absent') alive++
  }
  tree.closing = { purpose, rest, alive }
  // Instances of a template do not depend on each other: there is no order to keep.
  if (tree.strategy === 'simple-one-for-one') for (const m of rest) if (m.standing !== 'absent' && m.standing !== 'stopping') stop(step, m)
  advanceClosing(step)
}

/** Stops the next one, or goes on to what the closing is for. */
export function advanceClosing(step: Step): void {
  const { tree } = step
  const closing = tree.closing!
  if (closing.alive === 0) return closed(step, closing)
  if (tree.strategy === 'simple-one-for-one') return
  for (let m = closing.rest.at(-1); m !== undefined; m = closing.rest.at(-1)) {
    if (m.standing === 'stopping') return
    if (m.standing !== 'absent') return stop(step, m)
    closing.rest.pop()
  }
}

function closed(step: Step, { purpose }: Closing): void {
  if (purpose.type === 'stop') step.out.push({ type: 'closed' })
  else {
    // From here on it is up to the supervisor's own supervisor; should that let it go on, it can.
    step.tree.closing = undefined
    step.out.push(purpose)
  }
}
