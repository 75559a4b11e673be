// Writes down whose turn began when, on this thread, for as long as a profile is taken, beside whoever else looks on; gone with the profile.

import { addWitness, type Cell, removeWitness, type SystemCore, type Witness } from '@troupe/core/internal'

/** Turns that are kept: of what comes after them nobody knows whose it was. */
const turnsMost = 1_000_000

export class TurnLog {
  /** Milliseconds of the process' clock, and who began then; undefined: it was nobody's turn any more. */
  readonly at: number[] = []
  readonly who: (Cell | undefined)[] = []
  full = false
  readonly #takeBack: (() => void)[] = []

  begin(core: SystemCore): void {
    const mine: Witness = { turn: (cell) => this.#put(cell), rest: () => this.#put(undefined) }
    for (const dispatcher of core.dispatchers.all) {
      addWitness(dispatcher, mine)
      this.#takeBack.push(() => removeWitness(dispatcher, mine))
    }
  }
  end(): void {
    for (const takeBack of this.#takeBack.splice(0)) takeBack()
  }

  #put(cell: Cell | undefined): void {
    if (this.at.length >= turnsMost) {
      this.full = true
      return
    }
    this.at.push(performance.now())
    this.who.push(cell)
  }
}
