// Threads are numbered in the order in which they are started, and a number is never used again. The uid of an actor
// tells on which of them it was spawned.

const span = 2 ** 32

/** The number of the thread that spawned this actor, and knows what became of it. */
export function homeOf(uid: number): number {
  return Math.floor(uid / span)
}

/** Where the uids of a thread begin. */
export function firstUid(epoch: number): number {
  return epoch * span
}
