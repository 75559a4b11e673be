// `@troupe/node/worker`: what a worker entry of a program imports beside the modules of its actors, given to `threads(system, { worker })`.
// Makes the thread one of the system, where definitions are found by name and no module is loaded. The first orders may be here before the
// entry has run to its end; they wait for that.

import { findRegistered } from '@troupe/border'
import { runThread } from './threads/pool/run-thread.ts'

const evaluated = new Promise<void>((resolve) => setImmediate(resolve))
runThread((definition) => evaluated.then(() => findRegistered(definition)))
