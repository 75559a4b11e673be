// A node whose thread asks an actor of a kind that no node hosts: prints what comes of it.

import { ActorSystem, receive, same } from '@troupe/core'
import { Cluster, memory } from '@troupe/cluster'
import { threads } from '@troupe/node'
import { asker } from './asker.mjs'

const system = ActorSystem.create('a', { logger: false })
threads(system, { size: 2 })
const cluster = await Cluster.join(system, { name: 'shop', node: 'a', engine: memory(), lease: 1_000 })
const kind = cluster.sharded('greeter', () => receive(() => same), { role: 'greeters' })
await kind.ready
const ref = system.spawn(asker(), { dispatcher: 'parallel' })
for (const timeout of [20_000, 60_000]) console.log(await ref.ask({ target: kind.ref('x'), timeout }, { timeout: 120_000 }))
await cluster.leave()
await system.shutdown()
