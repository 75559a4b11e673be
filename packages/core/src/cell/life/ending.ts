// The end of an incarnation, which stopping and restarting have in common. Each step may wait, and each wait is bounded:
//
//   handler ─→ pre-stop ─→ children ─→ post-stop ─→ what comes after: the end of the actor, or its next incarnation
//
//   until   when this actor's own time is up: its stopTimeout, from when it began to end
//   above   when the time of those above it is up: by then it is gone, whatever it waits for
//
// One that waits for user code past its deadline is cut off; one that merely waits for its turn ends in an orderly way.

import type { Transition } from '../../deciders/phase.ts'
import { endless } from '../../values/options.ts'
import { postStop, type Signal } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { endChildren, isPatient } from './ending-children.ts'
import { hear, hearsSignals } from './hearing.ts'
import { endCalls, endTimers, interrupt } from './incarnation.ts'
import { abandon, type Continuation, isBusy } from './pending.ts'
import { change } from './phase-change.ts'
import { type Ending, endingOf } from './phase-info.ts'
import { armStep, disarmStep, isStepOverdue } from './step-timer.ts'

/** What PostStop still has, at most, once the deadline has passed. */
const lastGrace = 1000

/** Begins to end, with `above` as the deadline of whoever is above. */
export function beginEnding(cell: Cell, event: Transition, info: Ending, above: number): void {
  info.above = above
  info.until = cell.host.runtime.now() + cell.options.stopTimeout
  enterEnding(cell, event, info)
  if (isBusy(cell)) boundWait(cell)
  else enterPreStop(cell)
}

/** Enters the phase, and asks what runs to come to an end. */
export function enterEnding(cell: Cell, event: Transition, info: Ending): void {
  disarmStep(cell)
  change(cell, event, info)
  interrupt(cell)
}

/** User code that was waited for has settled, which this may have waited for. */
export function resumeEnding(cell: Cell): void {
  const step = endingOf(cell)?.step
  if (step === 'handler') {
    if (isStepOverdue(cell)) overrun(cell)
    else if (!isBusy(cell)) enterPreStop(cell)
  } else if (step === 'children' && cell.extras?.pending === undefined) {
    // The handler of a ChildStopped: with an empty lane nothing else would notice that the last child has gone.
    disarmStep(cell)
    if (cell.lane === undefined) awaitChildren(cell)
  }
}

/** The end takes too long, or a kill came on top: go on without what it waits for. */
export function overrun(cell: Cell): void {
  const info = endingOf(cell)!
  disarmStep(cell)
  // What it waits for happens elsewhere: it has been told there, and comes to an end by itself.
  if (isBusy(cell) && cell.hasten()) return
  if (info.step === 'children') {
    // Children bound themselves; the handler that hears of one's end does not.
    if (cell.extras?.pending !== undefined) cutOff(cell)
    return
  }
  cutOff(cell)
  if (info.step === 'post-stop') info.ended(cell)
  else if (info.cutShort()) enterChildren(cell)
  else enterPreStop(cell)
}

function enterPreStop(cell: Cell): void {
  const info = endingOf(cell)!
  disarmStep(cell)
  info.step = 'pre-stop'
  if (info.live) runEndSignal(cell, info, info.signal, enterChildren)
  else enterChildren(cell)
}

export function enterChildren(cell: Cell): void {
  const info = endingOf(cell)!
  info.step = 'children'
  if (info.endsChildren(cell)) endChildren(cell)
  // One that stops hears each ChildStopped first: its lane goes on behind them.
  if (cell.lane === undefined || cell.phase === 'restarting') awaitChildren(cell)
}

/** Goes on once the children are gone. */
export function awaitChildren(cell: Cell): void {
  const info = endingOf(cell)!
  if (info.endsChildren(cell) && cell.children !== undefined && cell.children.size > 0) return
  info.step = 'post-stop'
  // One that is elsewhere must end there too, between two incarnations as well.
  if (!info.live && !cell.endsElsewhere) return info.ended(cell)
  info.live = false
  runEndSignal(cell, info, postStop, (c) => info.ended(c))
}

/** Runs a signal whose failure is logged and counted, and stops nothing. */
function runEndSignal(cell: Cell, info: Ending, signal: Signal, then: (cell: Cell) => void): void {
  if (!hearsSignals(cell)) return then(cell)
  const { host } = cell
  // A stop that came on top of a restart has its own way on from here.
  const goesOn = (c: Cell): boolean => c.info === info
  // Killed: its promise is looked at, and nobody waits for it, unless it is the end of an actor that runs elsewhere.
  const waits = !info.hurry || cell.endsElsewhere
  const failed = (cause: unknown): void => {
    host.failedEndSignals++
    host.logger.error({ actor: cell.ref.path, cause, signal: signal.type }, 'a stop handler failed; the stop goes on')
  }
  let later = false
  const goOn: Continuation = (c, ok, cause) => {
    if (!ok) failed(cause)
    if (later && !goesOn(c)) return
    if (later) disarmStep(c)
    then(c)
  }
  later = hear(cell, signal, goesOn, goOn, waits ? undefined : failed)
  if (!later) return
  // One that ends elsewhere is hastened there, and not left alone.
  if (info.hurry && !host.hurried) disarmStep(cell)
  else boundWait(cell)
}

/** Bounds the wait for user code of an actor that ends. */
export function boundWait(cell: Cell): void {
  const info = endingOf(cell)!
  const { host } = cell
  const now = host.runtime.now()
  // An actor that waited for others past its own time, or comes to its PostStop late, still has a moment.
  const graced = info.step === 'post-stop' || isPatient(cell)
  const own = graced ? Math.max(info.until, now + Math.min(cell.options.stopTimeout, lastGrace)) : info.until
  const limit = info.hurry || host.hurried ? now : Math.min(own, info.above)
  if (limit < endless) armStep(cell, Math.max(0, limit - now))
  else disarmStep(cell)
}

/** Whoever is above has less time than was thought; so have those below. */
export function tighten(cell: Cell, above: number): void {
  const info = endingOf(cell)!
  if (above >= info.above) return
  info.above = above
  // Only made shorter: bounded anew, a PostStop would have its last moment twice.
  if (isBusy(cell) && above < (cell.extras?.stepTimer?.at ?? Infinity)) armStep(cell, Math.max(0, above - cell.host.runtime.now()))
  if (info.step === 'children') endChildren(cell)
}

/** Abandons the pending call; whatever it still tries through its context is refused from here on. */
export function cutOff(cell: Cell): void {
  const ctx = cell.ctx
  abandon(cell)
  endCalls(cell)
  endTimers(cell)
  if (ctx === undefined) return
  ctx.fail('stopped', cell.info?.cause)
  cell.ctx = cell.host.makeContext(cell)
}
