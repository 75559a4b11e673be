// What is to be done once an actor has handled what it handles now: for sibling packages, to which "its handler has begun" says
// too little. Waits in the system lane, so that nothing is asked of an actor that has none; done before its next message.

import type { Cell } from '../turn/cell.ts'
import type { CallContext } from '../context/context.ts'
import { isBusy } from './pending.ts'
import type { SystemLane } from './commands.ts'

class Waiting {
  declare readonly act: () => void
  /** The calls of a reentrant actor that were under way when the present message had begun; this one is among them. */
  #calls: readonly CallContext[] | undefined
  constructor(act: () => void) {
    this.act = act
  }
  isDue(cell: Cell): boolean {
    const { extras } = cell
    if (extras?.pending !== undefined) return false
    const now = extras?.calls
    this.#calls ??= now === undefined ? [] : [...now]
    return !this.#calls.some((call) => now?.has(call) === true)
  }
}

/** All that waits for one actor; the lane has it only while there is some. */
export class Afterwards {
  #waiting: Waiting[] = []
  add(act: () => void): void {
    this.#waiting.push(new Waiting(act))
  }
  isDue(cell: Cell): boolean {
    return this.#waiting.some((waiting) => waiting.isDue(cell))
  }
  /** Does what is due. */
  run(cell: Cell, lane: SystemLane): void {
    const due = this.#waiting.filter((waiting) => waiting.isDue(cell))
    if (due.length === 0) return
    this.#waiting = this.#waiting.filter((waiting) => !due.includes(waiting))
    if (this.#waiting.length === 0) lane.afterwards = undefined
    for (const waiting of due) waiting.act()
  }
}

/**
 * Calls `act` once what `cell` handles now, the message that it is opening among it, has been dealt with: handled, unhandled or failed.
 * At once where it handles nothing, as one does whose actor is on another thread; never, where it ends before. `act` may not throw.
 */
export function afterwards(cell: Cell, act: () => void): void {
  if (cell.dispatcher.current !== cell && !isBusy(cell)) return act()
  const lane = cell.openLane()
  ;(lane.afterwards ??= new Afterwards()).add(act)
}
