// Ends threads that show no sign of life for longer than the thread says they may be silent. The sign is a count of beats, shown
// by the thread and read here without asking it. When the main thread was itself late, or the whole process was stopped for a while, only a part of that time
// counts: enough to end a hung thread also beside a main one that is always late.

import type { Loop } from '@troupe/border'
import type { Thread } from './thread.ts'

interface Watched {
  readonly core: { readonly runtime: { now(): number } }
  readonly threads: Iterable<Thread>
  readonly tasks: { patienceOn(thread: Thread): number }
  tellListening(): void
}

/** Starts watching; returns what ends it. */
export function watchThreads(pool: Watched, hangAfter: number, loop: Loop): () => void {
  const { runtime } = pool.core
  const period = Math.max(5, Math.min(100, hangAfter / 20))
  let last = runtime.now()
  return loop.every(period, () => {
    const now = runtime.now()
    const since = now - last
    last = now
    pool.tellListening()
    for (const thread of pool.threads) {
      if (thread.state !== 'up') continue
      // Before the beats: who has seen that it may be silent for less has also seen the beat that came with it.
      const limit = Math.max(thread.signs.hangAfter ?? hangAfter, pool.tasks.patienceOn(thread))
      const { beats } = thread.signs
      if (beats !== thread.lastBeats) {
        thread.lastBeats = beats
        thread.lastBeatAt = now
        thread.silent = 0
        continue
      }
      thread.silent += Math.min(since, limit / 2)
      if (thread.silent >= limit) {
        const ms = Math.round(now - thread.lastBeatAt)
        thread.kill('hung', new Error(`no sign of life for ${ms} ms${thread.signs.doing}; long work awaits ctx.breathe() or has its own hangAfter`))
      }
    }
  })
}
