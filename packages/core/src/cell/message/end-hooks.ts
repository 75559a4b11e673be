// Callbacks that run when an actor stops. Each callback removes itself when it has run, or when it is no longer needed.

import { budgets } from '../../values/budgets.ts'
import type { Cell } from '../turn/cell.ts'

export function endHooksOf(cell: Cell): Set<() => void> {
  const extras = cell.ensureExtras()
  if (extras.endHooks === undefined) {
    const hooks = (extras.endHooks = new Set())
    budgets.onOwner?.('end hooks', () => (cell.end === undefined ? 0 : hooks.size))
  }
  return extras.endHooks
}
