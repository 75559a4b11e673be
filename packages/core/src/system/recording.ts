// Writes down what happens to one actor from now on, by the turn of those that put something between a message and its handler: others
// go on as they were. Several may record one actor; each begins and ends without the others noticing.

import type { Cell } from '../cell/turn/cell.ts'
import type { FlightEntry, FlightLog, FlightNote } from '../values/flight.ts'

/** Hands on to all who record; what the system's own recorder kept is what a failure is logged with. */
class SharedLog implements FlightLog {
  readonly logs: Set<FlightLog> = new Set()
  readonly own: FlightLog | undefined
  readonly #cell: Cell
  readonly #before: Cell['options']
  readonly #recorded: Cell['options']

  constructor(cell: Cell) {
    this.#cell = cell
    this.#before = cell.options
    this.#recorded = { ...cell.options, plain: false }
    const extras = cell.ensureExtras()
    this.own = extras.flight
    extras.flight = this
    cell.options = this.#recorded
  }

  add(entry: FlightEntry): void {
    this.own?.add(entry)
    for (const log of this.logs) log.add(entry)
  }
  note(note: FlightNote): void {
    this.own?.note?.(note)
    for (const log of this.logs) log.note?.(note)
  }
  entries(): readonly FlightEntry[] {
    return this.own?.entries() ?? []
  }
  /** Nobody records any more: the actor is as it was. */
  leave(): void {
    const { extras } = this.#cell
    if (extras?.flight === this) extras.flight = this.own
    if (this.#cell.options === this.#recorded) this.#cell.options = this.#before
  }
}

/** What the system's own recorder keeps of an actor, also while others record it. */
export function ownFlightOf(cell: Cell | undefined): FlightLog | undefined {
  const flight = cell?.extras?.flight
  return flight instanceof SharedLog ? flight.own : flight
}

/** Records into `log` until what it returns is called. Others who record the same actor go on. */
export function recordCell(cell: Cell, log: FlightLog): () => void {
  const { flight } = cell.ensureExtras()
  const shared = flight instanceof SharedLog ? flight : new SharedLog(cell)
  shared.logs.add(log)
  return () => {
    if (shared.logs.delete(log) && shared.logs.size === 0) shared.leave()
  }
}
