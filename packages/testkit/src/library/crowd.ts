// The measuring stick: a few actors, about two hundred messages, a quarter of the handlers async, all checks on.

import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Pass = { readonly type: 'pass'; readonly hops: number }

function run(sim: Simulation): void {
  const refs: ActorRef<Pass>[] = []
  let handled = 0
  const member = (i: number): Behavior<Pass> =>
    receive<Pass>((_c, m) => {
      handled++
      if (m.hops > 0) refs[(i + 1 + (m.hops & 1)) % refs.length]!.tell({ type: 'pass', hops: m.hops - 1 })
      return (m.hops & 3) === 0 ? Promise.resolve().then(() => same) : same
    })
  for (let i = 0; i < 6; i++) refs.push(sim.system.spawn(member(i)))
  sim.plan(10, (i) => refs[i % 6]!.tell({ type: 'pass', hops: 19 }))
  sim.eventually('every message is passed on to the end', () => sim.faulted || handled === 200)
}

export const crowd: LibraryScenario = { name: 'crowd', about: 'two hundred messages among six actors, a quarter of them async', run }
