// Writes down what happens to one actor from now on, by the turn of those that put something between a message and its handler: others
// go on as they were.

import type { Cell } from '../cell/turn/cell.ts'
import type { FlightLog } from '../values/flight.ts'

/** Records into `log` until what it returns is called. What recorded before is put back then. */
export function recordCell(cell: Cell, log: FlightLog): () => void {
  const extras = cell.ensureExtras()
  const { options } = cell
  const before = extras.flight
  const recorded = { ...options, plain: false }
  extras.flight = log
  cell.options = recorded
  return () => {
    if (extras.flight !== log) return
    extras.flight = before
    if (cell.options === recorded) cell.options = options
  }
}
