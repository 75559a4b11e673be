// Counts, fails once, goes on, and stops.

import { ActorSystem } from '@troupe/core'
import { Counter } from './counter.ts'

// What fails here fails on purpose, and is told below: no log.
await using system = ActorSystem.create('counting', { logger: false })
const counter = system.spawn(Counter, { name: 'counter', args: [3, (line) => console.log(`counter ${line}`)], supervision: 'resume' })
for (let i = 0; i < 5; i++) counter.tell.increment()
console.log('count', await counter.ask.get())
await counter.ask.setMax(-1).catch((cause: Error) => console.log('refused:', cause.message))
console.log('count', await counter.ask.get())
