// An application that is given its system, and has an actor that does not end until it is released.
import { receive, same } from '@troupe/core'

export const options = { logger: false }

/** Ends the handler that the actor is in. */
export let release = () => {}

export default async function stubborn(system) {
  const ref = system.spawn(
    receive(
      () =>
        new Promise((resolve) => {
          release = () => resolve(same)
        }),
    ),
    { name: 'stuck', stopTimeout: 60_000 },
  )
  ref.tell('wait')
  system.spawn(
    receive(() => same),
    { name: 'idle' },
  )
  await system.started(ref)
}
