// How long user code is waited for while an actor starts, stops or restarts: not longer than `startTimeout` or
// `stopTimeout`, and, unless somebody kills the actor, not shorter.

import type { Phase } from 'troupe'
import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

/** A handler, signal handler or setup that is waited for. */
export interface Awaited {
  readonly state: string
  readonly what: string
  readonly since: number
}

const endSignals: ReadonlySet<string> = new Set(['PreStop', 'PreRestart', 'PostStop'])

export class WaitAccount {
  readonly #tap: SimTap
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  phased(cell: SimCell, to: Phase): void {
    if (to === 'starting') cell.startingAt = this.#tap.now
    else if (to === 'stopping' || to === 'restarting') cell.endingAt = this.#tap.now
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
  }
  /** A handler was given up: its time must have been over. */
  #checkCut(cell: SimCell, { what, since }: Awaited): void {
    const { now, host } = this.#tap
    if (cell.killed || host.hurried) return
    const { startTimeout, stopTimeout } = cell.options
    // As it was when this turn began: since then it may have come further.
    const { startedBefore, endedBefore } = cell
    // A signal of the end has its own time; whatever else was pending, and what that led to, share one.
    const from = endSignals.has(what) ? Math.max(since, endedBefore) : endedBefore
    const stopOver = endedBefore >= 0 && now >= from + stopTimeout
    const startOver = startedBefore >= 0 && now >= startedBefore + startTimeout
    if (!stopOver && !startOver)
      this.#tap.violate('C4', cell, `gave up a handler after ${now - since} ms, though it was not killed and its time was not over`)
  }
  /** Who is on his way and waits for no user code must wait for something else. */
  #checkIdle(cell: SimCell): void {
    const { phase, extras, options } = cell
    const children = cell.livingChildren > 0 && (phase === 'stopping' || options.restartChildren === 'stop')
    if (children || (extras?.calls?.size ?? 0) > 0 || extras?.keeper !== undefined) return
    // Between two incarnations: for the backoff, or for others of the group.
    if (phase === 'restarting' && (extras?.step !== undefined || extras?.group !== undefined)) return
    this.#tap.violate('stuck', cell, `is ${phase}, and waits for nothing`)
  }
  /** All that is due has run: nobody waits for longer than he may. */
  check(cell: SimCell): void {
    const { phase, options } = cell
    if (phase !== 'starting' && phase !== 'stopping' && phase !== 'restarting') return
    const call = cell.extras?.pending
    if (call === undefined) return this.#checkIdle(cell)
    if (call.state !== 'waiting') return
    const longest = phase === 'starting' ? options.startTimeout : options.stopTimeout
    const since = Math.max(cell.changedAt, cell.awaitedSince)
    if (since + longest < this.#tap.now)
      this.#tap.violate('C4', cell, `is ${phase}, and has waited for ${this.#tap.now - since} ms; ${longest} are allowed`)
  }
}
