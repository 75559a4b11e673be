// Work that may be too much for one turn, such as a thousand children or messages: the clock is looked at after each portion of it.

import type { Cell } from '../turn/cell.ts'

/** How many are dealt with between two looks at the clock. */
export const portion = 64

/** For each of many: whether the slice lets one go on. */
export function paced({ dispatcher }: Cell): () => boolean {
  let left = portion
  return () => {
    if (--left > 0) return true
    left = portion
    return dispatcher.look()
  }
}
