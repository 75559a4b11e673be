// Bytes of heap per idle actor: a million of them, named, each after one message. Run with --expose-gc.

import { ActorSystem, receive, same } from '@troupe/core'

type Hello = { type: 'hello'; id: number }

const count = Number(process.argv[2] ?? 1_000_000)
const gc = (globalThis as { gc?: () => void }).gc
if (gc === undefined) throw new Error('run with --expose-gc')

const system = ActorSystem.create('idle')
let greeted = 0
let done = (): void => {}
const greeter = receive<Hello>(() => {
  if (++greeted === count) done()
  return same
})
const all = new Promise<void>((resolve) => (done = resolve))
system.spawn(receive<Hello>(() => same)).tell({ type: 'hello', id: -1 })
await new Promise((resolve) => setImmediate(resolve))
gc()
gc()
const before = process.memoryUsage().heapUsed
for (let i = 0; i < count; i++) system.spawn(greeter, { name: `a${i}` }).tell({ type: 'hello', id: i })
await all
await new Promise((resolve) => setImmediate(resolve))
gc()
gc()
const after = process.memoryUsage().heapUsed
if (system.counts().active !== count + 1) throw new Error(`expected ${count + 1} actors, got ${system.counts().active}`)
console.log(JSON.stringify((after - before) / count))
process.exit(0)
