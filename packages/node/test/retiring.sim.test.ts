// A thread of its own ends with its actor, but not before what that actor told others last has left it.

import { receive, stopped, supervise } from '@troupe/core'
import { simulate, type Simulation } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { SimThreads } from './sim/simulated-threads.ts'

test('what an actor on a thread of its own told somebody who is between two threads arrives, although the actor stopped', async () => {
  let heard = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 16_384 })
      let arrived = false
      const listener = threads.define('listener', () =>
        receive<string>(() => {
          arrived = true
          heard++
        }),
      )
      const speaker = threads.define('speaker', () =>
        receive<typeof to>((_ctx, ref) => {
          ref.tell('the last word')
          return stopped
        }),
      )
      const supervision = supervise({ backoff: { min: 300, max: 300, factor: 1, jitter: 0 } })
      const to = sim.system.spawn(listener(), { dispatcher: 'parallel', supervision })
      const from = sim.system.spawn(speaker(), { dispatcher: 'pinned' })
      sim.after(100, () => threads.living.find((t) => t.started?.exchange.residents.hosted(to.uid) !== undefined)?.crash())
      sim.after(200, () => from.tell(to))
      sim.eventually('it hears the last word', () => arrived)
    },
    { places: true, duration: 400, grace: 2000, maxSteps: 40_000, faults: 'none', seeds: 10, name: 'retiring' },
  )
  expect(heard).toBe(10)
})
