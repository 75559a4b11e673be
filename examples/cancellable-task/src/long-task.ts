// A task of many small steps that looks at its token between them.

import { Cancelled, type CancellationToken, type Clock, delay } from '@troupe/core'

export async function longTask(token: CancellationToken, clock?: Clock): Promise<number> {
  for (let i = 0; i < 1_000; i++) {
    token.throwIfCancelled()
    await delay(10, { signal: token.signal, clock })
  }
  return 42
}

/** What the task came to, or -1 where it was cancelled. */
export async function outcomeOf(task: Promise<number>): Promise<number> {
  try {
    return await task
  } catch (cause) {
    if (cause instanceof Cancelled) return -1
    throw cause
  }
}
