// What stopping and restarting have in common: a deadline that is passed down, the children, which are told to end in
// slices, and the signals of the end, whose failure ends nothing else.
//
//   until   when this actor's own time is up: its stopTimeout, from when it began to end
//   above   when the time of those above it is up: by then it is gone, whatever it waits for
//
// Who waits for user code past its deadline is cut off; who merely waits for its turn ends in an orderly way.

import { endless } from '../../values/options.ts'
import type { Signal } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { loseMessage } from '../message/losing.ts'
import { hear, hearsSignals } from './hearing.ts'
import { endCalls, endTimers } from './incarnation.ts'
import { abandon, armStep, type Continuation, disarmStep, isBusy } from './pending.ts'
import { phaseInfo } from './phase-change.ts'
import type { PhaseInfo } from './phase-info.ts'
import type { Command } from './commands.ts'

/** What PostStop still has, at most, once the deadline has passed. */
const lastGrace = 1000
/** How many children are told to end, or messages put away, between two looks at the clock. */
export const portion = 64

/** For each of many: whether the slice lets one go on. The clock is read once for each portion. */
export function paced({ dispatcher }: Cell): () => boolean {
  let left = portion
  return () => {
    if (--left > 0) return true
    left = portion
    return dispatcher.look()
  }
}

/** Sets the deadline of an end that begins now. */
export function bound(cell: Cell, info: PhaseInfo, above: number): void {
  info.above = above
  info.until = cell.host.runtime.now() + cell.options.stopTimeout
}

/** Whoever is above has less time than was thought; so have those below. */
export function tighten(cell: Cell, above: number): void {
  const info = phaseInfo(cell)
  if (above >= info.above) return
  info.above = above
  // Only made shorter: bounded anew, a PostStop would have its last moment twice.
  if (isBusy(cell) && above < (cell.extras?.step?.at ?? Infinity)) armStep(cell, Math.max(0, above - cell.host.runtime.now()))
  if (info.step === 'children') endChildren(cell)
}

/** An actor above one that declares to take as long as it needs waits for it, unless it was given a time of its own. */
function isPatient(cell: Cell): boolean {
  return cell.extras?.aboveEndless === true && !cell.options.ownStopTimeout
}

/** Notes above an actor that it takes as long as it needs; where those above are elsewhere, the keeper tells them. */
export function declareEndless(parent: Cell): void {
  for (let cell: Cell | undefined = parent; cell !== undefined && !cell.more.aboveEndless; cell = cell.ref.parent?.cell) {
    cell.more.aboveEndless = true
    cell.more.keeper?.endless?.(cell)
  }
}

/** The deadline for those below; its own time is not for one that takes as long as it needs, unless it was given. */
export function deadlineBelow(cell: Cell, child?: Cell): number {
  const { above, until } = phaseInfo(cell)
  const waits = child !== undefined && !cell.options.ownStopTimeout && (child.options.stopTimeout >= endless || child.extras?.aboveEndless === true)
  return waits ? above : Math.min(above, until)
}

/** Bounds the wait for user code of an actor that ends. */
export function boundWait(cell: Cell): void {
  const info = phaseInfo(cell)
  const { host } = cell
  const now = host.runtime.now()
  // An actor that waited for others past its own time, or comes to its PostStop late, still has a moment.
  const graced = info.step === 'post-stop' || isPatient(cell)
  const own = graced ? Math.max(info.until, now + Math.min(cell.options.stopTimeout, lastGrace)) : info.until
  const limit = info.hurry || host.hurried ? now : Math.min(own, info.above)
  if (limit < endless) armStep(cell, Math.max(0, limit - now))
  else disarmStep(cell)
}

/** Abandons the pending call; whatever it still tries through its context is refused from here on. */
export function cutOff(cell: Cell): void {
  const ctx = cell.ctx
  abandon(cell)
  endCalls(cell)
  endTimers(cell)
  if (ctx === undefined) return
  loseMessage(ctx, 'stopped', phaseInfo(cell).cause)
  cell.ctx = cell.host.makeContext(cell)
}

/** Tells all children to end, the youngest first, as many at a time as the slice allows. */
export function endChildren(cell: Cell): void {
  const { children } = cell
  if (children === undefined) return
  children.cursor = children.last
  goOnEndingChildren(cell)
}

/** Goes on where the slice was over. */
export function goOnEndingChildren(cell: Cell): void {
  const { children } = cell
  if (children?.cursor === undefined) return
  const { hurry } = phaseInfo(cell)
  let command: Command = { verb: 'kill', below: true }
  const goesOn = paced(cell)
  for (let child: Cell | undefined = children.cursor; child !== undefined; child = children.cursor) {
    children.cursor = child.previous
    const above = deadlineBelow(cell, child)
    // Most have the same.
    if (!hurry && !('above' in command && command.above === above)) command = { verb: 'stop', reason: 'shutdown', cause: undefined, above }
    child.command(command)
    if (goesOn()) continue
    if (children.cursor !== undefined) cell.command({ verb: 'proceed' })
    return
  }
}

/** Runs a signal whose failure is logged and counted, and stops nothing. */
export function runEndSignal(cell: Cell, signal: Signal, then: (cell: Cell) => void): void {
  if (!hearsSignals(cell)) return then(cell)
  const info = phaseInfo(cell)
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
