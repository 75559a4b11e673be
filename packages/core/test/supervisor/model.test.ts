// Random trees, random ends, random requests: after each, the real supervisors must have done what the textbook one
// did, in its order, with the same refs kept and the same refused. TROUPE_RUNS sets how many; a failure shrinks to a
// small tree and a few commands such as 'crash a/b'.

import { fc } from '../properties.ts'
import { test } from 'vitest'
import { Run } from './both-sides.ts'
import { type ChildPlan, letters, type SupervisorPlan } from './model.ts'

const runs = Number(process.env['TROUPE_RUNS'] ?? 1000)

const restart = fc.constantFrom('permanent', 'permanent', 'transient', 'temporary')
const workerPlan = fc.record({ restart, significant: fc.boolean(), needs: fc.nat(7), holds: fc.boolean(), inner: fc.constant(undefined) })
const supervisorPlan = (children: fc.Arbitrary<ChildPlan>, max: number): fc.Arbitrary<SupervisorPlan> =>
  fc.record({
    strategy: fc.constantFrom('one-for-one', 'all-for-one', 'rest-for-one', 'dependents'),
    intensity: fc.constantFrom(0, 1, 2, 3, 6),
    autoShutdown: fc.constantFrom('never', 'never', 'any-significant', 'all-significant'),
    children: fc.array(children, { minLength: 1, maxLength: max }),
  })
const inner = fc.record({ restart, significant: fc.boolean(), needs: fc.nat(7), inner: supervisorPlan(workerPlan, 3) })
const tree = supervisorPlan(fc.oneof({ weight: 3, arbitrary: workerPlan }, { weight: 1, arbitrary: inner }), 4)

const target = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom<string>(...letters) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...letters), fc.constantFrom(...letters)).map(([a, b]) => `${a}/${b}`) },
)
const verbs = ['crash', 'crash', 'crash', 'crash', 'end', 'kill', 'jam', 'jam', 'jam', 'stop', 'stop', 'restart', 'delete', 'delete'] as const
const command = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...verbs), target).map((c) => c.join(' ')) },
  { weight: 1, arbitrary: fc.constantFrom('start x', 'start a/x', 'start b/x', 'jam x', 'stop x', 'delete x', 'crash x', 'tick 400', 'tick 1001') },
)

test(`supervisors do what the model does, in ${runs} random trees`, { timeout: 180_000 + runs * 20 }, async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.array(command, { maxLength: 20, size: '+1' }), async (plan, commands) => {
      const run = new Run(plan)
      run.alive = run.model.boot()
      await run.kit.settle()
      await run.compare('boot')
      for (const text of commands) {
        await run.perform(text)
        if (run.world.unspecified) break
        await run.compare(text)
      }
      await run.kit.end()
    }),
    { numRuns: runs },
  )
})
