// Run by a test in a process of its own: an actor fills the memory that its thread may have. Prints how the actor ended,
// and whether the ledger added up after that.

import { ActorSystem, receive, same } from '@troupe/core'
import { threads } from '@troupe/node'
import { type Report, subject } from './subject.ts'

const silent = (): void => {}
const system = ActorSystem.create('oom', { logger: { debug: silent, info: silent, warn: silent, error: silent } })
threads(system, {
  size: 2,
  // A thread whose heap is nearly full does little but collect: on a busy machine that takes long, and is no hang.
  hangAfter: 60_000,
  resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  ...(process.argv[2] === 'ports' ? { sharedMemory: false } : undefined),
})
const report = system.spawn(receive<Report>(() => same))
const [a, beside] = [0, 1].map(() => system.spawn(subject({ report }), { dispatcher: 'pinned', supervision: 'stop' }))
await Promise.all([system.started(a!), system.started(beside!)])
a!.tell({ type: 'oom' })
const { reason, cause } = await system.whenTerminated(a!)
const { code, why } = cause as { readonly code?: unknown; readonly why?: unknown }
const answer = await beside!.ask({ type: 'echo', value: 'untouched' }, { timeout: 60_000 })
await system.shutdown()
const { sent, ...rest } = await system.ledger()
const off = sent - Object.values(rest).reduce((sum, n) => sum + n, 0)
console.log(JSON.stringify({ reason, code, why, beside: answer, off }))
