// Restarts that belong together, because one of a group failed (who belongs to it is found in failing): all incarnations end before the first begins anew, and
// they begin in order of birth, since the younger may depend on the older. Whoever goes another way meanwhile, because it is
// stopped or fails on its own, leaves the group, so that the others never wait for it.

import type { Cell } from '../turn/cell.ts'
import { armStep } from './step-timer.ts'
import { infoIn } from './phase-info.ts'

export class GroupRestart {
  readonly #members: readonly Cell[]
  readonly #awaited: Set<Cell>
  constructor(members: readonly Cell[]) {
    this.#members = members
    this.#awaited = new Set(members)
  }
  /** The member's incarnation has ended; the next begins when all have come so far. */
  ready(cell: Cell): void {
    this.#awaited.delete(cell)
    this.#go()
  }
  left(cell: Cell): void {
    cell.extras!.group = undefined
    this.#awaited.delete(cell)
    this.#go()
  }
  #go(): void {
    if (this.#awaited.size > 0) return
    const together = this.#members.filter((member) => member.extras?.group === this)
    // One may have failed on its own meanwhile, and have to wait for longer: the others wait with it.
    // One that has a keeper, and may be held, is in no group.
    const delay = together.reduce((longest, member) => Math.max(longest, infoIn(member, 'restarting')!.delay as number), 0)
    for (const member of together) {
      member.extras!.group = undefined
      // By the timer also without a delay: it keeps the order, which turns would not.
      armStep(member, delay)
    }
  }
}

/** Makes cells, given in order of birth, come back together from the restart that each of them is told to make now. */
export function bind(members: readonly Cell[]): void {
  const group = new GroupRestart(members)
  for (const member of members) {
    const extras = member.ensureExtras()
    extras.group?.left(member)
    extras.group = group
  }
}
