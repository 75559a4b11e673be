// Waiting for a condition of which there is no notification: it is checked at an interval.

import type { SystemCore } from '@troupe/core/internal'

/** Resolves with true when a condition holds, with false after so many milliseconds. */
export async function waitUntil(runtime: SystemCore['runtime'], holds: () => boolean, ms: number, every: number): Promise<boolean> {
  const until = runtime.now() + ms
  while (!holds()) {
    if (runtime.now() >= until) return false
    await new Promise<void>((resolve) => void runtime.timer(every, resolve))
  }
  return true
}
