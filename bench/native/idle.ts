// Bytes of heap per idle actor: a million of them, named, each after one message. `node --expose-gc idle.js <troupe|raw>`.
// The floor has no names of its own, so a Map of a million names stands in for them.

import { ActorSystem, receive, same } from '@troupe/core'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'

type Hello = { type: 'hello'; id: number }

const [side = 'troupe', size = '1000000'] = process.argv.slice(2)
const count = Number(size)
const gc = (globalThis as { gc?: () => void }).gc
if (gc === undefined) throw new Error('run with --expose-gc')

const used = (): number => {
  gc()
  gc()
  return process.memoryUsage().heapUsed
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const system = ActorSystem.create('idle')
const raw = new RawSystem()
const names = new Map<string, RawActor<Hello>>()
let greeted = 0
let done = (): void => {}
const all = new Promise<void>((resolve) => (done = resolve))
const greet = (): void => {
  if (++greeted === count) done()
}
const greeter = receive<Hello>(() => {
  greet()
  return same
})
system.spawn(receive<Hello>(() => same)).tell({ type: 'hello', id: -1 })
await turn()
const before = used()
for (let id = 0; id < count; id++) {
  if (side === 'troupe') system.spawn(greeter, { name: `a${id}` }).tell({ type: 'hello', id })
  else {
    const actor = new RawActor<Hello>(raw, greet)
    names.set(`a${id}`, actor)
    actor.tell({ type: 'hello', id })
  }
}
await all
await turn()
const bytes = (used() - before) / count
if (side === 'troupe' ? system.counts().active !== count + 1 : names.size !== count) throw new Error('not all actors are there')
console.log(JSON.stringify([bytes]))
process.exit(0)
