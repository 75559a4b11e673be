// Ends threads that show no sign of life. The sign is a count of beats, shown by the thread and read here without
// asking it. When the main thread was itself late, or the whole process was stopped for a while, only a part of that time
// counts: enough to end a hung thread also beside a main one that is always late.

import type { Loop } from './loop.ts'
import type { Thread } from './thread.ts'

interface Watched {
  readonly core: { readonly runtime: { now(): number } }
  readonly threads: Iterable<Thread>
  tellListening(): void
}

/** Starts watching; returns what ends it. */
export function watchThreads(pool: Watched, hangAfter: number, loop: Loop): () => void {
  const { runtime } = pool.core
  const period = Math.max(5, Math.min(100, hangAfter / 20))
  let last = runtime.now()
  return loop.every(period, () => {
    const now = runtime.now()
    const passed = Math.min(now - last, hangAfter / 2)
    last = now
    pool.tellListening()
    for (const thread of pool.threads) {
      if (thread.state !== 'up') continue
      const { beats } = thread.signs
      if (beats !== thread.lastBeats) {
        thread.lastBeats = beats
        thread.lastBeatAt = now
        thread.silent = 0
        continue
      }
      thread.silent += passed
      if (thread.silent >= hangAfter) {
        thread.kill('hung', new Error(`no sign of life for ${Math.round(now - thread.lastBeatAt)} ms${thread.signs.doing}`))
      }
    }
  })
}
