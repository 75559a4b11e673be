// What sort of actor one is, for pictures and figures that must not grow with the number of actors.

import { keyOfChild } from '../cell/ref/keys-below.ts'
import type { Cell } from '../cell/turn/cell.ts'

/** As it was spawned with, else the name of its class, else its path with a star for each number in it. */
export function kindOfActor(cell: Cell): string {
  return cell.options.kind ?? kindOfClass(cell)
}

/** What it says of itself, else the key by which its parent knows it; undefined where there is neither. */
export function labelOfActor(cell: Cell): string | undefined {
  return cell.extras?.label || keyOfChild(cell.ref) || undefined
}

function kindOfClass(cell: Cell): string {
  const { className } = cell.ref
  return typeof className === 'string' && className !== '' ? className : starred(cell)
}

/** Of its own name only: what stands above it says where it is, and not what it is. Those without a name are known by their parent's. */
function starred(cell: Cell): string {
  const { name, parent } = cell.ref
  if (name !== undefined) return name.replaceAll(/\d+/g, '*')
  const above = parent?.cell
  return above === undefined ? 'user' : `${kindOfActor(above)}/*`
}
