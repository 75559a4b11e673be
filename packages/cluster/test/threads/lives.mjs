// Watches of sharded actors from another thread: prints what each watcher hears, and what its node keeps of it, one line each.

import { ActorSystem, receive, same, stopped } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { Cluster, memory } from '@troupe/cluster'
import { threads } from '@troupe/node'
import { watcher } from './watcher.mjs'

const engine = memory()
const worker = () =>
  receive((_ctx, { type, replyTo }) => {
    if (type === 'fail') throw new Error('broken')
    if (type === 'hello') replyTo.tell('here')
    return type === 'stop' ? stopped : same
  })
const systems = ['a', 'b'].map((name) => ActorSystem.create(name, { logger: false }))
threads(systems[0], { size: 2 })
const clusters = []
for (const system of systems) clusters.push(await Cluster.join(system, { name: 'lives', node: system.name, engine, lease: 30_000 }))
const [onA, onB] = clusters.map((cluster) => cluster.sharded('worker', worker, { shards: 8 }))
const sleepy = clusters.map((cluster) => cluster.sharded('sleepy', worker, { shards: 4, passivateAfter: 100 }))[0]
const until = async (what, isTrue) => {
  for (let i = 0; i < 3_000; i++) {
    if (await isTrue()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`waited in vain: ${what}`)
}
const ids = Array.from({ length: 60 }, (_, n) => `w${n}`)
await until('all shards have an owner', () => onA.active.length + onB.active.length === 8 && ids.every((id) => onA.ownerOf(id) !== undefined))
const idsOn = (node) => ids.filter((id) => onA.ownerOf(id) === node)
const byThread = systems[0].spawn(watcher(), { dispatcher: 'parallel', placement: { thread: 0 } })
const ask = (order) => byThread.ask(order, { timeout: 60_000 })
const { watchers } = coreOf(systems[0]).otherPlaces
const kept = () => watchers.own.size

for (const node of ['a', 'b']) {
  const [stops, fails, given, absent] = idsOn(node).map((id) => onA.ref(id))
  // Told and watched in one turn, in both orders; the watch is of the actor that the message makes.
  await ask({ type: 'watch', ref: stops, tell: 'work' })
  await ask({ type: 'watch', ref: fails, tell: 'work' })
  await until('both are watched', () => kept() === 2)
  console.log(`${node} quiet ${(await ask({ type: 'heard' })).length}`)
  stops.tell({ type: 'stop' })
  for (let n = 0; n < 4; n++) fails.tell({ type: 'fail' })
  await until('both have ended', async () => (await ask({ type: 'heard' })).length === 2)
  console.log(`${node} ends ${(await ask({ type: 'forget' })).toSorted().join(' ')} kept ${kept()}`)
  // The ref is as good as before, and its next life can be watched.
  console.log(`${node} again ${String(await ask({ type: 'hello', ref: stops }))}`)
  await ask({ type: 'watch', ref: stops })
  await until('it is watched', () => kept() === 1)
  stops.tell({ type: 'stop' })
  await until('it has ended', async () => (await ask({ type: 'heard' })).length === 1)
  console.log(`${node} next ${(await ask({ type: 'forget' })).join(' ')}`)
  await ask({ type: 'watch', ref: given, tell: 'work' })
  await until('it is watched', () => kept() === 1)
  await ask({ type: 'unwatch', ref: given })
  await until('nothing is kept of it', () => kept() === 0)
  given.tell({ type: 'stop' })
  await ask({ type: 'watch', ref: absent })
  await until('it is told', async () => (await ask({ type: 'heard' })).length === 1)
  console.log(`${node} absent ${(await ask({ type: 'forget' })).join(' ')}`)
}
const naps = sleepy.ref('nap')
await ask({ type: 'watch', ref: naps, tell: 'work' })
await until('it sleeps', async () => (await ask({ type: 'heard' })).length === 1)
console.log(`sleeps ${(await ask({ type: 'forget' })).join(' ')}`)
// More messages than credit, and a watch behind them.
const flooded = onA.ref(idsOn('b')[5])
await ask({ type: 'flood', ref: flooded, count: 20_000 })
await until('it has all', () => kept() === 1)
console.log(`flooded ${(await ask({ type: 'heard' })).length}`)
// A watcher that stops, and a node that leaves.
const [first, second] = idsOn('b')
  .slice(6, 8)
  .map((id) => onA.ref(id))
const brief = systems[0].spawn(watcher(), { dispatcher: 'parallel', placement: { thread: 1 } })
await brief.ask({ type: 'watch', ref: first, tell: 'work' }, { timeout: 60_000 })
await until('two are watched', () => kept() === 2)
systems[0].stop(brief)
await until('one is watched', () => kept() === 1)
await ask({ type: 'watch', ref: second, tell: 'work' })
await until('two are watched again', () => kept() === 2)
await clusters[0].leave()
await until('it is told', async () => (await ask({ type: 'heard' })).length === 2)
console.log(`left ${(await ask({ type: 'forget' })).toSorted().join(' ')}`)
await clusters[1].leave()
await Promise.all(systems.map((system) => system.shutdown()))
