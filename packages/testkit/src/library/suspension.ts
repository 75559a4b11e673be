// Actors that are suspended, resumed, restarted and stopped while messages queue: order is kept, nothing is handled
// meanwhile, signals still are.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Numbered = { readonly n: number; readonly type: 'count' | 'wait' | 'fail' }

function run(sim: Simulation): void {
  const seen: number[] = []
  let restarts = 0
  let handed: object | undefined
  const behavior: Behavior<Numbered> = setup<Numbered>((ctx) => {
    // What one incarnation hands over reaches the next, and only that one.
    sim.check(
      sim.faulted || ctx.handedOver === handed,
      handed === undefined ? 'something was handed over by nobody' : 'what was handed over is not here',
    )
    handed = undefined
    return receive<Numbered>(
      (c, m) => {
        sim.check(sim.system.phaseOf(c.self) === 'running', 'a message was handled by an actor that is not running')
        sim.check(seen.length === 0 || seen[seen.length - 1]! < m.n, `${m.n} came after ${String(seen[seen.length - 1])}`)
        seen.push(m.n)
        if (m.type === 'fail') throw new Error('numbered')
        return m.type === 'wait' ? sim.delay().then(() => same) : same
      },
      (c, s) => {
        if (s.type === 'PostRestart') restarts++
        if (s.type === 'PreRestart' && sim.choose(2) === 1) {
          handed = {}
          c.handOver(handed)
        }
        return same
      },
    )
  })
  const ref: ActorRef<Numbered> = sim.system.spawn(behavior, { name: 'numbered', supervision: 'restart', stopTimeout: 30 })
  let sent = 0
  let asked = 0
  sim.plan(sim.int(2, 30), () => {
    switch (sim.choose(7)) {
      case 1:
        return sim.system.suspend(ref, 'a test')
      case 2:
        return sim.system.resume(ref)
      case 3:
        asked++
        return sim.system.restart(ref)
      case 4:
        return ref.tell({ n: sent++, type: sim.oneOf(['wait', 'fail']) })
      default:
        return ref.tell({ n: sent++, type: 'count' })
    }
  })
  sim.after(990, () => sim.system.resume(ref))
  sim.eventually(
    'all that was sent to an actor that runs was handled, in order',
    () => sim.faulted || sim.system.phaseOf(ref) !== 'running' || seen.length === sent,
  )
  sim.eventually('no restart happened that nobody asked for', () => sim.faulted || restarts <= asked + seen.length)
}

export const suspension: LibraryScenario = { name: 'suspension', about: 'suspended actors keep what is queued, in order', run }
