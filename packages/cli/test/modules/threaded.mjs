// An application that uses the threads that the command gave it, by its system and inside an actor.
import { receive, same, setup } from '@troupe/core'
import { threadsOf } from '@troupe/node'

export const options = { logger: false }

export default async function threaded(system) {
  const pool = threadsOf(system)
  if (pool === undefined) throw new Error('no threads')
  await system.started(
    system.spawn(
      setup((ctx) => {
        if (threadsOf(ctx.system) !== pool) throw new Error('other threads')
        return receive(() => same)
      }),
      { name: `of-${pool.size}`, supervision: 'escalate' },
    ),
  )
}
