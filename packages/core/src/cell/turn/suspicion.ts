// Time went by that nobody accounts for: one of several actors held the loop, or the host did, or it had nothing to do.
// Those that ran are suspects, no more: some of their next messages are timed one by one, and then it shows.

import type { Cell } from './cell.ts'

/** A bit of a cell's `scheduled`: its turn was cut by time; known until the next one begins. */
export const cut = 4
/** One of the messages that are still to be timed one by one, and the bits that count them. */
export const suspected = 8
export const suspicion = 0x3ff8

/** How many messages are timed for each ms that went by, at most for all suspects together, and at least of each. */
const perMs = 200
const most = 1024
const least = 16

/** The clock then costs about a hundredth of the time that somebody took. */
export function suspect(cells: ReadonlySet<Cell>, ms: number): void {
  const each = Math.max(least, Math.floor(Math.min(most, ms * perMs) / cells.size))
  for (const cell of cells) cell.suspect(each)
}
