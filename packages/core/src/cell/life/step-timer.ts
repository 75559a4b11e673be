// What bounds one step of starting, stopping or restarting, and a backoff: one timer at a time, which tells the cell by its lane. Whether
// its time is up is asked of the timer itself, as the step may be over before the lane gets there.

import type { Deadline } from '../../queues/timers.ts'
import type { Cell } from '../turn/cell.ts'

export interface StepTimer extends Deadline {
  readonly cell: Cell
}

export function armStep(cell: Cell, ms: number): void {
  disarmStep(cell)
  const { host } = cell
  const timer: StepTimer = { at: 0, order: 0, cell, fire: () => cell.command({ verb: 'step-timeout' }) }
  cell.ensureExtras().stepTimer = timer
  host.timers.set(timer, host.runtime.now() + ms)
}

/** The step is over, or needs no bound. */
export function disarmStep({ host, extras }: Cell): void {
  if (extras?.stepTimer === undefined) return
  host.timers.cancel(extras.stepTimer)
  extras.stepTimer = undefined
}

/** Whether the time of the present step is up. */
export function isStepOverdue(cell: Cell): boolean {
  // One that has fired is not queued any more; one that was cancelled is not here.
  return cell.extras?.stepTimer?.order === 0
}
