// From one incarnation to the next: PreRestart, the children, PostStop, the backoff, and a start from the behavior
// given to `spawn`. Name, ref, mailbox, stash, watches and watchers stay.

import type { Signal } from '../../values/signals.ts'
import { on, outcomeOf } from '../../deciders/phase.ts'
import type { Cell } from '../turn/cell.ts'
import { endIncarnation } from './incarnation.ts'
import { armStep, disarmStep } from './step-timer.ts'
import { Ending, infoIn } from './phase-info.ts'
import { clearMailbox } from './draining.ts'
import { beginEnding } from './ending.ts'
import type { LocalRef } from '../ref/local-ref.ts'
import { unwatch } from '../ref/watch.ts'

/** What an actor carries that is between two incarnations. */
export class Restarting extends Ending {
  /** Milliseconds to wait before the next incarnation, or that its keeper says when. */
  declare delay: number | 'held'
  /** Messages that are still to be cleared away, and pills found among them. */
  uncleared = 0
  pills = 0
  constructor(cell: Cell, cause: unknown, delay: number | 'held') {
    super(cell, cause)
    this.delay = delay
  }
  get signal(): Signal {
    return { type: 'PreRestart', cause: this.cause }
  }
  override endsChildren(cell: Cell): boolean {
    return cell.options.restartChildren === 'stop'
  }
  cutShort(): boolean {
    return this.step !== 'handler'
  }
  ended(cell: Cell): void {
    endIncarnation(cell)
    this.step = 'clearing'
    if (cell.options.restartMailbox === 'clear') this.uncleared = cell.queuedMessages
    goOnClearing(cell)
  }
}

/** Ends this incarnation, with `above` as the deadline of whoever is above, and, `delay` ms later or when it is let go, begins the next. */
export function beginRestart(cell: Cell, cause: unknown, delay: number | 'held', above: number = Infinity): void {
  if (outcomeOf(cell.phase, on.restart) !== 'restarting') return
  // One that was asked for while it started, and waited, has come about with this.
  const lane = cell.lane
  if (lane !== undefined) lane.deferred = lane.deferred.filter((waiting) => waiting.verb !== 'restart' && waiting.verb !== 'hold')
  beginEnding(cell, on.restart, new Restarting(cell, cause, delay), above)
}

/**
 * News of children that went with this incarnation means nothing to the next: it may have others of the same names. Their watches end
 * too, which silences what is queued of them.
 */
function forgetChildren(cell: Cell): void {
  for (const ref of cell.extras?.watching?.keys() ?? []) if ((ref as LocalRef).parent === cell.ref) unwatch(cell, ref)
  const signals = cell.lane?.signals
  for (let left = signals?.size ?? 0; left > 0; left--) {
    const signal = signals!.shift()!
    if (signal.type !== 'ChildStopped' && signal.type !== 'ChildFailed') signals!.push(signal)
  }
}

/** Clears away what is left to clear, as far as the slice goes, and then waits for the time of the next incarnation. */
export function goOnClearing(cell: Cell): void {
  const info = infoIn(cell, 'restarting')!
  if (!clearMailbox(cell, info)) return cell.command({ verb: 'next-slice' })
  if (info.endsChildren(cell)) forgetChildren(cell)
  info.step = 'backoff'
  const group = cell.extras?.group
  if (group !== undefined) return group.ready(cell)
  // Also without a delay the next incarnation begins from the lane: a start that keeps failing must not recurse.
  if (info.delay === 'held') cell.extras!.keeper?.held(cell)
  else if (info.delay > 0) armStep(cell, info.delay)
  else cell.command({ verb: 'relaunch' })
}

/** Whether the next incarnation may begin: not where the backoff of a later restart has begun meanwhile, or its keeper holds it. */
export function isReady(cell: Cell): boolean {
  const info = infoIn(cell, 'restarting')
  return info?.step === 'backoff' && info.delay === 0 && cell.extras?.group === undefined
}

/** Makes a restart that is under way wait for its keeper. */
export function holdRestart(cell: Cell, info: Restarting): void {
  info.delay = 'held'
  if (info.step !== 'backoff') return
  disarmStep(cell)
  cell.extras!.keeper?.held(cell)
}

/** Lets a cell that its keeper held begin its next incarnation. */
export function releaseHeld(cell: Cell): void {
  const info = infoIn(cell, 'restarting')
  if (info?.step !== 'backoff') return
  info.delay = 0
  cell.command({ verb: 'relaunch' })
}
