// One file of tests in a process of its own, on Node, Bun or Deno: what becomes of each test goes to a file, line by line.
// Arguments: the bundled file, its name, where the lines go, what is known not to work here (as JSON), and 'gather' to run nothing.

import { openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { runFile } from './run-file.mjs'

const [bundle, name, to, known, mode] = process.argv.slice(2)
const lines = openSync(to, 'a')
// A system may be told not to keep its process alive; its test goes on all the same.
setInterval(() => {}, 1 << 30)

await runFile({
  name,
  known: JSON.parse(known),
  gatherOnly: mode === 'gather',
  load: () => import(pathToFileURL(bundle).href),
  tell: (event) => void writeSync(lines, `${JSON.stringify(event)}\n`),
  escapes(hear) {
    for (const event of ['uncaughtException', 'unhandledRejection'])
      process.on(event, (cause) => {
        // As vitest has it: where the test listens itself, that is its subject.
        if (process.listenerCount(event) === 1) hear(cause)
      })
  },
})
// What a test left open must not keep the others waiting.
process.exit(0)
