// A program in the module of its actor that forgets to ask whether it is on the main thread: the thread runs it again.

import { ActorSystem, ignore } from '@troupe/core'
import { type ActorDefinition, defineActor, threads } from '@troupe/node/threads'

export const worker: ActorDefinition<[], unknown> = defineActor(import.meta.url, 'worker', () => ignore)

const system = ActorSystem.create('unguarded', { logger: false })
threads(system, { size: 2 })
const told = await system.started(system.spawn(worker(), { dispatcher: 'pinned' })).then(
  () => 'started',
  (cause: Error) => cause.message,
)
console.log(told)
await system.shutdown()
