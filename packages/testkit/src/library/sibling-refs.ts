// Children that hold refs of their siblings, while those fail, end, are killed, stopped and started again. Who runs holds the
// ref of the sibling that runs, and never that of one that was replaced.

import {
  type ActorRef,
  type AnyChildSpec,
  type AnyRef,
  type Behavior,
  child,
  receive,
  same,
  setup,
  stopped,
  supervisor,
  supervisorClient,
} from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Job = 'work' | 'fail' | 'end'

function run(sim: Simulation): void {
  const strategy = sim.oneOf(['dependents', 'rest-for-one', 'all-for-one'] as const)
  const size = 4
  const refs: (ActorRef<Job> | undefined)[] = []
  const held: (readonly AnyRef[])[] = []
  const up: boolean[] = []
  const slow = sim.choose(3) === 1
  const worker = (i: number): Behavior<Job> =>
    setup<Job>((ctx) => {
      refs[i] = ctx.self
      const behavior = receive<Job>(
        (_c, m) => {
          if (m === 'fail') throw new Error(`child ${i}`)
          return m === 'end' ? stopped : same
        },
        (_c, s) => {
          if (s.type === 'PostStart') up[i] = true
          if (s.type === 'PostStop') up[i] = false
          return same
        },
      )
      return slow && sim.choose(2) === 1 ? sim.delay().then(() => behavior) : behavior
    })
  const specs: AnyChildSpec[] = []
  for (let i = 0; i < size; i++) {
    // Of two siblings at most; the first has nobody to need.
    const needs = specs.filter(() => sim.choose(2) === 1)
    const options = { needs, restart: sim.oneOf(['permanent', 'transient'] as const), shutdown: sim.oneOf([30, 'kill'] as const) }
    specs.push(
      child(
        `c${i}`,
        ({ refOf }) => {
          held[i] = needs.map((spec) => refOf(spec) as AnyRef)
          return worker(i)
        },
        options,
      ),
    )
  }
  const tree = sim.calmly(() =>
    sim.system.spawn(supervisor({ strategy, intensity: 50, period: 200, children: specs }), { name: 'tree', supervision: 'stop' }),
  )
  const client = supervisorClient(tree, { timeout: 300 })
  let asked = 0
  const request = (call: Promise<unknown>): void => {
    asked++
    const settled = (): void => void asked--
    call.then(settled, settled)
  }
  sim.plan(sim.int(1, 8), () => {
    const i = sim.choose(size)
    const ref = refs[i]
    if (ref === undefined) return
    switch (sim.choose(6)) {
      case 1:
        return request(client.stopChild(`c${i}`))
      case 2:
        return request(client.restartChild(`c${i}`))
      case 3:
        return sim.system.kill(ref)
      default:
        ref.tell(sim.oneOf(['end', 'fail', 'work'] as const))
    }
  })
  sim.eventually('every request is answered', () => asked === 0)
  sim.eventually('who runs holds the refs of the siblings that run', () =>
    up.every((is, i) => !is || held[i]!.every((ref) => refs.every((now, k) => !up[k]! || now!.path !== ref.path || now === ref))),
  )
}

export const siblingRefs: LibraryScenario = {
  name: 'sibling refs',
  about: 'a child that holds refs of its siblings never goes on with one that was replaced',
  run,
}
