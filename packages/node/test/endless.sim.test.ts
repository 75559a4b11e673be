// An ordinary actor waits for a supervisor below it as long as that declares, also where the two are not on one thread.

import { child, receive, setup, supervisor } from '@troupe/core'
import { simulate, type Simulation } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { SimThreads } from './sim/simulated-threads.ts'

test.each([
  ['on a thread', undefined],
  ['on another thread than its parent', 'parallel'],
  ['of the main thread', 'none'],
])('a supervisor below an actor %s has the time it declares', async (_, between) => {
  let ended = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 2, hangAfter: 1000, ringBytes: 16_384 })
      let finished = false
      const slow = threads.define('slow', () =>
        receive<string>(
          () => {},
          async (_ctx, signal) => {
            if (signal.type !== 'PostStop') return
            // Longer than the five seconds that an actor has by default.
            await new Promise<void>((resolve) => sim.after(8000, resolve))
            if (sim.system.phaseOf(ref) !== 'stopping') return
            finished = true
            ended++
          },
        ),
      )
      const family = threads.define('family', () => supervisor({ children: [child('slow', slow(), { shutdown: 10_000 })] }))
      const parent = threads.define('parent', () =>
        setup<string>((ctx) => {
          ctx.spawn(family(), between === undefined ? {} : { dispatcher: between })
          return receive<string>(() => {})
        }),
      )
      const ref = sim.system.spawn(
        setup<string>((ctx) => {
          if (between === 'none') ctx.spawn(family(), { dispatcher: 'parallel' })
          else ctx.spawn(parent(), { dispatcher: 'parallel' })
          return receive<string>(() => {})
        }),
      )
      sim.after(200, () => sim.system.stop(ref))
      sim.eventually('the end of the one that takes its time is not cut off', () => finished)
    },
    { places: true, duration: 300, grace: 12_000, maxSteps: 40_000, faults: 'none', seeds: 10, name: 'endless' },
  )
  expect(ended).toBe(10)
})
