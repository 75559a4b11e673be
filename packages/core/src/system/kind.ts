// What sort of actor one is, for pictures and figures that must not grow with the number of actors.

import type { Cell } from '../cell/turn/cell.ts'

/** As it was spawned with, else the name of its class, else its path with a star for each number in it. */
export function kindOfActor(cell: Cell): string {
  return cell.options.kind ?? kindOfClass(cell)
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
