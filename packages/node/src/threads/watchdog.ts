// Ends threads that show no sign of life. The sign is a counter in shared memory, so that asking for it costs the
// thread nothing; a main thread that was itself late gives everybody another period.

import type { Thread } from './thread.ts'

interface Watched {
  readonly core: { readonly runtime: { now(): number } }
  readonly threads: Iterable<Thread>
  tellListening(): void
}

/** Starts watching; returns what ends it. */
export function watchThreads(pool: Watched, hangAfter: number): () => void {
  const { runtime } = pool.core
  const period = Math.max(5, Math.min(250, hangAfter / 8))
  let last = runtime.now()
  const timer = setInterval(() => {
    const now = runtime.now()
    const late = now - last > period * 3
    last = now
    pool.tellListening()
    for (const thread of pool.threads) {
      if (thread.state !== 'up') continue
      const { beats } = thread.board
      if (beats !== thread.lastBeats || late) {
        thread.lastBeats = beats
        thread.lastBeatAt = now
      } else if (now - thread.lastBeatAt >= hangAfter) {
        const { message } = thread.board.running
        thread.kill(
          'hung',
          new Error(`no sign of life for ${Math.round(now - thread.lastBeatAt)} ms${message === undefined ? '' : `, since it took a ${message}`}`),
        )
      }
    }
  }, period)
  timer.unref()
  return () => clearInterval(timer)
}
