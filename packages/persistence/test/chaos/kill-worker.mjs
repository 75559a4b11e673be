// Loaded before the writer: ends the thread that writes the journal some time after it was started, as a fault of that thread would. Between two
// requests: terminating a thread in a statement ends the process on Node 20, which is what other rounds do.

import { createRequire, syncBuiltinESMExports } from 'node:module'

const threads = createRequire(import.meta.url)('node:worker_threads')
const { Worker } = threads
let first = true
threads.Worker = class extends Worker {
  constructor(file, options) {
    super(file, options)
    if (!first) return
    first = false
    const guard = new Int32Array(options.workerData.guard)
    const end = () => {
      // As in sqlite-exit-guard.ts: waits until it is out of a request, and lets it begin none.
      while (Atomics.compareExchange(guard, 0, 0, 2) === 1) Atomics.wait(guard, 0, 1)
      void this.terminate()
    }
    // Its first message says that the file is open.
    this.once('message', () => setTimeout(end, Number(process.env.TROUPE_KILL_WORKER_AFTER)).unref())
  }
}
syncBuiltinESMExports()
