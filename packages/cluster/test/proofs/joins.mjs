// `npm run joins:cluster`: K15. Nodes join, have shards, actors, subscriptions and messages, and leave, over and over, several at a time; one node stays.
// Afterwards it has what it had before the first of them: counted, and in bytes of heap. In one process, by memory() and in real time.

import { ActorSystem, receive, same, serviceKey } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { Cluster, memory } from '@troupe/cluster'
import { commandLine, whole } from '@troupe/testkit/internal'

const { joins, at: lanes } = commandLine({
  name: 'npm run joins:cluster',
  about: 'Nodes join a cluster and leave it, over and over. Ends with 1 where the one that stays keeps anything of them.',
  options: { joins: whole('how many joins', 10_000), at: whole('how many nodes at a time', 6) },
})
/** Heap that may be more at the end than after the first joins: what is kept of the last 64 sessions, and noise. */
const slack = 4 * 1_048_576
const warm = Math.min(500, Math.ceil(joins / 4))
const lease = 60_000
const silent = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false }
const engine = memory()
const key = serviceKey('visitor')
const shards = 8
const counter = () => receive(() => same)
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Whether it came to be within so many milliseconds. */
async function within(ms, condition) {
  const end = performance.now() + ms
  while (!condition()) {
    if (performance.now() > end) return false
    await wait(2)
  }
  return true
}
async function until(what, condition) {
  if (!(await within(60_000, condition))) throw new Error(`waited in vain: ${what}`)
}

const home = ActorSystem.create('home', { logger: silent })
const cluster = await Cluster.join(home, { name: 'joins', node: 'home', engine, lease })
const kind = cluster.sharded('cart', counter, { shards })
await until('home has all shards', () => kind.active.length === shards)
const directory = home.spawn(counter())
cluster.receptionist.subscribe(key, directory)
let done = 0

/** One life of a node. */
async function live(name, life) {
  const system = ActorSystem.create(name, { logger: silent })
  const visitor = await Cluster.join(system, { name: 'joins', node: name, engine, lease })
  const theirs = visitor.sharded('cart', counter, { shards })
  visitor.receptionist.register(key, system.spawn(counter()))
  visitor.topic('news').subscribe(system.spawn(counter()))
  for (let id = 0; id < 4; id++) theirs.ref(`${name}-${id}`).tell(life)
  cluster.topic('news').publish(life)
  // Some have their share of shards before they leave, some not yet.
  if (life % 4 === 0) await theirs.ready
  if (life % 16 === 0) await within(2_000, () => theirs.active.length > 0)
  await visitor.leave()
  await system.shutdown()
  done++
}

async function settled() {
  await until('all are gone', () => cluster.members.length === 1 && kind.active.length === shards)
  await wait(200)
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await wait(20)
  }
  const node = coreOf(home).otherPlaces
  const { sent, handled, failed, unhandled, dropped, deadLettered, queued, stashed, inProgress, unknown } = await cluster.ledger()
  const open = sent - (handled + failed + unhandled + dropped + deadLettered + queued + stashed + inProgress + unknown)
  return {
    kept: {
      members: cluster.members.length,
      channels: node.channels.size,
      exports: node.border.exchange.residents.exportedCount,
      places: node.border.places.others.size,
      waiting: kind.waiting ?? 0,
      actors: coreOf(home).guardian.children.size,
      registered: cluster.receptionist.find?.(key)?.length ?? 0,
      unaccounted: open,
    },
    heap: process.memoryUsage().heapUsed,
  }
}

async function run(total) {
  let begun = 0
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      while (begun < total) await live(`n${lane}`, begun++)
    }),
  )
}

const began = performance.now()
await run(warm)
const before = await settled()
const say = setInterval(() => process.stderr.write(`${done} joins\n`), 15_000)
await run(joins - warm)
clearInterval(say)
const after = await settled()
const same1 = JSON.stringify(before.kept) === JSON.stringify(after.kept)
const grown = after.heap - before.heap
console.log(`${done} joins and leaves in ${((performance.now() - began) / 1_000).toFixed(0)} s, ${lanes} at a time`)
console.log(`  after the first ${warm}: ${JSON.stringify(before.kept)}, heap ${(before.heap / 1e6).toFixed(1)} MB`)
console.log(`  after all: ${JSON.stringify(after.kept)}, heap ${(after.heap / 1e6).toFixed(1)} MB`)
const held = globalThis.gc !== undefined && grown > slack
console.log(same1 && !held ? 'Nothing is kept of them.' : `Something is kept: ${same1 ? `${(grown / 1e6).toFixed(1)} MB of heap` : 'see above'}.`)
await cluster.leave()
await home.shutdown()
process.exitCode = same1 && !held ? 0 : 1
