// Run by a test in a process of its own, which has no shared memory: threads work all the same, and ends by itself.

import { ActorSystem } from '@troupe/core'
import { threads } from '@troupe/node'
import { counter } from './counter.ts'

const system = ActorSystem.create('unshared', { askTimeout: 30_000 })
let refused: unknown
try {
  threads(system, { size: 2, sharedMemory: true })
} catch (cause) {
  refused = (cause as { readonly code?: unknown }).code
}
threads(system, { size: 2 })
const refs = [0, 1].map((thread) => system.spawn(counter(), { dispatcher: 'parallel', placement: { thread } }))
for (let i = 0; i < 10_000; i++) refs[i % 2]!.tell({ type: 'add', by: 1 })
const counts = await Promise.all(refs.map((ref) => ref.ask({ type: 'get' })))
const { unknown } = await system.ledger()
await system.shutdown()
console.log(JSON.stringify({ shares: typeof SharedArrayBuffer !== 'undefined', refused, counts, unknown }))
