import { setTimeout as sleep } from 'node:timers/promises'
import { ActorSystem } from '@troupe/core'
import { openShop } from './shop.ts'

// What fails here fails on purpose, and is told below: no log.
await using system = ActorSystem.create('shop', { logger: false })
const { till, books, audited, audit, watch } = openShop(system, () => sleep(5))
for (let id = 1; id <= 50; id++) till.tell({ id, cents: id === 25 ? -1 : 100 })
await sleep(200)
console.log(`the books say ${books.total / 100}`)
console.log(`audited ${audited.join(', ')}; ${audit.dropped} were lost`)
for (const o of watch.drain()) if (o.type === 'actor.failed') console.log(`${o.ref.path}: ${(o.cause as Error).message} → ${o.directive}`)
const { messages, supervision, dispatchers } = system.metrics()
console.log({ ...messages, restarts: supervision.restarts, perTurn: dispatchers[0]!.messagesPerTurn.toFixed(1) })
