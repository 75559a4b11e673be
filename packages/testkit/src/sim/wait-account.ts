// How long user code is waited for while an actor starts, stops or restarts: not longer than `startTimeout` or
// `stopTimeout` of itself and of those above that end, and, unless somebody kills the actor, not shorter.

import type { Phase } from '@troupe/core'
import { endingOf } from '@troupe/core/internal'
import { SimCell as CellClass, type SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

/** A handler, signal handler or setup that is waited for. */
export interface Awaited {
  readonly state: string
  readonly what: string
  readonly since: number
}

/** What PostStop has at most once the deadline of the end has passed. */
const lastGrace = 1000

export class WaitAccount {
  readonly #tap: SimTap
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  phased(cell: SimCell, to: Phase): void {
    if (to === 'starting') cell.startingAt = this.#tap.now
    if (to !== 'stopping' && to !== 'restarting') cell.endsFrom = -1
    else {
      cell.endingAt = this.#tap.now
      if (cell.endsFrom < 0) cell.endsFrom = this.#tap.now
    }
  }
  turnEnded(cell: SimCell): void {
    const call = cell.extras?.pending
    const { awaited } = cell
    if (awaited !== call) {
      cell.awaited = call
      cell.awaitedSince = this.#tap.now
      if (call !== undefined && cell.running !== undefined) cell.running.call ??= call
      if (awaited !== undefined && awaited.state === 'abandoned') this.#checkCut(cell, awaited)
    }
    cell.startedBefore = cell.startingAt
    cell.endedBefore = cell.endingAt
    cell.declared = (cell.extras?.keeper === undefined ? undefined : endingOf(cell)?.above) ?? Infinity
  }
  /** A handler was given up: its time must have been over. */
  #checkCut(cell: SimCell, { what, since }: Awaited): void {
    const { now, host } = this.#tap
    if (cell.killed || host.hurried) return
    // As it was when this turn began: since then it may have come further.
    const { startedBefore, endedBefore } = cell
    const stopOver = endedBefore >= 0 && now >= Math.min(this.#ownTime(cell, endedBefore, what, since), this.#timeAbove(cell, 'endsFrom'))
    const startOver = startedBefore >= 0 && now >= startedBefore + cell.options.startTimeout
    if (!stopOver && !startOver)
      this.#tap.violate('C4', cell, `gave up a handler after ${now - since} ms, though it was not killed and its time was not over`)
  }
  /** Until when an actor that began to end at `began` may wait for user code, as far as it is up to itself. */
  #ownTime(cell: SimCell, began: number, what: string, since: number): number {
    const { stopTimeout } = cell.options
    const graced = what === 'PostStop' || isPatient(cell)
    return Math.max(began + stopTimeout, graced ? since + Math.min(stopTimeout, lastGrace) : 0)
  }
  /** When the time of those above is up that have told it to end: by their last word, or by the first, which a later one does not make longer. */
  #timeAbove(cell: SimCell, since: 'endingAt' | 'endsFrom' = 'endingAt'): number {
    // A supervisor passes down what the child declares.
    let above = cell.declared
    let below: SimCell = cell
    for (let at = cell.ref.parent?.cell; at instanceof CellClass; at = at.ref.parent?.cell) {
      if (at.phase !== 'stopping' && (at.phase !== 'restarting' || at.options.restartChildren === 'keep')) break
      if (at.options.ownStopTimeout || !takesItsTime(below)) above = Math.min(above, at[since] + at.options.stopTimeout)
      below = at
    }
    return above
  }
  /** Who is on his way and waits for no user code must wait for something else. */
  #checkIdle(cell: SimCell): void {
    const { phase, extras, options } = cell
    const children = cell.livingChildren > 0 && (phase === 'stopping' || options.restartChildren === 'stop')
    if (children || (extras?.calls?.size ?? 0) > 0 || extras?.keeper !== undefined) return
    // Between two incarnations: for the backoff, or for others of the group.
    if (phase === 'restarting' && (extras?.stepTimer !== undefined || extras?.group !== undefined)) return
    this.#tap.violate('stuck', cell, `is ${phase}, and waits for nothing`)
  }
  /** All that is due has run: nobody waits for longer than he may. */
  check(cell: SimCell): void {
    const { phase, options } = cell
    if (phase !== 'starting' && phase !== 'stopping' && phase !== 'restarting') return
    const call = cell.extras?.pending
    if (call === undefined) return this.#checkIdle(cell)
    if (call.state !== 'waiting') return
    const since = Math.max(cell.changedAt, cell.awaitedSince)
    const { now } = this.#tap
    if (cell.killed && phase === 'stopping') this.#tap.violate('C4', cell, `was killed, and waits for ${call.what}`)
    const until =
      phase === 'starting' ? since + options.startTimeout : Math.min(this.#ownTime(cell, cell.endingAt, call.what, since), this.#timeAbove(cell))
    // Above it, time may have been up before it was told.
    if (Math.max(until, since) < now)
      this.#tap.violate('C4', cell, `is ${phase}, and has waited for ${now - since} ms; its time was over at ${until} ms`)
  }
}

/** Takes as long as it declares, or somebody below it does. */
function takesItsTime(cell: SimCell): boolean {
  return cell.options.stopTimeout >= Number.MAX_SAFE_INTEGER || cell.extras?.aboveEndless === true
}

/** Somebody below takes as long as it declares, and this one was not given a time of its own. */
function isPatient(cell: SimCell): boolean {
  return cell.extras?.aboveEndless === true && !cell.options.ownStopTimeout
}
