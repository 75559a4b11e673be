// Who forgets an actor when it ends. Each hook takes itself away when it has, or when there is nothing to forget any more.

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
