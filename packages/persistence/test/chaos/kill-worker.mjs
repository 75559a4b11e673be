// Loaded before the writer: ends the thread that writes the journal some time after it was started, as a fault of that thread would.

import { createRequire, syncBuiltinESMExports } from 'node:module'

const threads = createRequire(import.meta.url)('node:worker_threads')
const { Worker } = threads
let first = true
threads.Worker = class extends Worker {
  constructor(...given) {
    super(...given)
    if (!first) return
    first = false
    // Its first message says that the file is open.
    this.once('message', () => setTimeout(() => void this.terminate(), Number(process.env.TROUPE_KILL_WORKER_AFTER)).unref())
  }
}
syncBuiltinESMExports()
