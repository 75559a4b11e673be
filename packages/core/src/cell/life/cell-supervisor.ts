// Who decides about a cell instead of a policy: a supervisor of declared children. Called in the cell's own turn, at
// once, whatever the supervisor is doing; an actor without one pays nothing for it.

import type { Directive } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import type { EndInfo } from './phase-info.ts'

export interface CellSupervisor {
  /** The incarnation failed and the cell waits, in phase `failed`. Returns what was decided, for the log; undefined: it is logged elsewhere. */
  failed(cell: Cell, cause: unknown, message: unknown): Directive | undefined
  /** An incarnation has come up. */
  started(cell: Cell): void
  /** The incarnation has ended and the cell waits for `releaseHeld`; the answer to `hold`. */
  held(cell: Cell): void
  /** The cell is gone, its name free. */
  ended(cell: Cell, end: EndInfo): void
  /** The cell has somebody below that takes as long to end as it needs. */
  endless?(cell: Cell): void
}
