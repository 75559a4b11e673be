// What ends with an incarnation, whatever comes after it: context, timers, receive timeout, questions under way,
// adapters, tasks. Nothing of it reaches the next one.

import { Cancelled, OfferRefused } from '../../values/errors.ts'
import { contain } from '../../values/thenable.ts'
import type { Cell } from '../turn/cell.ts'
import { orphanAsks } from '../ask/deadlock.ts'

/** Asks what runs to come to an end: aborts the signal and lets no timer fire any more. */
export function interrupt(cell: Cell): void {
  cell.queue?.endWaits?.(new OfferRefused(cell.ref.path, `it is ${cell.phase}`))
  const extras = cell.extras
  if (extras === undefined) return
  extras.timers?.cancelAll()
  extras.receiveTimer?.cancel()
  extras.receiveTimer = undefined
  const abort = extras.abort
  if (abort === undefined || abort.signal.aborted) return
  abort.abort(new Cancelled(`The incarnation of ${cell.ref.path}`))
}

/** Ends the timers of code whose context is over. */
export function endTimers(cell: Cell): void {
  const extras = cell.extras
  if (extras?.timers === undefined) return
  extras.timers.end()
  extras.timers = undefined
}

/** Cuts everything off that belongs to this incarnation. */
export function endIncarnation(cell: Cell): void {
  cell.ctx = undefined
  const extras = cell.extras
  if (extras === undefined) return
  interrupt(cell)
  endTimers(cell)
  extras.handedOver = undefined
  extras.adapters = undefined
  extras.setupHandlers = undefined
  orphanAsks(cell)
  extras.abort = undefined
  endCalls(cell)
  release(cell)
}

/** Lets go of what was registered with `onRelease`; one that throws does not keep the others. */
function release(cell: Cell): void {
  const releases = cell.extras?.releases
  if (releases === undefined) return
  cell.extras!.releases = undefined
  const failed = (cause: unknown): void => cell.host.logger.error({ actor: cell.ref.path, cause }, 'letting go of a resource failed')
  for (const resource of releases) contain(() => resource.release(), failed)
}

/** Counts the pending handlers of a reentrant actor as failed, and cuts them off. */
export function endCalls(cell: Cell): void {
  const calls = cell.extras?.calls
  if (calls === undefined) return
  for (const call of calls) call.cutOff()
  cell.extras!.calls = undefined
  cell.extras!.settledCalls = undefined
  cell.extras!.saturated = false
}
