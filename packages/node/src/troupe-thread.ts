// What a worker thread runs where the program says nothing else. A program of its own beside the package's one file, for that does nothing
// when it is loaded; its name is one that nobody's bundle has.

import { runThread } from './threads/pool/run-thread.ts'

runThread()
