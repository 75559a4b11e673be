// By which numbers other nodes know the actors of this one. Given out when a ref leaves for the first time: local uids are this node's own
// affair, and those of its threads would not fit. An actor keeps its number after its end.

import { firstUid, type Numbers } from '@troupe/border'
import type { Cell } from '@troupe/core/internal'
import { here } from './places.ts'

/** Numbers below are given to those whom every node has, so that nobody need look for them. */
const reserved = 16

export class Exports implements Numbers {
  readonly #numbers = new WeakMap<Cell, number>()
  #next = reserved

  of(cell: Cell): number {
    let number = this.#numbers.get(cell)
    if (number === undefined) this.#numbers.set(cell, (number = firstUid(here) + this.#next++))
    return number
  }

  known(cell: Cell): number | undefined {
    return this.#numbers.get(cell)
  }

  /** Gives a cell a number that all nodes know. */
  reserve(cell: Cell, number: number): void {
    this.#numbers.set(cell, firstUid(here) + number)
  }
}
