// From one incarnation to the next: PreRestart, the children, PostStop, the backoff, and a start from the behavior
// given to `spawn`. Name, ref, mailbox, stash, watches and watchers stay.

import { postStop } from '../../values/signals.ts'
import { on, outcomeOf } from '../../deciders/phase.ts'
import type { Cell } from '../turn/cell.ts'
import { endIncarnation, interrupt } from './incarnation.ts'
import { armStep, disarmStep, isBusy } from './pending.ts'
import { change, infoOf, phaseInfo } from './phase-change.ts'
import { clearMailbox } from './draining.ts'
import { bound, boundWait, cutOff, endChildren, goOnEndingChildren, runEndSignal } from './ending.ts'
import { relaunch } from './starting.ts'

/** Ends this incarnation, with `above` as the deadline of whoever is above, and, `delay` ms later, begins the next. */
export function beginRestart(cell: Cell, cause: unknown, delay: number, above: number = Infinity): void {
  if (outcomeOf(cell.phase, on.restart) !== 'restarting') return
  // One that was asked for while it started, and waited, has come about with this.
  const lane = cell.lane
  if (lane !== undefined) lane.deferred = lane.deferred.filter((command) => command.verb !== 'restart')
  const info = infoOf(cell, cause)
  info.delay = delay
  bound(cell, info, above)
  disarmStep(cell)
  change(cell, on.restart, info)
  interrupt(cell)
  if (!isBusy(cell)) return enterPreRestart(cell)
  info.step = 'handler'
  boundWait(cell)
}

/** What the restart waited for has come about, or its time is up. */
export function proceedRestart(cell: Cell): void {
  const info = phaseInfo(cell)
  const late = cell.extras?.step?.fired === true
  // Its incarnation ends elsewhere, where its time is kept as well.
  if (late && isBusy(cell) && cell.hasten()) return disarmStep(cell)
  switch (info.step) {
    case 'handler':
      if (late) {
        disarmStep(cell)
        cutOff(cell)
      }
      if (!isBusy(cell)) enterPreRestart(cell)
      return
    case 'pre-stop':
      if (!late) return
      disarmStep(cell)
      cutOff(cell)
      return enterChildren(cell)
    case 'children':
      goOnEndingChildren(cell)
      return awaitChildren(cell)
    case 'post-stop':
      if (!late) return
      disarmStep(cell)
      cutOff(cell)
      return enterClearing(cell)
    case 'clearing':
      return clear(cell)
    case 'backoff':
      if (!late && (info.delay > 0 || cell.extras?.group !== undefined)) return
      disarmStep(cell)
      return relaunch(cell)
    default:
  }
}

function enterPreRestart(cell: Cell): void {
  const info = phaseInfo(cell)
  disarmStep(cell)
  info.step = 'pre-stop'
  if (info.live) runEndSignal(cell, { type: 'PreRestart', cause: info.cause }, enterChildren)
  else enterChildren(cell)
}

function enterChildren(cell: Cell): void {
  phaseInfo(cell).step = 'children'
  if (cell.options.restartChildren === 'stop') endChildren(cell)
  awaitChildren(cell)
}

function awaitChildren(cell: Cell): void {
  if (cell.options.restartChildren === 'stop' && cell.children !== undefined && cell.children.size > 0) return
  const info = phaseInfo(cell)
  info.step = 'post-stop'
  if (!info.live) return enterClearing(cell)
  info.live = false
  runEndSignal(cell, postStop, enterClearing)
}

/** News of children that went with this incarnation means nothing to the next: it may have others of the same names. */
function forgetChildSignals(cell: Cell): void {
  const signals = cell.lane?.signals
  for (let left = signals?.size ?? 0; left > 0; left--) {
    const signal = signals!.shift()!
    if (signal.type !== 'ChildStopped' && signal.type !== 'ChildFailed') signals!.push(signal)
  }
}

function enterClearing(cell: Cell): void {
  const info = phaseInfo(cell)
  endIncarnation(cell)
  info.step = 'clearing'
  if (cell.options.restartMailbox === 'clear') info.uncleared = cell.queuedMessages
  clear(cell)
}

function clear(cell: Cell): void {
  if (clearMailbox(cell, phaseInfo(cell))) enterBackoff(cell)
  else cell.command({ verb: 'proceed' })
}

function enterBackoff(cell: Cell): void {
  const info = phaseInfo(cell)
  if (cell.options.restartChildren === 'stop') forgetChildSignals(cell)
  info.step = 'backoff'
  const group = cell.extras?.group
  if (group !== undefined) return group.ready(cell)
  // Also without a delay the next incarnation begins from the lane: a start that keeps failing must not recurse.
  if (info.delay === Infinity) cell.extras!.keeper?.held(cell)
  else if (info.delay > 0) armStep(cell, info.delay)
  else cell.command({ verb: 'proceed' })
}

/** Makes a restart that is under way wait for its keeper. */
export function holdRestart(cell: Cell): void {
  const info = phaseInfo(cell)
  info.delay = Infinity
  if (info.step !== 'backoff') return
  disarmStep(cell)
  cell.extras!.keeper?.held(cell)
}

/** Lets a cell that its keeper held begin its next incarnation. */
export function releaseHeld(cell: Cell): void {
  if (cell.phase !== 'restarting' || phaseInfo(cell).step !== 'backoff') return
  phaseInfo(cell).delay = 0
  cell.command({ verb: 'proceed' })
}
