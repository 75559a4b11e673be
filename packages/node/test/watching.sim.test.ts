// Whoever watches an actor of another thread hears of its end, whatever else that thread has to do with the actor.

import { receive, setup } from '@troupe/core'
import { simulate, type Simulation } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { SimThreads } from './sim/simulated-threads.ts'

test('the end of a parent is told to those who watch it on the thread of its child', async () => {
  let told = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 16_384 })
      let heard = false
      const child = threads.define('child', () => receive<string>(() => {}))
      const watcher = threads.define('watcher', () =>
        receive<typeof parent>(
          (ctx, ref) => ctx.watch(ref),
          (_ctx, signal) => {
            if (signal.type !== 'Terminated') return
            heard = true
            told++
          },
        ),
      )
      const parent = sim.system.spawn(
        setup<string>((ctx) => {
          ctx.spawn(child(), { dispatcher: 'parallel' })
          return receive<string>(() => {})
        }),
      )
      const watching = sim.system.spawn(watcher(), { dispatcher: 'parallel' })
      sim.after(100, () => watching.tell(parent))
      sim.after(200, () => parent.stop())
      sim.eventually('it hears of the end', () => heard)
    },
    { places: true, duration: 300, grace: 1000, maxSteps: 40_000, faults: 'none', seeds: 10, name: 'watching' },
  )
  expect(told).toBe(10)
})
