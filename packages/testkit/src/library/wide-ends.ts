// A parent that ends, or begins anew, with more children than it can tell in one slice, while some of them end by themselves:
// each is told once its turn has come, whoever left meanwhile, and the parent goes after the last of them.

import { type ActorContext, type ActorRef, type Behavior, receive, same, setup, stopped } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Word = 'end' | 'fail' | 'work'

/** Whether a context does what it is asked for. */
function acts(ctx: ActorContext<Word>): boolean {
  try {
    return ctx.incarnation >= 0
  } catch {
    return false
  }
}

function run(sim: Simulation): void {
  // Now and then, because it takes long.
  const many = sim.choose(6) === 5
  const size = many ? sim.oneOf([130, 70, 200]) : sim.int(1, 4)
  const keeps = sim.choose(4) === 3
  let children: readonly ActorRef<Word>[] = []
  const slow = sim.choose(3) === 2
  const kid = receive<Word>(
    (_c, m) => {
      if (m === 'fail') throw new Error('a child')
      return m === 'end' ? stopped : same
    },
    (_c, s) => {
      return slow && s.type === 'PreStop' && (many || sim.choose(4) === 3) ? sim.delay(10).then(() => same) : same
    },
  )
  const parent: Behavior<Word> = setup<Word>((ctx) => {
    const kids = Array.from({ length: keeps && ctx.incarnation > 0 ? 0 : size }, () =>
      sim.calmly(() => ctx.spawn(kid, { supervision: 'stop', stopTimeout: 20 })),
    )
    children = [...children, ...kids]
    return receive<Word>(
      (_c, m) => {
        if (m === 'fail') throw new Error('the parent')
        return m === 'end' ? stopped : same
      },
      (_c, s) => {
        // So long that its turn is over, when the first of its children have been told.
        if (s.type === 'PreStop' || s.type === 'PreRestart') {
          if (sim.choose(2) === 1) leave()
          sim.clock.tick(1)
        }
        // None of its code is ever cut off, also where it is killed while it waits for its children: what it began with is there to the end.
        if (s.type === 'PostStop') sim.check(acts(ctx), 'a context is over before PostStop')
        return same
      },
    )
  })
  const ref = sim.calmly(() =>
    sim.system.spawn(parent, {
      name: 'parent',
      supervision: 'restart',
      onRestart: { children: keeps ? 'keep' : 'stop' },
      stopTimeout: 500,
    }),
  )
  const leave = (): void => {
    for (let left = many ? sim.int(1, 20) : sim.int(1, 4); left > 0; left--) {
      const child = children[sim.choose(children.length)]
      if (child === undefined) return
      if (sim.choose(3) === 2) sim.system.kill(child)
      else child.tell(sim.oneOf(['end', 'work', 'fail']))
    }
  }
  if (sim.choose(3) === 1) sim.plan(1, leave)
  sim.plan(1, () => {
    switch (sim.choose(4)) {
      case 1:
        return sim.system.restart(ref)
      case 2:
        return ref.tell(sim.oneOf(['fail', 'end']))
      case 3:
        return sim.system.kill(ref)
      default:
        return ref.stop()
    }
  })
  sim.plan(sim.int(1, 4), leave)
  if (sim.choose(3) === 2) sim.plan(1, () => (sim.choose(2) === 0 ? ref.stop() : sim.system.kill(ref)))
  if (slow) sim.after(sim.oneOf([5, 3]), () => sim.system.kill(ref))
  sim.eventually('of a parent that is gone no child is left', () => {
    return sim.system.phaseOf(ref) !== 'terminated' || children.every((c) => sim.system.phaseOf(c) === 'terminated')
  })
}

export const wideEnds: LibraryScenario = {
  name: 'wide ends',
  about: 'more children than a slice has time for: each is told to end, whoever leaves meanwhile',
  run,
}
