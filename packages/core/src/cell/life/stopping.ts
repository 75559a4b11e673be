// The way out: the pending handler, PreStop, the children, PostStop, and then the order in which the world learns of
// it: own watches cleared, unregistered, mailbox drained, watchers told. A stop waits for user code up to its deadline;
// a kill waits for none, and takes all below with it.

import { beginEnding, cutOff, enterChildren, enterEnding, overrun, tighten } from './ending.ts'
import { endChildren } from './ending-children.ts'
import { drainMailbox } from './draining.ts'
import { on, outcomeOf, quickStop } from '../../deciders/phase.ts'
import { ActorInitializationError, Cancelled } from '../../values/errors.ts'
import { type ExitReason, preStop, type Signal } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { hearsSignals } from './hearing.ts'
import { endIncarnation } from './incarnation.ts'
import { isBusy } from './pending.ts'
import { disarmStep } from './step-timer.ts'
import { change, rush } from './phase-change.ts'
import { type EndInfo, Ending, endingOf, infoIn, normalEnd } from './phase-info.ts'
import { paced, portion } from './portion.ts'
import { clearWatches, tellWatchers } from '../ref/watch.ts'

/** What an actor carries that stops. */
export class Stopping extends Ending implements EndInfo {
  declare step: Exclude<Ending['step'], 'clearing' | 'backoff'>
  declare reason: ExitReason
  override hurry = false
  /** Whether no incarnation has come up so far. */
  declare readonly unstarted: boolean
  constructor(cell: Cell, reason: ExitReason, cause?: unknown) {
    super(cell, cause)
    this.reason = reason
    this.unstarted = cell.phase === 'created' || cell.extras?.neverUp === true || infoIn(cell, 'starting')?.from === 'created'
  }
  get signal(): Signal {
    return preStop
  }
  cutShort(): boolean {
    if (!this.hurry) this.reason = 'killed'
    return true
  }
  ended(cell: Cell): void {
    disarmStep(cell)
    if (this.unstarted) cell.initial?.early?.release()
    release(cell, this)
  }
}

/** Begins to stop, with `above` as the deadline of whoever is above. Repeated, it is a no-op, but for a tighter deadline. */
export function beginStop(cell: Cell, reason: ExitReason, cause?: unknown, above: number = Infinity): void {
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
  cell.extras?.group?.left(cell)
  beginEnding(cell, on.stop, new Stopping(cell, reason, cause), above)
}

/** Ends a cell and all below it without waiting for user code: no PreStop, and PostStop begins once each, children first. */
export function beginKill(cell: Cell, below: boolean): void {
  const from = cell.phase
  if (outcomeOf(from, on.kill) !== 'noop') {
    const info = new Stopping(cell, below ? 'shutdown' : 'killed')
    info.hurry = true
    cell.extras?.group?.left(cell)
    enterEnding(cell, on.stop, info)
    if (isBusy(cell)) cutOff(cell)
    return enterChildren(cell)
  }
  const info = infoIn(cell, 'stopping')
  if (info === undefined) return
  if (!below) info.reason = 'killed'
  const first = !info.hurry
  info.hurry = true
  overrun(cell)
  if (first && cell.phase === 'stopping' && info.step === 'children') endChildren(cell)
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
  if (!drainMailbox(cell, end) || !endAsked(cell, end) || !tellMany(cell, end)) return cell.command({ verb: 'next-slice' })
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

/** What whoever waits for the start of an actor is told that ended without one. */
export function neverStarted(cell: Cell, cause: unknown): ActorInitializationError {
  if (cause instanceof ActorInitializationError) return cause
  return new ActorInitializationError(cell.ref.path, cause ?? new Cancelled('The start'))
}

function childEnded(parent: Cell, child: Cell, end: EndInfo): void {
  if (parent.ref.parent !== undefined) {
    const { reason, cause } = end
    parent.signal(
      cause === undefined ? { type: 'ChildStopped', child: child.ref, reason } : { type: 'ChildStopped', child: child.ref, reason, cause },
    )
  }
  if (parent.children?.size === 0 && endingOf(parent)?.step === 'children') parent.command({ verb: 'children-gone' })
}
