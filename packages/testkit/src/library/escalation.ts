// Failures that climb: a leaf fails, its parent fails with Escalated, and so on, as far as the policies say. The system
// ends if and only if a failure climbs past the top.

import { type ActorRef, type Behavior, Escalated, receive, same, setup, supervise } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Climb = 'work' | 'wait' | 'fail'

const stillborn: Behavior<never> = setup<never>(() => {
  throw new Error('never came up')
})

function run(sim: Simulation): void {
  const depth = sim.int(2, 3)
  const refs: ActorRef<Climb>[] = []
  // From the top: who escalates hands a failure up, the others restart or go on.
  const policies = Array.from({ length: depth }, (_, i) =>
    sim.oneOf(i === 0 ? (['restart', 'resume', 'escalate'] as const) : (['escalate', 'restart', 'resume'] as const)),
  )
  const lives: number[] = []
  const node = (i: number): Behavior<Climb> =>
    setup<Climb>((ctx) => {
      lives[i] = (lives[i] ?? 0) + 1
      if (i === 0) ctx.spawn(stillborn, { name: 'stillborn' })
      if (i + 1 < depth) {
        const limit = supervise({
          decide: () => (policies[i + 1] === 'escalate' ? 'escalate' : policies[i + 1] === 'restart' ? 'restart' : 'resume'),
          limit: { restarts: 100, within: 1000 },
          backoff: { min: 1, max: 2, jitter: 0 },
        })
        refs[i + 1] = ctx.spawn(node(i + 1), { name: `n${i + 1}`, supervision: limit, stopTimeout: 20 })
      }
      return receive<Climb>(
        (_c, m) => {
          if (m === 'fail') {
            failures[i] = (failures[i] ?? 0) + 1
            throw new Error(`at depth ${i}`)
          }
          return m === 'wait' ? sim.delay().then(() => same) : same
        },
        (_c, s) => {
          if (s.type === 'ChildFailed' && s.child.path.endsWith('stillborn')) {
            births++
            sim.check(s.directive === 'stop', `a first start that failed is answered by ${s.directive}`)
          }
          if (s.type === 'PreRestart' && s.cause instanceof Escalated)
            sim.check(s.cause.message.includes(`n${i + 1}`), `an escalation names the wrong child: ${s.cause.message}`)
          return same
        },
      )
    })
  const failures: number[] = []
  let births = 0
  sim.eventually(
    'a parent hears of a child that never came up, once',
    () => sim.faulted || (failures[0] ?? 0) > 0 || policies[1] === 'escalate' || births === 1,
  )
  const top = supervise({
    decide: () => (policies[0] === 'escalate' ? 'escalate' : policies[0] === 'restart' ? 'restart' : 'resume'),
    limit: { restarts: 100, within: 1000 },
    backoff: { min: 1, max: 2, jitter: 0 },
  })
  refs[0] = sim.system.spawn(node(0), { name: 'n0', supervision: top, stopTimeout: 20 })
  sim.plan(sim.int(1, 10), () => refs[sim.choose(refs.length)]?.tell(sim.oneOf(['fail', 'work', 'wait'])))
  const climbs = (from: number): boolean => policies.slice(0, from + 1).every((p) => p === 'escalate')
  sim.eventually(
    'the system ends only by a failure that climbed past the top',
    () => sim.system.phase === 'open' || failures.some((n, i) => n > 0 && climbs(i)) || sim.faulted,
  )
  sim.eventually(
    'a failure that climbed past the top ends the system',
    () => sim.faulted || !failures.some((n, i) => n > 0 && climbs(i)) || sim.system.phase !== 'open',
  )
  sim.eventually(
    'a failure that stays below does not restart those above',
    () => sim.faulted || policies[1] === 'escalate' || (failures[0] ?? 0) > 0 || lives[0] === 1,
  )
  sim.eventually('where nobody restarts, nobody is restarted', () => sim.faulted || policies.includes('restart') || lives.every((n) => n === 1))
  sim.eventually(
    'all are up in the end',
    () => sim.faulted || sim.system.phase !== 'open' || refs.every((ref) => sim.system.phaseOf(ref) === 'running'),
  )
}

export const escalation: LibraryScenario = { name: 'escalation', about: 'failures climb as far as the policies say', run }
