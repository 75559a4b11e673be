// The one place where a phase changes, so that the table is asked and listeners hear of it every time.

import { outcomeOf, type Transition } from '../../deciders/phase.ts'
import type { Phase } from '../../values/phase.ts'
import type { Cell } from '../turn/cell.ts'
import type { Extras } from '../turn/extras.ts'
import type { EndInfo, PhaseInfo } from './phase-info.ts'

/** Moves on by an event that the table allows here. */
export function change(cell: Cell, event: Transition, info: PhaseInfo | EndInfo | undefined): void {
  const from = cell.phase
  const to = outcomeOf(from, event) as Phase
  const { extras } = cell
  if (extras !== undefined) noteChange(cell, extras, from, to)
  cell.phase = to
  cell.info = info
  const host = cell.host
  host.tap?.phased(cell, from, to)
  host.onPhase?.(cell)
  if (host.listening) host.observe({ type: 'actor.phase', ref: cell.ref, from, to, at: host.runtime.now() })
}

/** Goes through several phases at once, if nobody would hear of those between: false, and nothing done, where somebody would. */
export function rush(cell: Cell, through: Transition, info: EndInfo | undefined): boolean {
  const { host } = cell
  if (cell.extras !== undefined || host.tap?.seesPhases === true || host.listening) return false
  host.unheard += through.steps - 1
  cell.phase = outcomeOf(cell.phase, through) as Phase
  cell.info = info
  host.onPhase?.(cell)
  return true
}

/** For actors that are measured or recorded; before the phase's info makes room for the next. */
function noteChange(cell: Cell, extras: Extras, from: Phase, to: Phase): void {
  const { now } = cell.dispatcher
  extras.flight?.add({ what: 'phase', from, to, at: now })
  if (from === 'suspended' && extras.metrics !== undefined) extras.metrics.suspendedMs += now - (cell.info as PhaseInfo).since
}
