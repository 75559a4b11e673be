// Who looks on while a dispatcher works. A dispatcher has one place for it, which it looks at once a turn: the reporter of a thread of
// many stands there, or whoever measures turns, which tells the reporter in its stead.

import type { Cell } from './cell.ts'

export interface Witness {
  /** The turn of an actor begins. */
  turn(cell: Cell): void
  /** The clock was read; `fired`: timers were fired then, which took time of nobody's. */
  clockRead?(now: number, fired: boolean): void
  /** It is nobody's turn until the next: what runs now goes on after an `await`. */
  rest(): void
}
