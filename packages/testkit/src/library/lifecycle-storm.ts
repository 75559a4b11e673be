// Trees that grow, fail, restart, stop and are killed, all at once, with handlers that are often pending when it happens.

import { type ActorRef, type Behavior, receive, same, setup, stopped, supervise } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Job =
  | { readonly type: 'work' }
  | { readonly type: 'wait' }
  | { readonly type: 'grow' }
  | { readonly type: 'fail' }
  | { readonly type: 'fail-later' }
  | { readonly type: 'prune' }
  | { readonly type: 'become' }
  | { readonly type: 'end' }
  | { readonly type: 'pill' }

const kinds: readonly Job['type'][] = ['work', 'wait', 'grow', 'fail', 'become', 'fail-later', 'prune', 'grow', 'wait', 'grow', 'work', 'end', 'pill']
const policies = [
  'restart',
  'resume',
  'stop',
  supervise({ limit: { restarts: 1, within: 200 }, backoff: { min: 0, max: 0, jitter: 0 } }),
  'escalate',
] as const

function node(sim: Simulation, depth: number, fresh: Set<unknown>): Behavior<Job> {
  return setup<Job>((ctx) => {
    // State made in setup is fresh: the same object seen in two incarnations would be a leak between them.
    const state = {}
    sim.check(!fresh.has(state), 'setup gave an old state')
    fresh.add(state)
    const incarnation = ctx.incarnation
    const behavior = (): Behavior<Job> =>
      receive<Job>(
        (c, job) => {
          sim.check(c.incarnation === incarnation, `${c.path}: a handler of incarnation ${incarnation} runs in incarnation ${c.incarnation}`)
          switch (job.type) {
            case 'work':
              return same
            case 'wait':
              return sim.delay().then(() => same)
            case 'grow':
              if (depth < 3)
                c.spawn(node(sim, depth + 1, fresh), {
                  supervision: sim.oneOf(policies),
                  stopTimeout: sim.oneOf([50, 5]),
                  onRestart: { children: sim.oneOf(['stop', 'keep']) },
                }).tell({ type: 'work' })
              return same
            case 'fail':
              throw new Error('asked to fail')
            case 'fail-later':
              return sim.delay().then(() => {
                throw new Error('asked to fail, later')
              })
            case 'prune': {
              const child = c.children[0]
              if (child !== undefined) c.stop(child)
              return same
            }
            case 'become':
              return behavior()
            case 'end':
              return stopped
            case 'pill':
              c.self.stop({ after: 'queued' })
              return same
          }
        },
        (c, signal) => {
          if (signal.type === 'PostStop') sim.check(c.incarnation === incarnation, 'PostStop came to another incarnation')
          if (signal.type === 'ChildStopped' && sim.choose(4) === 1) return sim.delay().then(() => same)
          if (signal.type === 'PreStop' && sim.choose(6) === 1) return sim.delay().then(() => same)
          if (signal.type === 'PreStart' && sim.choose(8) === 1) return sim.delay().then(() => same)
          return same
        },
      )
    return sim.choose(5) === 1 ? sim.delay().then(() => behavior()) : behavior()
  })
}

function run(sim: Simulation): void {
  const fresh = new Set<unknown>()
  const roots: ActorRef<Job>[] = []
  const spawn = (): void => {
    roots.push(sim.system.spawn(node(sim, 1, fresh), { supervision: sim.oneOf(policies.slice(0, 4)), stopTimeout: sim.oneOf([50, 5]) }))
  }
  spawn()
  // Nobody at the top escalates, and nobody asked for an end.
  sim.eventually('the system is open', () => sim.system.phase === 'open')
  sim.plan(sim.int(2, 24), () => {
    const ref = roots[sim.choose(roots.length)]!
    const at = sim.tap.living
    if (at.length === 0) return spawn()
    const any = sim.choose(4) === 3 ? ref : at[sim.choose(at.length)]!.ref
    switch (sim.choose(18)) {
      case 1:
        return spawn()
      case 2:
        return sim.system.kill(any)
      case 3:
        return any.stop()
      case 4:
        return sim.system.restart(any)
      case 5:
        return sim.system.suspend(any, 'the storm')
      case 6:
        return sim.system.resume(any)
      default:
        any.tell({ type: sim.oneOf(kinds) })
    }
  })
}

export const lifecycleStorm: LibraryScenario = {
  name: 'lifecycle storm',
  about: 'trees that grow, fail, restart, stop and are killed while handlers are pending',
  run,
}
