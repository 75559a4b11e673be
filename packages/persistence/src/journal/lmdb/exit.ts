// What a process does that ends while LMDB writes: the thread that writes waits for this one, which would wait for it at its exit, for ever.
// So such a process ends at once, as by `kill -9`, which a journal survives at any moment.

import { isMainThread } from 'node:worker_threads'

let writing = 0
let listens = false

/** A write begins. */
export function beginWrite(): void {
  writing++
  if (listens) return
  listens = true
  process.on('exit', () => {
    // The end of another thread is not that of the process.
    if (writing > 0 && isMainThread) process.kill(process.pid, 'SIGKILL')
  })
}
export function endWrite(): void {
  writing--
}
