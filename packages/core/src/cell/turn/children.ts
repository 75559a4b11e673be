// The children of one cell: linked through the cells themselves, in order of birth, with a Map only for the named.
// Joining and leaving cost the same whatever their number.

import { anonymousName } from '../../values/path.ts'
import type { Cell } from './cell.ts'

export class Children {
  first: Cell | undefined
  last: Cell | undefined
  size = 0
  /** Who is told to end next, while the children are told so in slices. */
  cursor: Cell | undefined
  names: Map<string, Cell> | undefined
  /** Those without a name by what paths call them: made when the first of them is looked for, and kept up to date from then on. */
  private nameless: Map<string, Cell> | undefined

  add(cell: Cell): void {
    const last = this.last
    cell.previous = last
    if (last === undefined) this.first = cell
    else last.next = cell
    this.last = cell
    this.size++
    const name = cell.ref.name
    if (name !== undefined) (this.names ??= new Map()).set(name, cell)
    else this.nameless?.set(anonymousName(cell.ref.uid), cell)
  }

  /** The child that a segment of a path means. */
  find(segment: string): Cell | undefined {
    if (!segment.startsWith('$')) return this.names?.get(segment)
    if (this.nameless === undefined) {
      this.nameless = new Map()
      for (let c = this.first; c !== undefined; c = c.next) if (c.ref.name === undefined) this.nameless.set(anonymousName(c.ref.uid), c)
    }
    return this.nameless.get(segment)
  }

  /** Gives the name free; the cell stays until `remove`, with what is left in its mailbox. */
  free(cell: Cell): void {
    const name = cell.ref.name
    if (name !== undefined) this.names?.delete(name)
    else this.nameless?.delete(anonymousName(cell.ref.uid))
  }

  remove(cell: Cell): void {
    const { previous, next } = cell
    if (this.cursor === cell) this.cursor = previous
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    cell.previous = undefined
    cell.next = undefined
    this.size--
  }

  /** A snapshot, oldest first; safe against children that leave meanwhile. */
  list(): Cell[] {
    const cells: Cell[] = []
    for (let c = this.first; c !== undefined; c = c.next) cells.push(c)
    return cells
  }
}
