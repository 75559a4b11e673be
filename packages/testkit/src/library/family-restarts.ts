// Siblings that share their fate, with children of their own that fail up to them: one group is restarted while another of
// its members fails for its child. Everybody comes back; nobody waits for one who has gone another way.

import { type ActorRef, type Behavior, receive, same, setup, supervise } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Act = 'work' | 'wait' | 'fail'

function run(sim: Simulation): void {
  const scope = sim.oneOf(['rest-for-one', 'all-for-one'] as const)
  const refs: ActorRef<Act>[] = []
  const size = sim.int(2, 4)
  const ending = sim.choose(4) === 3
  const slow = sim.choose(3) === 2
  const behave = (_c: unknown, m: Act): typeof same | Promise<typeof same> => {
    if (m === 'fail') throw new Error('asked to')
    return m === 'wait' ? sim.delay().then(() => same) : same
  }
  const grandchild = (i: number): Behavior<Act> =>
    setup<Act>((ctx) => {
      refs[size + i] = ctx.self
      return receive<Act>(behave)
    })
  const member = (i: number): Behavior<Act> =>
    setup<Act>((ctx) => {
      refs[i] = ctx.self
      ctx.spawn(grandchild(i), { name: 'child', supervision: 'escalate', stopTimeout: 20 })
      return receive<Act>(behave, (_c, s) => (slow && s.type === 'PreRestart' && sim.choose(2) === 1 ? sim.delay().then(() => same) : same))
    })
  const policy = supervise({ scope, limit: { restarts: 1000, within: 1000 }, backoff: { min: sim.oneOf([5, 0]), max: 40, factor: 2, jitter: 0 } })
  const parent = sim.calmly(() =>
    sim.system.spawn(
      setup<never>((ctx) => {
        for (let i = 0; i < size; i++) ctx.spawn(member(i), { name: `m${i}`, stopTimeout: 20 })
        return receive<never>(() => same)
      }),
      { name: 'parent', childSupervision: policy },
    ),
  )
  let stops = 0
  sim.plan(sim.int(2, 12), () => {
    const ref = refs[sim.choose(refs.length || 1)]
    if (ref === undefined) return
    if (ending && sim.choose(6) === 5) {
      stops++
      return ref.stop()
    }
    ref.tell(sim.oneOf(['fail', 'work', 'fail', 'wait']))
  })
  sim.eventually('everybody is up again', () => {
    if (sim.faulted || stops > 0 || sim.system.phaseOf(parent) !== 'running') return true
    return refs.every((ref) => sim.system.phaseOf(ref) === 'running')
  })
}

export const familyRestarts: LibraryScenario = {
  name: 'family restarts',
  about: 'a group is restarted while one of it fails for its child: everybody comes back',
  run,
}
