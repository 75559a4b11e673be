// Pools and groups whose routees fail, stop and are replaced while work is routed: nothing is lost on the way, everybody
// gets his share.

import { type ActorRef, type Behavior, broadcast, group, leastLoaded, pool, random, receive, roundRobin, same, setup, stopped } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Work = { readonly type: 'work' | 'wait' | 'fail' | 'end'; readonly n: number }

function run(sim: Simulation): void {
  const counts = new Map<number, number>()
  const seen = new Map<number, number>()
  let ids = 0
  const worker = (): Behavior<Work> =>
    setup<Work>(() => {
      const id = ++ids
      return receive<Work>((_c, m) => {
        counts.set(id, (counts.get(id) ?? 0) + 1)
        seen.set(m.n, (seen.get(m.n) ?? 0) + 1)
        switch (m.type) {
          case 'work':
            return same
          case 'wait':
            return sim.delay().then(() => same)
          case 'fail':
            throw new Error('routee')
          case 'end':
            return stopped
        }
      })
    })
  const size = sim.int(2, 4)
  const kind = sim.choose(4)
  const strategy = kind === 0 ? roundRobin() : kind === 1 ? random() : kind === 2 ? leastLoaded() : broadcast()
  const calm = sim.choose(3) === 2
  const grouped = sim.choose(3) === 1
  const options = { name: 'router', supervision: 'restart' } as const
  const supervision = sim.oneOf(['restart', 'stop', 'resume'] as const)
  const router: ActorRef<Work> = grouped
    ? sim.system.spawn(
        group<Work>(
          Array.from({ length: size }, () => sim.system.spawn(worker(), { supervision, stopTimeout: 20 })),
          { strategy },
        ),
        options,
      )
    : sim.system.spawn(
        pool<Work>(worker, {
          size,
          strategy,
          options: { supervision, stopTimeout: 20 },
          replace: sim.oneOf(['on-failure', 'always', 'never'] as const),
        }),
        options,
      )
  let sent = 0
  const kinds: readonly Work['type'][] = calm ? ['work'] : ['work', 'wait', 'fail', 'end']
  sim.plan(sim.int(2, 24), () => router.tell({ type: sim.oneOf(kinds), n: sent++ }))
  sim.eventually('undisturbed, everything is handled once, or once by each', () => {
    if (sim.faulted || !calm) return true
    const times = kind === 3 ? size : 1
    return seen.size === sent && [...seen.values()].every((n) => n === times)
  })
  sim.eventually('undisturbed, turns are taken in order', () => {
    if (sim.faulted || !calm || kind !== 0) return true
    const shares = Array.from({ length: size }, (_, i) => counts.get(i + 1) ?? 0)
    return Math.max(...shares) - Math.min(...shares) <= 1
  })
}

export const routers: LibraryScenario = { name: 'routers', about: 'pools and groups whose routees fail and are replaced', run }
