// Twelve tasks of 50 ms, five at a time.

import { ActorSystem, delay } from '@troupe/core'
import { RateLimitedProcessor } from './processor.ts'

await using system = ActorSystem.create('limited')
const processor = system.spawn(RateLimitedProcessor, { name: 'processor' })
const started = performance.now()
for (let i = 1; i <= 12; i++)
  processor.tell.process(async (signal) => {
    console.log(`${String(Math.round((performance.now() - started) / 50) * 50).padStart(4)} ms  task ${i}`)
    await delay(50, { signal })
  })
for (let load = await processor.ask.load(); load.done < 12; load = await processor.ask.load()) await delay(20)
console.log(await processor.ask.load())
