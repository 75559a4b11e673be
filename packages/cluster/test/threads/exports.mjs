// Refs of sharded actors that threads got and let go: prints how many of them their node still keeps.

import { setTimeout as delay } from 'node:timers/promises'
import { ActorSystem, receive, same } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { Cluster, memory } from '@troupe/cluster'
import { threads } from '@troupe/node'
import { holder } from './holder.mjs'

const system = ActorSystem.create('a', { logger: false })
threads(system, { size: 2 })
const cluster = await Cluster.join(system, { name: 'exports', node: 'a', engine: memory(), lease: 30_000 })
const counter = () => {
  let count = 0
  return receive((_ctx, { type, replyTo }) => {
    if (type === 'add') count++
    if (type === 'get') replyTo.tell(count)
    return same
  })
}
const kind = cluster.sharded('counter', counter, { shards: 8 })
const [first, second] = [0, 1].map((thread) => system.spawn(holder(), { dispatcher: 'parallel', placement: { thread } }))
const ask = (actor, type, rest = {}) => actor.ask({ type, ...rest }, { timeout: 60_000 })
const { residents } = coreOf(system).otherPlaces.before.exchange
await ask(first, 'gc')
await ask(second, 'gc')
const before = residents.exportedCount
/** Collects garbage on all threads until at most this number is kept. */
const until = async (most) => {
  for (let i = 0; i < 100 && residents.exportedCount - before > most; i++) {
    globalThis.gc()
    for (const actor of [first, second]) await ask(actor, 'gc')
    await delay(20)
  }
  return residents.exportedCount - before
}
/** Of each thread both ends of the way know the last 1024 refs by a number, and keep them. */
const most = 2 * 1024 + 64
const many = async (actor, name, count) => {
  for (let n = 0; n < count; n++) actor.tell({ type: 'look', ref: kind.ref(`${name}${n}`) })
  await ask(actor, 'look')
}

await many(first, 'x', 6_000)
console.log('most given back', (await until(most)) <= most)

// Passed on from thread to thread: the second holds what the first has let go.
await ask(first, 'pass', { ref: kind.ref('kept'), to: second })
await many(first, 'y', 3_000)
await many(second, 'z', 3_000)
console.log('most given back', (await until(most)) <= most)
await ask(second, 'tell')
let told = 0
for (let i = 0; i < 300 && told === 0; i++) {
  told = await kind.ref('kept').ask({ type: 'get' }, { timeout: 60_000 })
  await delay(20)
}
console.log('messages to the kept ref', told)

await cluster.leave()
await system.shutdown()
