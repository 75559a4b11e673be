// A busy system that is told to end at any moment: while starting, failing, waiting, or already ending.

import { type ActorRef, type Behavior, receive, same, setup, SystemClosed } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Busy = 'work' | 'wait' | 'fail' | 'never' | 'spawn'

const busy = (sim: Simulation): Behavior<Busy> =>
  setup<Busy>((ctx) => {
    ctx.timers.every('beat', 40, 'work')
    return receive<Busy>(
      (c, m) => {
        switch (m) {
          case 'work':
            return same
          case 'wait':
            return sim.delay().then(() => same)
          case 'fail':
            throw new Error('busy')
          case 'never':
            return sim.never()
          case 'spawn':
            try {
              c.spawn(busy(sim), { stopTimeout: 50 })
            } catch (cause) {
              sim.check(cause instanceof SystemClosed || sim.system.phase !== 'open', `spawn failed in an open system: ${String(cause)}`)
            }
            return same
        }
      },
      (_c, s) => {
        if (s.type === 'PostStop' && sim.choose(6) === 1) return sim.choose(3) === 1 ? sim.never() : sim.delay().then(() => same)
        if (s.type === 'PreStop' && sim.choose(6) === 1) throw new Error('in PreStop')
        return same
      },
    )
  })

function run(sim: Simulation): void {
  const refs: ActorRef<Busy>[] = []
  for (let i = 0; i <= sim.choose(3); i++) refs.push(sim.system.spawn(busy(sim), { stopTimeout: 50 }))
  const kinds: readonly Busy[] = ['work', 'wait', 'spawn', 'fail', 'never']
  sim.plan(sim.int(1, 12), () => refs[sim.choose(refs.length)]!.tell(sim.oneOf(kinds)))
  const deadline = sim.oneOf([400, 20, 0])
  const drain = sim.choose(2) === 1
  let resolved = 0
  let at = Infinity
  const end = (): void => {
    at = Math.min(at, sim.now)
    const first = sim.system.shutdown({ deadline, drain })
    sim.check(sim.system.shutdown() === first, 'a second shutdown is another one')
    void first.then((report) => {
      resolved++
      sim.check(sim.system.phase === 'closed', 'a shutdown resolved before the system was closed')
      sim.check(sim.system.counts().active === 0 || report.killed.length > 0, 'actors are left after a shutdown')
      sim.check(sim.faulted || sim.now <= at + deadline + 1000, `the shutdown took ${sim.now - at} ms`)
    })
  }
  sim.after(sim.choose(120), end)
  if (sim.choose(3) === 1) sim.after(sim.choose(200), end)
  sim.eventually('the shutdown resolved', () => resolved > 0)
  sim.eventually('telling the dead is a dead letter', () => {
    const before = sim.system.deadLetters.count
    refs[0]!.tell('work')
    return sim.system.deadLetters.count === before + 1
  })
}

export const shutdownAnyMoment: LibraryScenario = {
  name: 'shutdown at any moment',
  about: 'a busy system always ends by its deadline',
  run,
  options: { duration: 400, grace: 2500 },
}
