// An application that is given its system, and has an actor that does not end by itself.
import { receive, same } from '@troupe/core'

export const options = { logger: false }

export default async function stubborn(system) {
  const ref = system.spawn(
    receive(() => new Promise(() => {})),
    { name: 'stuck', stopTimeout: 60_000 },
  )
  ref.tell('wait')
  ref.tell('never')
  system.spawn(
    receive(() => same),
    { name: 'idle' },
  )
  await system.started(ref)
}
