// Work that an actor gives itself where no message woke it: in a signal handler, and out of the stash, from outside of any
// turn. All of it is handled, without anybody having to come and wake the actor.

import { type ActorContext, type ActorRef, bounded, priority, receive, same, setup, stopped, unbounded } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Errand = { readonly type: 'errand' | 'aside' | 'wait' | 'breed' | 'fail'; readonly n: number }

function run(sim: Simulation): void {
  const mailbox = sim.oneOf([undefined, unbounded(), bounded(1000, 'reject'), priority<Errand>((a, b) => a.n - b.n)])
  let context: ActorContext<Errand> | undefined
  let given = 0
  let done = 0
  let aside = 0
  const leaf = receive<'end'>(() => stopped)
  const giveItself = (ctx: ActorContext<Errand>): void => {
    for (let left = sim.oneOf([6, 1, 2, 70]); left > 0; left--) ctx.self.tell({ type: 'errand', n: given++ })
  }
  const runner = setup<Errand>((ctx) => {
    context = ctx
    return receive<Errand>(
      (c, m) => {
        switch (m.type) {
          case 'errand':
            done++
            return same
          case 'aside':
            // Put aside once; when it comes back it is an errand as any other.
            if (aside % 2 === 0 || c.stash.size > 0) {
              aside++
              c.stash.add(m)
            } else done++
            return same
          case 'wait':
            return sim.delay().then(() => same)
          case 'breed': {
            const child = sim.calmly(() => c.spawn(leaf))
            c.watch(child)
            sim.after(sim.choose(4), () => child.tell('end'))
            return same
          }
          case 'fail':
            throw new Error('runner')
        }
      },
      (c, s) => {
        if (s.type === 'Terminated' || s.type === 'ReceiveTimeout' || (s.type === 'PostStart' && sim.choose(4) === 3)) giveItself(c)
        return same
      },
    )
  })
  const ref: ActorRef<Errand> = sim.system.spawn(runner, {
    name: 'runner',
    supervision: sim.oneOf(['resume', 'restart']),
    stopTimeout: 20,
    stash: { capacity: 1000 },
    ...(mailbox === undefined ? {} : { mailbox }),
  })
  sim.plan(sim.int(1, 10), () => {
    switch (sim.choose(5)) {
      case 1:
        return ref.tell({ type: 'aside', n: 0 })
      case 2:
        // A dead context refuses: then its actor has begun anew, and has another.
        try {
          return context?.stash.unstashAll()
        } catch {
          return undefined
        }
      case 3:
        return ref.tell({ type: sim.oneOf(['wait', 'fail', 'errand']), n: 0 })
      default:
        return ref.tell({ type: 'breed', n: 0 })
    }
  })
  sim.eventually('an actor that gave itself work has done it', () => sim.faulted || sim.system.phaseOf(ref) !== 'running' || done >= given)
}

export const errands: LibraryScenario = { name: 'errands', about: 'work that an actor gives itself is done, whatever woke it', run }
