// Long work in the thread of the actors is cut into slices, so that timers fire and messages are handled in between.

/** The length of a slice, in ms. */
export const sliceMs = 4

/** Lets the event loop turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
