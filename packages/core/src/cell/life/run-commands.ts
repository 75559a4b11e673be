// Works off the system lane: commands first, in order; then signals, as long as the phase takes them and no handler is
// pending. What must wait stays in the lane.

import { beginRestart, goOnClearing, holdRestart, isReady } from './restarting.ts'
import { on, outcomeOf, takesSignals } from '../../deciders/phase.ts'
import { unhandled } from '../../values/behavior.ts'
import { DeathPact } from '../../values/errors.ts'
import type { Signal } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { awaitChildren, boundWait, overrun } from './ending.ts'
import { goOnEndingChildren } from './ending-children.ts'
import { fail, failEscalated, retryDelay } from './failing.ts'
import { followSignal } from './outcome.ts'
import { hear, hearsSignals, isUnhandled } from './hearing.ts'
import { change } from './phase-change.ts'
import { endingOf, infoIn, isLive, Suspended } from './phase-info.ts'
import { relaunch, startOverrun } from './starting.ts'
import { isStepOverdue } from './step-timer.ts'
import { beginKill, beginStop, proceedRelease } from './stopping.ts'
import type { Command, SystemLane } from './commands.ts'
import { resumeEscalated } from './escalated-children.ts'

/** What a message earns at a share of 0: a signal for every so many, so that signals are late but not lost. */
const leastEarned = 1 / 64

/** Performs what is in the lane and can be done now. False: the slice is over, and the rest must wait. */
export function runLane(cell: Cell): boolean {
  let going = true
  if (cell.options.systemShare < 100) earnSignals(cell)
  for (;;) {
    const lane = cell.lane
    if (lane === undefined) return going
    lane.afterwards?.run(cell, lane)
    if (lane.deferred.length > 0 && arrived(cell)) {
      const deferred = lane.deferred
      lane.deferred = []
      for (const command of deferred) perform(cell, lane, command)
      continue
    }
    const command = lane.commands.shift()
    if (command !== undefined) {
      perform(cell, lane, command)
      // More than fits a slice, or a start that failed at once and is to be made again at once: others have their turn in between.
      if ((command.verb === 'next-slice' || command.verb === 'relaunch') && lane.commands.size > 0 && !arrived(cell)) return false
      continue
    }
    const signal = signalsFlow(cell) && maySignal(cell, lane) ? lane.signals.shift() : undefined
    if (signal !== undefined) {
      deliver(cell, signal)
      going = cell.dispatcher.spend(1)
      if (!going && lane.signals.size > 0) return false
      continue
    }
    if (atChildren(cell)) awaitChildren(cell)
    if (lane.commands.size === 0) {
      if (lane.signals.size === 0 && lane.deferred.length === 0 && lane.afterwards === undefined && cell.extras?.lane === lane) {
        cell.extras.lane = undefined
        cell.dispatcher.giveLane(lane)
      }
      return going
    }
  }
}

/** Each message earns some signals, never more than one round of them. */
function earnSignals(cell: Cell): void {
  const share = cell.options.systemShare
  const each = Math.max(share / (100 - share), leastEarned)
  const extras = cell.ensureExtras()
  extras.signalCredit = Math.min(extras.signalCredit + each, Math.max(each, 1))
}

/** With a share below 100, signals are paid for as long as there are messages that could be handled instead. */
function maySignal(cell: Cell, lane: SystemLane): boolean {
  if (cell.options.systemShare >= 100 || lane.signals.size === 0 || cell.queuedMessages === 0 || !cell.canHandle()) return true
  const extras = cell.extras!
  if (extras.signalCredit < 1) return false
  extras.signalCredit--
  return true
}

/** Whether another turn would find something to do here. */
export function laneReady(cell: Cell, lane: SystemLane): boolean {
  return (
    lane.commands.size > 0 ||
    (lane.signals.size > 0 && signalsFlow(cell)) ||
    (lane.deferred.length > 0 && arrived(cell)) ||
    lane.afterwards?.isDue(cell) === true
  )
}

/** Whether signal handlers may run now. A stopping actor hears its children end, but nothing after PostStop. */
function signalsFlow(cell: Cell): boolean {
  if (cell.extras?.pending !== undefined) return false
  // One that never came up has no handler, or only that of an incarnation before it.
  return cell.phase === 'stopping' ? atChildren(cell) && isLive(cell) : takesSignals(cell.phase)
}

function atChildren(cell: Cell): boolean {
  return infoIn(cell, 'stopping')?.step === 'children' && cell.extras?.pending === undefined
}

function arrived(cell: Cell): boolean {
  return cell.phase === 'running' || cell.phase === 'suspended'
}

function perform(cell: Cell, lane: SystemLane, command: Command): void {
  switch (command.verb) {
    case 'stop':
      return beginStop(cell, command.reason, command.cause, command.above)
    case 'kill':
      return beginKill(cell, command.below === true)
    case 'escalated':
      return failEscalated(cell, command.child, command.cause)
    case 'fail':
      return fail(cell, command.cause)
    case 'children-gone':
      // One that stops hears its ChildStopped signals first: behind them the lane looks by itself.
      if (infoIn(cell, 'restarting')?.step === 'children') awaitChildren(cell)
      return
    case 'step-timeout':
      if (isStepOverdue(cell)) stepOverrun(cell)
      return
    case 'relaunch':
      if (isReady(cell)) relaunch(cell)
      return
    case 'next-slice':
      return goOn(cell)
    default:
      return direct(cell, lane, command)
  }
}

function stepOverrun(cell: Cell): void {
  const step = endingOf(cell)?.step
  if (cell.phase === 'starting') startOverrun(cell)
  else if (step === 'backoff') relaunch(cell)
  else if (step !== undefined) overrun(cell)
}

/** Goes on with what was too much for one slice. */
function goOn(cell: Cell): void {
  const step = endingOf(cell)?.step
  if (cell.phase === 'stopped') proceedRelease(cell)
  else if (step === 'children') goOnEndingChildren(cell)
  else if (step === 'clearing') goOnClearing(cell)
}

type Directing = Extract<Command, { verb: 'suspend' | 'resume' | 'restart' | 'hold' }>

function direct(cell: Cell, lane: SystemLane, command: Directing): void {
  const holds = command.verb === 'hold'
  const outcome = outcomeOf(cell.phase, on[holds ? 'restart' : command.verb])
  if (outcome === 'noop') {
    const info = infoIn(cell, 'restarting')
    if (holds && info !== undefined) holdRestart(cell, info)
    return
  }
  if (outcome === 'defer') {
    lane.deferred.push(command)
    return
  }
  if (holds || command.verb === 'restart') {
    // Seen now and not when it was told to: it may have been on its way then, with the suspension to come.
    const suspended = command.along === true ? infoIn(cell, 'suspended')?.reason : undefined
    beginRestart(cell, command.cause, holds ? 'held' : command.delay, command.above)
    if (suspended !== undefined) cell.command({ verb: 'suspend', reason: suspended })
    return
  }
  if (command.verb === 'resume') {
    const failed = infoIn(cell, 'failed')
    // Its parent failed and went on twice meanwhile; one that is suspended by now was not meant.
    if (failed === undefined && command.along === true) return
    // Somebody's word, not its parent's: it also takes back a suspension that waits.
    if (command.along !== true) lane.deferred = lane.deferred.filter((waiting) => waiting.verb !== 'suspend')
    // There is no behavior to go on with: the start is made again.
    if (failed?.from === 'starting') return beginRestart(cell, failed.cause, retryDelay(cell))
    change(cell, on.resume, undefined)
    if (failed !== undefined) resumeEscalated(cell)
    return
  }
  change(cell, on.suspend, new Suspended(cell, command.reason))
}

function deliver(cell: Cell, signal: Signal): void {
  if (cell.extras?.metrics !== undefined) cell.extras.metrics.signals++
  let deathPact = false
  if (signal.type === 'Terminated') {
    const watch = cell.extras?.watching?.get(signal.ref)
    // A `watchWith` that replaced the watch is told by its message; this is what the old one left behind.
    if (watch === undefined || !watch.ended || watch.message !== undefined) return
    cell.extras!.watching!.delete(signal.ref)
    deathPact = watch.deathPact
  } else if (signal.type === 'ReceiveTimeout' && cell.extras?.receiveTimer?.takeDue() !== true) return
  // Stopped between two incarnations, during a backoff: there is nobody to tell.
  if (cell.ctx === undefined) return
  // Most parents do not care who of their children ended: nothing is made for it.
  if (!hearsSignals(cell)) return heard(cell, signal, deathPact, unhandled)
  const { info } = cell
  const waits = hear(
    cell,
    signal,
    (c) => c.info === info || arrived(c),
    (c, ok, value) => {
      if (ok) heard(c, signal, deathPact, value)
      else fail(c, value)
    },
  )
  if (waits && cell.phase === 'stopping') boundWait(cell)
}

/** What follows from a signal that everybody heard who was to. */
function heard(cell: Cell, signal: Signal, deathPact: boolean, answer: unknown): void {
  if (!isUnhandled(answer)) {
    followSignal(cell, answer, signal.type)
    // A setup that it returned, and that is to be waited for.
    if (cell.phase === 'stopping' && cell.extras?.pending !== undefined) boundWait(cell)
    return
  }
  // Being replaced meanwhile, it was not asked to the end.
  if (signal.type !== 'Terminated' || cell.phase === 'restarting') return
  if (deathPact) return fail(cell, new DeathPact(cell.ref.path, signal.ref.path))
  cell.host.logger.warn({ actor: cell.ref.path, terminated: signal.ref.path, reason: signal.reason }, 'Terminated was not handled')
}
