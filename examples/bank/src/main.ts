// `npm run bank`: a day at the bank, or with --chaos many short ones.

import { chaos } from './chaos.ts'
import { day } from './day.ts'
import { bankOptions } from './options.ts'
import { openStore } from './store.ts'

const options = bankOptions()
const over = new AbortController()
if (!options.chaos) process.once('SIGINT', () => over.abort())

try {
  const store = await openStore(options.store, options.data)
  try {
    process.exitCode = (options.chaos ? await chaos(options, store) : await day(options, store, over.signal)) ? 0 : 1
  } finally {
    await store.end()
  }
} catch (cause) {
  // A folder that cannot be written, a journal of something else, no PostgreSQL: what it is, without the way there.
  process.stderr.write(`${(cause as Error).message}\n`)
  process.exitCode = 1
}
