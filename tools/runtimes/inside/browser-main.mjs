// One file of tests in a frame of a page. The page that made the frame hears what becomes of each test, and takes the frame away.

import { otherwise } from './browser-host.mjs'
import { runFile } from './run-file.mjs'

const { name, bundle, known, tell } = globalThis.troupeJob

try {
  await runFile({ name, known, gatherOnly: false, load: () => import(bundle), tell, escapes: otherwise })
} catch (cause) {
  tell({ broken: String(cause?.stack ?? cause) })
  tell({ done: true })
}
