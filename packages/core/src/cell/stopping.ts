// The way out: the pending handler, PreStop, the children, PostStop, and then the order in which the world learns of
// it: own watches cleared, unregistered, mailbox drained, watchers told. Each wait is bounded by `stopTimeout`;
// who overruns it is cut off as if killed.

import { on, outcomeOf, quickStop } from '../deciders/phase.ts'
import { EarlyNode } from '../values/behavior.ts'
import { ActorInitializationError, Cancelled } from '../values/errors.ts'
import { type ExitReason, postStop, preStop, type Signal } from '../values/signals.ts'
import type { Cell } from './cell.ts'
import { Context } from './context.ts'
import { drainMailbox } from './draining.ts'
import { Envelope } from './envelope.ts'
import { awaited, hear, hearsSignals } from './hearing.ts'
import { endCalls, endIncarnation, endTimers, interrupt } from './incarnation.ts'
import { closeMiddleware } from './passage.ts'
import { abandon, armStep, disarmStep, isBusy } from './pending.ts'
import { change, infoOf, phaseInfo, rush } from './phase-change.ts'
import { type EndInfo, normalEnd, type PhaseInfo } from './phase-info.ts'
import { clearWatches, tellWatchers } from './watch.ts'

/** Begins to stop; `killed` skips what is pending and PreStop. Repeated, it is a no-op, but a kill hurries a stop. */
export function beginStop(cell: Cell, reason: ExitReason, cause: unknown): void {
  const killed = reason === 'killed'
  const from = cell.phase
  if (outcomeOf(from, killed ? on.kill : on.stop) === 'noop') {
    if (killed && from === 'stopping') overrun(cell)
    return
  }
  if (from === 'running' && reason === 'normal' && cell.extras === undefined && !hearsSignals(cell)) {
    // Nothing to run, nobody to wait for.
    if (cell.queuedMessages === 0 && cell.options.ownMiddleware.length === 0 && rush(cell, quickStop, normalEnd)) return vanish(cell)
    change(cell, on.stop, normalEnd)
    release(cell, normalEnd)
    return
  }
  const info = infoOf(cell, cause)
  info.reason = reason
  info.unstarted = isUnstarted(cell)
  disarmStep(cell)
  change(cell, killed ? on.kill : on.stop, info)
  cell.extras?.group?.left(cell)
  interrupt(cell)
  if (!isBusy(cell)) return enterPreStop(cell)
  if (killed) {
    cutOff(cell)
    enterPreStop(cell)
  } else {
    info.step = 'handler'
    armStep(cell, cell.options.stopTimeout)
  }
}

/** What the stop waited for has come about, or its time is up. */
export function proceedStop(cell: Cell): void {
  if (cell.extras?.step?.fired === true) return overrun(cell)
  const info = phaseInfo(cell)
  if (info.step === 'handler' && !isBusy(cell)) enterPreStop(cell)
}

/** The stop takes too long, or a kill came on top: go on without what it waits for. */
function overrun(cell: Cell): void {
  const info = phaseInfo(cell)
  const step = info.step
  disarmStep(cell)
  if (step === 'children') {
    // Children bound themselves; the handler that hears of one's end does not.
    if (cell.extras?.pending !== undefined) cutOff(cell)
    return
  }
  cutOff(cell)
  if (step === 'post-stop') return finish(cell)
  info.reason = 'killed'
  enterPreStop(cell)
}

/** Abandons the pending call; whatever it still tries through its context is refused from here on. */
export function cutOff(cell: Cell): void {
  const ctx = cell.ctx
  abandon(cell)
  endCalls(cell)
  endTimers(cell)
  if (ctx === undefined) return
  if (ctx.message !== undefined) {
    cell.dispatcher.ledger.failed++
    if (ctx.meta instanceof Envelope) ctx.meta.end('stopped', phaseInfo(cell).cause)
    ctx.message = undefined
  }
  cell.ctx = new Context(cell)
}

function enterPreStop(cell: Cell): void {
  const info = phaseInfo(cell)
  info.step = 'pre-stop'
  if (info.live && info.reason !== 'killed') runEndSignal(cell, preStop, enterChildren)
  else enterChildren(cell)
}

function enterChildren(cell: Cell): void {
  phaseInfo(cell).step = 'children'
  stopChildren(cell)
  if (cell.lane === undefined) awaitChildren(cell)
}

/** Asks all children to stop, at once. */
export function stopChildren(cell: Cell): void {
  for (let c = cell.children?.last; c !== undefined; c = c.previous) c.command({ verb: 'stop', reason: 'shutdown', cause: undefined })
}

/** Goes on once the children are gone. The lane calls this after its signals, so that each ChildStopped was heard. */
export function awaitChildren(cell: Cell): void {
  if (cell.children !== undefined && cell.children.size > 0) return
  const info = phaseInfo(cell)
  info.step = 'post-stop'
  if (!info.live) return finish(cell)
  info.live = false
  runEndSignal(cell, postStop, finish)
}

/** Runs a signal whose failure is logged and counted, and stops nothing. */
export function runEndSignal(cell: Cell, signal: Signal, then: (cell: Cell) => void): void {
  if (!hearsSignals(cell)) return then(cell)
  const { info } = cell
  // A stop that came on top of a restart has its own way on from here.
  const goesOn = (c: Cell): boolean => c.info === info
  let returned: unknown
  try {
    returned = hear(cell, signal, goesOn, (c, ok, cause) => {
      if (!ok) endSignalFailed(c, signal, cause)
      if (!goesOn(c)) return
      disarmStep(c)
      then(c)
    })
  } catch (cause) {
    endSignalFailed(cell, signal, cause)
    return then(cell)
  }
  if (returned !== awaited) return then(cell)
  armStep(cell, stopTimeOf(cell))
}

/** How long the stop waits for user code. */
export function stopTimeOf(cell: Cell): number {
  return cell.dispatcher.host.hurried ? 0 : cell.options.stopTimeout
}

function endSignalFailed(cell: Cell, signal: Signal, cause: unknown): void {
  const host = cell.dispatcher.host
  host.failedEndSignals++
  host.logger.error({ actor: cell.ref.path, cause, signal: signal.type }, 'a stop handler failed; the stop goes on')
}

function finish(cell: Cell): void {
  disarmStep(cell)
  const info = phaseInfo(cell)
  const { initial } = cell
  if (info.unstarted && initial instanceof EarlyNode) initial.early.release()
  release(cell, info)
}

/** The cell is empty of user code. From here on nothing can fail. */
function release(cell: Cell, end: EndInfo): void {
  const { reason, cause } = end
  const { host } = cell.dispatcher
  endIncarnation(cell)
  change(cell, on.cleaned, end)
  clearWatches(cell)
  // Unregister before telling watchers: one of them may respawn this name at once.
  const parent = cell.ref.parent?.cell
  parent?.children?.remove(cell)
  host.unregister(cell)
  for (const hook of cell.extras?.endHooks ?? []) hook()
  if (cell.options.ownMiddleware.length > 0) closeMiddleware(cell)
  drainMailbox(cell, end)
  const unstarted = end.unstarted === true
  change(cell, on.released, reason === 'normal' && cause === undefined && !unstarted ? normalEnd : { reason, cause, unstarted })
  cell.dispatcher.left()
  host.died(cell)
  // Looked up only now: a listener that heard of the end may have begun to watch or wait meanwhile.
  const extras = cell.extras
  if (extras !== undefined) {
    for (let ask = extras.asked; ask !== undefined; ask = extras.asked) ask.end('stopped', cause)
    tellWatchers(cell, extras, reason, cause)
    for (const waiter of extras.startWaiters ?? []) waiter(neverStarted(cell, cause))
    for (const waiter of extras.endWaiters ?? []) waiter({ reason, cause })
    extras.failureLog?.flush()
  }
  cell.extras = undefined
  cell.initial = undefined
  if (parent !== undefined) childEnded(parent, cell, end)
  extras?.keeper?.ended(cell, end)
}

/** What is left of `release` for one whose end is in nobody's way. */
function vanish(cell: Cell): void {
  const { dispatcher, ref } = cell
  const parent = ref.parent?.cell
  cell.ctx = undefined
  parent?.children?.remove(cell)
  dispatcher.left()
  dispatcher.host.died(cell)
  if (parent !== undefined) childEnded(parent, cell, normalEnd)
}

/** Whether no incarnation has come up so far. */
function isUnstarted(cell: Cell): boolean {
  return cell.phase === 'created' || cell.extras?.neverUp === true || (cell.phase === 'starting' && !phaseInfo(cell).again)
}

/** What whoever waits for the start of an actor is told that ended without one. */
export function neverStarted(cell: Cell, cause: unknown): ActorInitializationError {
  if (cause instanceof ActorInitializationError) return cause
  return new ActorInitializationError(cell.ref.path, cause ?? new Cancelled('The start'))
}

function childEnded(parent: Cell, child: Cell, end: EndInfo): void {
  const waits = parent.phase === 'stopping' || parent.phase === 'restarting'
  if (parent.ref.parent !== undefined) {
    const { reason, cause } = end
    parent.signal(
      cause === undefined ? { type: 'ChildStopped', child: child.ref, reason } : { type: 'ChildStopped', child: child.ref, reason, cause },
    )
  }
  if (waits && parent.children?.size === 0 && (parent.info as PhaseInfo).step === 'children') parent.command({ verb: 'proceed' })
}
