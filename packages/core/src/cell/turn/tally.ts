// How many messages an actor of a crowd handled since the last look, kept at the actor itself: in bits of its `scheduled` that are not its own. To count
// elsewhere what a hundred thousand actors do means to fetch another place of memory at each of their turns; the actor itself was just fetched.
//
//   scheduled   │ tally: 15 bits │ followed │ the cell's: 14 bits │      no more than 30 bits, so that it is a small integer everywhere
//
// One `Stirred` of a system writes here, and what is left of an earlier one is wiped by its first look at everybody.

import type { Cell } from './cell.ts'

/** Whether it has an account, which is then the one to count in. */
const followed = 1 << 14
const own = followed - 1
const one = 1 << 15
/** From here on there may be no room for what is handled between two reads of the clock. */
const full = 2 ** 29

/** Adds to the tally of one without an account, and returns how many it had; below 0 of one that has one. */
export function addTally(cell: Cell, messages: number): number {
  const { scheduled } = cell
  if ((scheduled & followed) !== 0) return -1
  cell.scheduled = scheduled + messages * one
  return scheduled >>> 15
}

/** Whether the tally is to be taken before more is added. */
export function isFull(tally: number): boolean {
  return tally >= full / one
}

/** Takes the tally away. */
export function takeTally(cell: Cell): number {
  const { scheduled } = cell
  if (scheduled < one) return 0
  cell.scheduled = scheduled & (one - 1)
  return scheduled >>> 15
}

/** Notes whether it has an account. */
export function noteAccount(cell: Cell, has: boolean): void {
  cell.scheduled = has ? cell.scheduled | followed : cell.scheduled & ~followed
}

/** Begins anew, whatever an earlier one left. */
export function wipeTally(cell: Cell, has: boolean): void {
  cell.scheduled = (cell.scheduled & own) | (has ? followed : 0)
}
