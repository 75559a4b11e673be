// What stands for an actor of another thread and the actor itself agree on whether it is suspended.

import { receive } from '@troupe/core'
import { simulate, type Simulation } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { SimThreads } from './sim/simulated-threads.ts'

test('an actor that was suspended while it failed goes on after its restart', async () => {
  let heard = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 16_384 })
      let here = false
      const actor = threads.define('actor', () =>
        receive<string>((_ctx, message) => {
          if (message === 'fail') {
            // The word is on its way when the failure is: it comes to an actor that has failed.
            sim.system.suspend(ref, 'for a while')
            throw new Error('broken')
          }
          here = true
          heard++
        }),
      )
      const ref = sim.system.spawn(actor(), { dispatcher: 'parallel', supervision: 'restart' })
      ref.tell('fail')
      // Told to go on before it is back: what suspended it must not come after that.
      sim.system.events.listen((event) => {
        const { from } = event as { readonly from: string }
        if (from === 'restarting') sim.system.resume(ref)
      }, 'actor.phase')
      sim.after(500, () => ref.tell('hello'))
      sim.eventually('it handles what it is told', () => here)
    },
    { places: true, duration: 600, grace: 1000, maxSteps: 40_000, faults: 'none', seeds: 30, name: 'suspension' },
  )
  expect(heard).toBe(30)
})
