// The children of an actor that ends: told so, the youngest first, in slices, with the deadline that is passed down to them.

import { endless } from '../../values/options.ts'
import type { Cell } from '../turn/cell.ts'
import type { Command } from './commands.ts'
import { endingOf } from './phase-info.ts'
import { paced } from './portion.ts'

/** An actor above one that declares to take as long as it needs waits for it, unless it was given a time of its own. */
export function isPatient(cell: Cell): boolean {
  return cell.extras?.aboveEndless === true && !cell.options.ownStopTimeout
}

/** Notes above an actor that it takes as long as it needs; where those above are elsewhere, the keeper tells them. */
export function declareEndless(parent: Cell): void {
  for (let cell: Cell | undefined = parent; cell !== undefined; cell = cell.ref.parent?.cell) {
    const extras = cell.ensureExtras()
    if (extras.aboveEndless) return
    extras.aboveEndless = true
    extras.keeper?.endless?.(cell)
  }
}

/** The deadline for those below; its own time is not for one that takes as long as it needs, unless it was given. */
export function deadlineBelow(cell: Cell, child?: Cell): number {
  const { above, until } = endingOf(cell)!
  const waits = child !== undefined && !cell.options.ownStopTimeout && (child.options.stopTimeout >= endless || child.extras?.aboveEndless === true)
  return waits ? above : Math.min(above, until)
}

/** Tells all children to end, the youngest first, as many at a time as the slice allows. */
export function endChildren(cell: Cell): void {
  const { children } = cell
  if (children === undefined) return
  children.cursor = children.last
  goOnEndingChildren(cell)
}

/** Goes on where the slice was over. */
export function goOnEndingChildren(cell: Cell): void {
  const { children } = cell
  if (children?.cursor === undefined) return
  const { hurry } = endingOf(cell)!
  let command: Command = { verb: 'kill', below: true }
  const goesOn = paced(cell)
  for (let child: Cell | undefined = children.cursor; child !== undefined; child = children.cursor) {
    children.cursor = child.previous
    const above = deadlineBelow(cell, child)
    // Most have the same.
    if (hurry !== true && !('above' in command && command.above === above)) command = { verb: 'stop', reason: 'shutdown', cause: undefined, above }
    child.command(command)
    if (goesOn()) continue
    if (children.cursor !== undefined) cell.command({ verb: 'next-slice' })
    return
  }
}
