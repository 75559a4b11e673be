// What stands for an actor of another thread goes by what that thread says of the step that is waited for, and by nothing older.

import { receive, setup, supervise } from '@troupe/core'
import { simulate, type Simulation } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { SimThreads } from './sim/simulated-threads.ts'

const times = { places: true, duration: 600, grace: 1000, maxSteps: 40_000, faults: 'none', seeds: 60 } as const

test('an actor that is killed while it comes up on its thread is not taken for gone before it is', async () => {
  let gone = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 16_384 })
      const actor = threads.define('actor', () => receive<string>(() => {}))
      sim.after(50, () => {
        const ref = sim.system.spawn(actor(), { dispatcher: 'parallel' })
        sim.after(sim.oneOf([1, 2, 3, 5]), () => sim.system.kill(ref))
        sim.system.whenTerminated(ref).then(
          () => {
            gone++
            if (threads.exchangeOf(1)?.residents.hosted(ref.uid) !== undefined) sim.violate('C4', 'it is still there on its thread')
          },
          () => {},
        )
      })
    },
    { ...times, name: 'killed while it comes up' },
  )
  expect(gone).toBe(times.seeds)
})

test('an actor that fails while it is told to restart has restarted once', async () => {
  let met = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 16_384 })
      let begun = 0
      const actor = threads.define('actor', () =>
        setup<string>(() => {
          begun++
          return receive<string>(() => {
            // Both are on their way to the other at the same time.
            sim.system.restart(ref)
            throw new Error('broken')
          })
        }),
      )
      const supervision = supervise({ backoff: { min: 0, max: 0 } })
      const ref = sim.system.spawn(actor(), { dispatcher: 'parallel', supervision })
      sim.after(100, () => ref.tell('fail'))
      sim.eventually('it has begun twice, and not a third time', () => {
        if (begun === 2) met++
        return begun === 2
      })
    },
    { ...times, name: 'failing while it restarts' },
  )
  expect(met).toBeGreaterThan(0)
})
