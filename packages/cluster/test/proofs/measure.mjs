// `npm run measure:cluster`: what a cluster takes on a real NATS server. `crowd`: many nodes of one process join at once, and share the shards of a
// kind. `idle`: messages between a node and NATS while nothing happens, with few and with many shards. `leave`: how long a node with many
// shards takes to leave where NATS is some way off. Each is held against its goal; the machine should have nothing else to do.

import { once } from 'node:events'
import { connect } from 'node:net'
import { ActorSystem, receive, same } from '@troupe/core'
import { Cluster, nats } from '@troupe/cluster'
import { commandLine, oneOf, whole } from '@troupe/testkit/internal'
import { freePort } from '../../../../tools/engines/server.mjs'
import { findNats, startNats } from '../../../../tools/engines/nats.mjs'
import { startProxy } from '../chaos/proxy.mjs'

const parts = ['crowd', 'idle', 'leave']
const { nodes, shards, lease, seconds, only } = commandLine({
  name: 'npm run measure:cluster',
  about:
    'Joins of many nodes at once, idle traffic by number of shards, and leaving with a slow engine, on a real NATS server. Ends with 1 where a goal is missed.',
  options: {
    nodes: whole('how many nodes join at once', 50, { from: 2 }),
    shards: whole('how many shards the kind has', 1_024),
    lease: whole('the lease of a node in ms', 5_000, { from: 1_000 }),
    seconds: whole('for how long idle traffic is counted', 30),
    only: oneOf('part', parts, 'just this part (default: all)', undefined),
  },
})
const silent = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false }
const echo = () =>
  receive((_ctx, m) => {
    m.replyTo.tell(m.n)
    return same
  })
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const inSeconds = (ms) => `${(ms / 1_000).toFixed(1)} s`

const found = findNats()
if (found === undefined) {
  process.stderr.write('No nats-server was found; npm run engines -- --only nats fetches one.\n')
  process.exit(1)
}

/** Whether it came to be within so many milliseconds. */
async function within(ms, condition) {
  const deadline = performance.now() + ms
  while (!condition()) {
    if (performance.now() > deadline) return false
    await wait(20)
  }
  return true
}
async function until(what, condition) {
  if (!(await within(120_000, condition))) throw new Error(`Waited two minutes in vain: ${what}`)
}

/** A node that hosts the kind once `host` is called. */
async function join(name, cluster, servers) {
  const system = ActorSystem.create(name, { logger: silent })
  const node = await Cluster.join(system, { name: cluster, node: name, engine: nats({ servers }), lease })
  const host = (count) => (life.kind = node.sharded('cart', echo, { shards: count }))
  const life = { system, node, host, kind: undefined, lost: undefined }
  void node.ended.then((cause) => (life.lost = cause))
  return life
}
async function end(lives) {
  await Promise.all(
    lives.map(async ({ system, node }) => {
      await node.leave({ deadline: 1 })
      await system.shutdown({ deadline: 1_000 })
    }),
  )
}

async function crowd() {
  const server = await startNats(found)
  const began = performance.now()
  const since = () => performance.now() - began
  const members = []
  const lives = await Promise.all(
    Array.from({ length: nodes }, async (_, i) => {
      const life = await join(`n${i}`, 'crowd', server.url)
      members.push(since())
      if (life.lost === undefined) life.host(shards)
      return life
    }),
  )
  const joined = Math.max(...members)
  const kinds = lives.flatMap(({ kind }) => (kind === undefined ? [] : [kind]))
  const active = () => kinds.reduce((sum, kind) => sum + kind.active.length, 0)
  const largest = () => Math.max(...kinds.map((kind) => kind.active.length))
  // Each has about its share, and each shard runs once: at three looks in a row.
  let calm = 0
  const isCalm = () => {
    const isSpread = active() === shards && largest() <= (4 * shards) / nodes + 8 && kinds.every((kind) => kind.active.length > 0)
    const isKnown = lives.every(({ node }) => node.members.length === nodes)
    calm = isSpread && isKnown ? calm + 1 : 0
    return calm >= 3
  }
  const settled = await within(120_000, isCalm)
  const owned = since()
  const { user, system } = process.cpuUsage()
  const lost = lives.filter((life) => life.lost !== undefined).length
  console.log(
    `crowd: ${nodes} nodes joined within ${inSeconds(joined)}; ${settled ? 'all shards ran, spread over all of them,' : `NOT settled, ${active()} of ${shards} shards ran`} after ${inSeconds(owned)}, at most ${largest()} on one; ${lost} sessions were lost; ${inSeconds((user + system) / 1_000)} of CPU`,
  )
  await end(lives)
  await server.end()
  return settled && joined <= 3 * lease && owned <= 30_000 && lost === 0
}

/** How many messages and bytes a server has had from its clients, and sent to them. */
async function traffic(port) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('GET /varz HTTP/1.0\r\n\r\n')
  let text = ''
  for await (const chunk of socket) text += chunk
  const { in_msgs, out_msgs, in_bytes, out_bytes } = JSON.parse(text.slice(text.indexOf('\r\n\r\n')))
  return { messages: in_msgs + out_msgs, bytes: in_bytes + out_bytes }
}

async function idle() {
  const size = 3
  const rates = []
  for (const count of [128, shards]) {
    const monitor = await freePort()
    const server = await startNats(found, { config: `http: "127.0.0.1:${monitor}"` })
    const lives = await Promise.all(Array.from({ length: size }, (_, i) => join(`n${i}`, 'idle', server.url)))
    for (const life of lives) life.host(count)
    await until('all shards run', () => lives.reduce((sum, { kind }) => sum + kind.active.length, 0) === count)
    // What was written is listed once more by each, and notes of removals run out.
    await wait(3 * lease)
    const before = await traffic(monitor)
    await wait(1_000 * seconds)
    const after = await traffic(monitor)
    const per = (of) => (after[of] - before[of]) / seconds / size
    rates.push({ count, messages: per('messages'), bytes: per('bytes') })
    await end(lives)
    await server.end()
  }
  for (const { count, messages, bytes } of rates)
    console.log(`idle: ${count} shards, ${size} nodes: ${messages.toFixed(1)} messages/s and ${bytes.toFixed(0)} bytes/s for each node`)
  const ratio = rates[1].messages / rates[0].messages
  console.log(`idle: ${shards} shards take ${ratio.toFixed(2)} times the messages of 128`)
  return ratio <= 1.2
}

async function leave() {
  let kept = true
  for (const [roundTrip, most] of [
    [20, 3_000],
    [40, 6_000],
  ]) {
    const server = await startNats(found)
    const proxy = await startProxy(server.port, { delay: roundTrip / 2 })
    const lives = await Promise.all(['a', 'b', 'c'].map((name) => join(name, 'leave', proxy.url)))
    const [a, ...others] = lives
    a.host(shards)
    await until('all run on a', () => a.kind.active.length === shards)
    const asks = { sent: 0, failed: [] }
    const load = { over: false }
    const ask = async (id) => {
      for (let n = 1; !load.over; n++) {
        asks.sent++
        await others[1].kind
          .ref(id)
          .ask({ n }, { timeout: 20_000 })
          .catch((cause) => asks.failed.push(cause.code ?? cause.message))
        await wait(20)
      }
    }
    const began = performance.now()
    for (const life of others) life.host(shards)
    const clients = Array.from({ length: 32 }, (_, i) => ask(`id-${i}`))
    await a.node.leave()
    const took = performance.now() - began
    await until('the others have all', () => others.reduce((sum, { kind }) => sum + kind.active.length, 0) === shards)
    load.over = true
    await Promise.all(clients)
    console.log(
      `leave: ${shards} shards at a round trip of ${roundTrip} ms: ${inSeconds(took)}; ${asks.failed.length} of ${asks.sent} asks failed${asks.failed.length > 0 ? ` (${[...new Set(asks.failed)].join(', ')})` : ''}`,
    )
    kept &&= took <= most && asks.failed.length === 0
    await end(lives)
    proxy.close()
    await server.end()
  }
  return kept
}

const measured = []
for (const part of parts) if (only === undefined || only === part) measured.push([part, await { crowd, idle, leave }[part]()])
const missed = measured.filter(([, kept]) => !kept).map(([part]) => part)
console.log(missed.length === 0 ? 'All goals are met.' : `Goals are missed: ${missed.join(', ')}.`)
process.exit(missed.length === 0 ? 0 : 1)
