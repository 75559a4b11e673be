// Whose timers are armed: seen when they are set, by whose turn it is. What belongs to an incarnation must be gone with it.

import type { CellHost } from 'troupe/internal'
import { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

interface Owned {
  readonly cell: SimCell
  readonly incarnation: number
}

/** Timers that end with the incarnation that set them, or with the step it was at, by the name of their class. */
const owned = new Set(['KeyedTimer', 'ReceiveTimer', 'StepTimer'])

export class TimerAccount {
  readonly #tap: SimTap
  readonly #owners = new Map<{ readonly order: number }, Owned>()
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  attach(host: CellHost): void {
    const { timers } = host
    const set = timers.set.bind(timers)
    timers.set = (deadline, at) => {
      // The timer of a step knows its cell, which need not be the one whose turn it is.
      const cell = (deadline as { readonly cell?: unknown }).cell ?? this.#tap.current
      // One that arms itself again keeps its owner.
      if (cell instanceof SimCell && !this.#owners.has(deadline) && owned.has(deadline.constructor.name))
        this.#owners.set(deadline, { cell, incarnation: cell.incarnation })
      set(deadline, at)
    }
  }
  check(): void {
    for (const [deadline, { cell, incarnation }] of this.#owners) {
      if (deadline.order === 0) this.#owners.delete(deadline)
      else if (cell.phase === 'terminated') this.#tap.violate('leaks', cell, 'has ended and left a timer armed')
      else if (deadline.constructor.name === 'StepTimer') {
        if (cell.phase === 'running') this.#tap.violate('leaks', cell, 'runs, and the timer of an earlier step is armed')
      } else if (cell.incarnation !== incarnation)
        this.#tap.violate('C7', cell, `a timer of incarnation ${incarnation} is armed in incarnation ${cell.incarnation}`)
    }
  }
}
