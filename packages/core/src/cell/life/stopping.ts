// The way out: the pending handler, PreStop, the children, PostStop, and then the order in which the world learns of
// it: own watches cleared, unregistered, mailbox drained, watchers told. A stop waits for user code up to its deadline;
// a kill waits for none, and takes all below with it.

import { bound, boundWait, cutOff, endChildren, goOnEndingChildren, paced, portion, runEndSignal, tighten } from './ending.ts'
import { drainMailbox } from './draining.ts'
import { on, outcomeOf, quickStop } from '../../deciders/phase.ts'
import { ActorInitializationError, Cancelled } from '../../values/errors.ts'
import { type ExitReason, postStop, preStop } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { hearsSignals } from './hearing.ts'
import { endIncarnation, interrupt } from './incarnation.ts'
import { disarmStep, isBusy } from './pending.ts'
import { change, infoOf, phaseInfo, rush } from './phase-change.ts'
import { type EndInfo, normalEnd, type PhaseInfo } from './phase-info.ts'
import { clearWatches, tellWatchers } from '../ref/watch.ts'

/** Begins to stop, with `above` as the deadline of whoever is above. Repeated, it is a no-op, but for a tighter deadline. */
export function beginStop(cell: Cell, reason: ExitReason, cause: unknown, above: number = Infinity): void {
  const from = cell.phase
  if (outcomeOf(from, on.stop) === 'noop') {
    if (from === 'stopping') tighten(cell, above)
    return
  }
  if (from === 'running' && reason === 'normal' && cell.extras === undefined && !hearsSignals(cell)) {
    // Nothing to run, nobody to wait for.
    if (cell.queuedMessages === 0 && cell.options.ownMiddleware.length === 0 && rush(cell, quickStop, normalEnd)) return vanish(cell)
    change(cell, on.stop, normalEnd)
    release(cell, normalEnd)
    return
  }
  const info = enterStopping(cell, reason, cause)
  bound(cell, info, above)
  if (!isBusy(cell)) return enterPreStop(cell)
  info.step = 'handler'
  boundWait(cell)
}

/** Ends a cell and all below it without waiting for user code: no PreStop, and PostStop begins once each, children first. */
export function beginKill(cell: Cell, below: boolean): void {
  const from = cell.phase
  if (outcomeOf(from, on.kill) !== 'noop') {
    enterStopping(cell, below ? 'shutdown' : 'killed', undefined).hurry = true
    if (isBusy(cell)) cutOff(cell)
    return enterChildren(cell)
  }
  if (from !== 'stopping') return
  const info = phaseInfo(cell)
  if (!below) info.reason = 'killed'
  const first = !info.hurry
  info.hurry = true
  overrun(cell)
  if (first && cell.phase === 'stopping' && info.step === 'children') endChildren(cell)
}

function enterStopping(cell: Cell, reason: ExitReason, cause: unknown): PhaseInfo {
  const info = infoOf(cell, cause)
  info.reason = reason
  info.unstarted = isUnstarted(cell)
  disarmStep(cell)
  change(cell, on.stop, info)
  cell.extras?.group?.left(cell)
  interrupt(cell)
  return info
}

/** What the stop waited for has come about, or its time is up. */
export function proceedStop(cell: Cell): void {
  if (cell.extras?.step?.fired === true) return overrun(cell)
  const info = phaseInfo(cell)
  if (info.step === 'handler' && !isBusy(cell)) enterPreStop(cell)
  else if (info.step === 'children') goOnEndingChildren(cell)
}

/** The stop takes too long, or a kill came on top: go on without what it waits for. */
function overrun(cell: Cell): void {
  const info = phaseInfo(cell)
  const step = info.step
  disarmStep(cell)
  // What it waits for happens elsewhere: it has been told there, and comes to an end by itself.
  if (isBusy(cell) && cell.hasten()) return
  if (step === 'children') {
    // Children bound themselves; the handler that hears of one's end does not.
    if (cell.extras?.pending !== undefined) cutOff(cell)
    return
  }
  cutOff(cell)
  if (step === 'post-stop') return finish(cell)
  info.reason = info.hurry ? info.reason : 'killed'
  enterChildren(cell)
}

function enterPreStop(cell: Cell): void {
  const info = phaseInfo(cell)
  info.step = 'pre-stop'
  if (info.live) runEndSignal(cell, preStop, enterChildren)
  else enterChildren(cell)
}

function enterChildren(cell: Cell): void {
  phaseInfo(cell).step = 'children'
  endChildren(cell)
  if (cell.lane === undefined) awaitChildren(cell)
}

/** Goes on once the children are gone. The lane calls this after its signals, so that each ChildStopped was heard. */
export function awaitChildren(cell: Cell): void {
  if (cell.children !== undefined && cell.children.size > 0) return
  const info = phaseInfo(cell)
  info.step = 'post-stop'
  // One that is elsewhere must end there too, between two incarnations as well.
  if (!info.live && !cell.endsElsewhere) return finish(cell)
  info.live = false
  runEndSignal(cell, postStop, finish)
}

function finish(cell: Cell): void {
  disarmStep(cell)
  const info = phaseInfo(cell)
  if (info.unstarted) cell.initial?.early?.release()
  release(cell, info)
}

/** The cell is empty of user code. From here on nothing can fail. */
function release(cell: Cell, end: EndInfo): void {
  endIncarnation(cell)
  change(cell, on.cleaned, end)
  clearWatches(cell)
  // Unregister before telling watchers: one of them may respawn this name at once.
  cell.ref.parent?.cell.children?.free(cell)
  cell.host.unregister(cell)
  for (const hook of cell.extras?.endHooks ?? []) hook()
  cell.closeMiddleware()
  proceedRelease(cell)
}

/** Puts away what is left in mailbox and stash, ends what it was asked, a slice at a time, and then tells the world. */
export function proceedRelease(cell: Cell): void {
  const end = cell.end!
  if (!drainMailbox(cell, end) || !endAsked(cell, end) || !tellMany(cell, end)) return cell.command({ verb: 'proceed' })
  const { reason, cause } = end
  const { host } = cell
  const parent = cell.ref.parent?.cell
  parent?.children?.remove(cell)
  const unstarted = end.unstarted === true
  change(cell, on.released, reason === 'normal' && cause === undefined && !unstarted ? normalEnd : { reason, cause, unstarted })
  cell.dispatcher.left()
  host.died(cell)
  // Looked up only now: a listener that heard of the end may have begun to watch or wait meanwhile.
  const extras = cell.extras
  if (extras !== undefined) {
    tellWatchers(cell, extras, reason, cause, Infinity)
    for (const waiter of extras.startWaiters ?? []) waiter(neverStarted(cell, cause))
    for (const waiter of extras.endWaiters ?? []) waiter({ reason, cause })
    extras.failureLog?.fire()
  }
  cell.extras = undefined
  cell.initial = undefined
  if (parent !== undefined) childEnded(parent, cell, end)
  extras?.keeper?.ended(cell, end)
}

/** Ends the questions that it has not answered, as far as the slice goes. False: there are more. */
function endAsked(cell: Cell, { cause }: EndInfo): boolean {
  const { extras } = cell
  const goesOn = paced(cell)
  for (let ask = extras?.asked; ask !== undefined; ask = extras!.asked) {
    if (!goesOn()) return false
    ask.end('stopped', cause)
  }
  return true
}

/** Tells watchers where they are too many for one turn; the last of them hear once it has terminated. False: there are more. */
function tellMany(cell: Cell, { reason, cause }: EndInfo): boolean {
  const { extras, dispatcher } = cell
  while ((extras?.watchers?.size ?? 0) > portion) {
    tellWatchers(cell, extras!, reason, cause, portion)
    if (!dispatcher.look()) return false
  }
  return true
}

/** What is left of `release` for one whose end is in nobody's way. */
function vanish(cell: Cell): void {
  const { dispatcher, ref } = cell
  const parent = ref.parent?.cell
  cell.ctx = undefined
  const siblings = parent?.children
  siblings?.free(cell)
  siblings?.remove(cell)
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
