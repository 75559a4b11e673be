// Finds states that were changed in place, by comparing what they are as text: maps, sets and dates too, which freezing does not hold. Costs
// the encoding of a state before and after, so that only tests and simulations do it unless somebody asks for it.

import { NotAllowed } from '@troupe/core'
import { encode } from '../values/codec.ts'

/** What a state is, as text; undefined where it cannot be stored, and so cannot be compared. */
export function textOf(state: unknown): string | undefined {
  try {
    return encode(state, 'state')
  } catch {
    return undefined
  }
}

/** Fails with `NotAllowed` if a state is not what it was. */
export function checkUnchanged(state: unknown, text: string | undefined, what: string, id: string): void {
  if (text === undefined || textOf(state) === text) return
  throw new NotAllowed(
    `${what} of ${id} changed the state in place. Return another one, such as { ...state, n: state.n + 1 }: answers that wait for the journal would show changes that are not stored.`,
  )
}
