// A process that has a sharded actor which takes nothing until it is told so, by a line; it says how much it has in memory, a line for each.

import { createInterface } from 'node:readline'
import { ActorSystem, receive, same } from '@troupe/core'
import { Cluster, nats } from '@troupe/cluster'

const [url] = process.argv.slice(2)
const system = ActorSystem.create('owner', { logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, isLevelEnabled: () => false } })
const cluster = await Cluster.join(system, { name: 'slow', node: 'owner', engine: nats({ servers: url }), roles: ['works'] })
let open = () => {}
const gate = new Promise((resolve) => (open = resolve))
let handled = 0
const worker = () =>
  receive(async () => {
    await gate
    handled++
    return same
  })
await cluster.sharded('works', worker, { role: 'works', shards: 4, passivateAfter: false }).ready

const say = () => console.log(JSON.stringify({ handled, heap: process.memoryUsage().heapUsed }))
setInterval(say, 100)
createInterface({ input: process.stdin }).on('line', () => open())
process.stdin.on('close', () => process.exit(0))
