// Parents that keep their children over a restart, and children that fail up to them while they run, begin anew or are on
// their way. Who failed up shares his parent's lot: nobody begins anew on his own, at once and without end, and when all are
// well again nobody is left behind.

import { type ActorRef, type Behavior, receive, same, setup, supervise } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Deed = 'work' | 'wait' | 'fail' | 'sicken' | 'heal'

function run(sim: Simulation): void {
  const size = sim.int(1, 2)
  const kids: ActorRef<Deed>[] = []
  /** Whether a child fails at its next start. */
  const sick: boolean[] = []
  const slow = sim.choose(3) === 1
  let well = false
  let parents = 0
  const kid = (i: number): Behavior<Deed> =>
    setup<Deed>((ctx) => {
      // What cannot be made once is not made again; this is about what worked before.
      const fails = sick[i] === true && !well && ctx.incarnation > 0
      const behavior = receive<Deed>((_c, m) => {
        switch (m) {
          case 'work':
            return same
          case 'wait':
            return sim.delay().then(() => same)
          case 'sicken':
            sick[i] = true
            throw new Error(`kid ${i} fell sick`)
          case 'heal':
            sick[i] = false
            return same
          case 'fail':
            throw new Error(`kid ${i}`)
        }
      })
      if (!slow || sim.choose(2) === 0) {
        if (fails) throw new Error(`kid ${i} is sick`)
        return behavior
      }
      return sim.delay().then(() => (fails ? Promise.reject(new Error(`kid ${i} is sick`)) : behavior))
    })
  const once = supervise({ onLimit: 'escalate', limit: { restarts: 1, within: 100 }, backoff: { min: 5, max: 5, jitter: 0 } })
  const own = Array.from({ length: size }, () => sim.oneOf(['escalate', 'escalate', once] as const))
  const above = sim.oneOf(['restart', 'resume', 'escalate'] as const)
  const keeps = (i: number): Behavior<Deed> =>
    setup<Deed>((ctx) => {
      if (i === 0) {
        parents++
        for (let k = 0; k < size; k++) {
          const before = kids[k]
          if (before === undefined || sim.system.phaseOf(before) === 'terminated')
            kids[k] = ctx.spawn(kid(k), { name: `k${k}-${parents}`, supervision: own[k]!, startTimeout: 60, stopTimeout: 20 })
        }
      } else if (parent === undefined || sim.system.phaseOf(parent) === 'terminated')
        parent = ctx.spawn(keeps(0), { name: `parent${ctx.incarnation}`, supervision: lot, stopTimeout: 20, onRestart: { children: 'keep' } })
      return receive<Deed>((_c, m) => {
        if (m === 'fail') throw new Error('a parent')
        return m === 'wait' ? sim.delay().then(() => same) : same
      })
    })
  const lot = supervise({
    decide: () => above,
    limit: { restarts: sim.oneOf([50, 3]), within: 10_000 },
    backoff: { min: sim.oneOf([20, 5, 100]), max: 100, jitter: 0 },
  })
  let parent: ActorRef<Deed> | undefined
  const top = sim.system.spawn(keeps(1), {
    name: 'top',
    supervision: sim.oneOf([supervise({ backoff: { min: 10, max: 10, jitter: 0 }, limit: { restarts: 50, within: 10_000 } }), 'resume']),
    stopTimeout: 20,
    onRestart: { children: 'keep' },
  })
  sim.plan(sim.int(1, 10), () => {
    const i = sim.choose(size)
    switch (sim.choose(7)) {
      case 1:
        return kids[i] === undefined ? undefined : sim.system.restart(kids[i])
      case 2:
        return parent === undefined ? undefined : sim.system.restart(parent)
      case 3:
        return parent?.tell(sim.oneOf(['fail', 'wait'] as const))
      case 4:
        return sim.after(sim.choose(60), () => kids[i]?.tell('fail'))
      case 5:
        return sim.choose(3) === 1 ? sim.system.suspend(parent ?? top, 'a test') : sim.system.resume(parent ?? top)
      default:
        return kids[i]?.tell(sim.oneOf(['sicken', 'work', 'wait', 'fail', 'heal'] as const))
    }
  })
  sim.after(950, () => {
    well = true
    if (parent !== undefined) sim.system.resume(parent)
    sim.system.resume(top)
  })
  sim.eventually('when all are well again, nobody is left behind', () =>
    sim.tap.living.every((cell) => cell.phase === 'running' || cell.phase === 'suspended' || cell.never || cell.extras?.pending !== undefined),
  )
}

export const keptChildren: LibraryScenario = {
  name: 'kept children',
  about: 'children that are kept and fail up share the lot of their parent, not more and not less',
  run,
}
