// Writes down whose turn began when, on this thread, for as long as a profile is taken. It stands behind the one who counts turns, and is
// gone with the profile.

import { type Cell, TurnWatch, type SystemCore, type Witness } from '@troupe/core/internal'

/** Turns that are kept: of what comes after them nobody knows whose it was. */
const turnsMost = 1_000_000

export class TurnLog {
  /** Milliseconds of the process' clock, and who began then; undefined: it was nobody's turn any more. */
  readonly at: number[] = []
  readonly who: (Cell | undefined)[] = []
  full = false
  readonly #takeBack: (() => void)[] = []

  begin(core: SystemCore): void {
    for (const dispatcher of core.dispatchers.all) {
      const { witness } = dispatcher
      const watch = witness instanceof TurnWatch ? witness : undefined
      const outer = watch === undefined ? witness : watch.outer
      const mine: Witness = {
        turn: (cell) => {
          outer?.turn(cell)
          this.#put(cell)
        },
        clockRead: (now, fired) => outer?.clockRead?.(now, fired),
        rest: () => {
          outer?.rest()
          this.#put(undefined)
        },
      }
      if (watch === undefined) dispatcher.witness = mine
      else watch.outer = mine
      this.#takeBack.push(() => {
        if (watch?.outer === mine) watch.outer = outer
        // Whoever counted may have left meanwhile, and put it in its own place.
        if (dispatcher.witness === mine) dispatcher.witness = outer
      })
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
