import { ActorSystem, type AnyRef, formatTree, listRoutees } from '@troupe/core'
import { hireMore, startService } from './service.ts'

// What fails here fails on purpose, and is told below: no log.
await using system = ActorSystem.create('pictures', { logger: false })
const service = startService(system)
const { resizers, cache, mirrors } = service

console.log(await Promise.all(['a.png', 'b.png', 'c.png'].map((picture) => resizers.ask({ type: 'resize', picture }))))
console.log(await resizers.ask({ type: 'resize', picture: 'x.broken' }).catch((cause: Error) => cause.message))
hireMore(service, 4)
console.log(`${(await resizers.ask<readonly AnyRef[]>(listRoutees)).length} resizers now`)

await cache.ask({ type: 'lookup', picture: 'a.png' })
console.log(await cache.ask({ type: 'lookup', picture: 'a.png' }))
console.log(await mirrors.ask({ type: 'fetch', picture: 'a.png' }))
console.log(formatTree(await system.inspect()))
