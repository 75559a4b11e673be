// A process with a sharded actor that takes nothing until a line comes on standard input. It prints how much memory it uses.

import { createInterface } from 'node:readline'
import { ActorSystem, receive, same } from '@troupe/core'
import { Cluster, nats } from '@troupe/cluster'

const [url] = process.argv.slice(2)
const system = ActorSystem.create('owner', {
  logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, isLevelEnabled: () => false },
})
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
