// Which actor is which child: the specs on file, the cells of those that live, and what users may learn of them.

import type { Cell } from '../../cell/turn/cell.ts'
import { cellOf } from '../../cell/ref/local-ref.ts'
import type { AnyChildSpec } from './child-spec.ts'
import { isSupervisor } from './marker.ts'
import type { ChildCount, ChildInfo, ChildKey } from './protocol.ts'
import { statusOf, type Tree } from './tree.ts'

/** A child's spec, and its actor as long as there is one. */
export interface Entry {
  readonly spec: AnyChildSpec
  /** The spec as it was made for the present actor; the same where nothing is made. */
  made: AnyChildSpec
  /** The behavior that was made for an actor which has not begun yet. */
  first: unknown
  cell: Cell | undefined
}

export class Roster {
  readonly #tree: Tree
  readonly #entries = new Map<number, Entry>()
  readonly #ids = new Map<Cell, number>()
  constructor(tree: Tree, specs: readonly AnyChildSpec[]) {
    this.#tree = tree
    let i = 0
    for (const id of tree.members.keys()) this.add(id, specs[i++]!)
  }

  add(id: number, spec: AnyChildSpec): void {
    this.#entries.set(id, { spec, made: spec, first: undefined, cell: undefined })
  }
  remove(id: number): void {
    this.#entries.delete(id)
  }
  of(id: number): Entry {
    return this.#entries.get(id)!
  }
  /** The living child with this spec. */
  living(spec: AnyChildSpec): Cell | undefined {
    const entry = this.#entries.get(this.#tree.names.get(spec.name ?? '')?.id ?? -1)
    return entry?.spec === spec ? entry.cell : undefined
  }
  cell(id: number | undefined): Cell | undefined {
    return id === undefined ? undefined : this.#entries.get(id)?.cell
  }
  id(cell: Cell): number | undefined {
    return this.#ids.get(cell)
  }

  born(id: number, cell: Cell): void {
    this.of(id).cell = cell
    this.#ids.set(cell, id)
  }
  /** Takes note of an end; gives the child's number, if it is still on file. */
  gone(cell: Cell): number | undefined {
    const id = this.#ids.get(cell)
    this.#ids.delete(cell)
    const entry = id === undefined ? undefined : this.#entries.get(id)
    if (entry?.cell !== cell) return undefined
    entry.cell = undefined
    return id
  }

  find(key: ChildKey): number | undefined {
    if (typeof key === 'string') return this.#tree.names.get(key)?.id
    if (typeof key !== 'object' || key === null) return undefined
    if ('tell' in key) {
      const cell = cellOf(key)
      return cell === undefined ? undefined : this.#ids.get(cell)
    }
    for (const [id, { spec }] of this.#entries) if (spec === key) return id
    return undefined
  }

  /** The children, in start order. */
  list(): ChildInfo[] {
    return [...this.#tree.members.values()].map((member) => {
      const { made, cell } = this.of(member.id)
      const { name, restart, shutdown, significant, needs, backoff, behavior } = made
      const status = statusOf(this.#tree, member)
      const { restarts } = member
      return { name, ref: cell?.ref, status, restart, shutdown, significant, needs, backoff, restarts, supervisor: isSupervisor(behavior) }
    })
  }

  count(): ChildCount {
    let active = 0
    let supervisors = 0
    for (const { cell, made } of this.#entries.values()) {
      if (cell !== undefined) active++
      if (isSupervisor(made.behavior)) supervisors++
    }
    const { size } = this.#entries
    const specs = this.#tree.strategy === 'simple-one-for-one' ? 1 : size
    return { specs, active, supervisors, workers: size - supervisors }
  }
}
