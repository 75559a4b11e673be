// The threads of a system that plan routes: as many planners as threads, behind one ref.

import { type ActorRef, type ActorSystem, bounded, pool, supervise } from '@troupe/core'
import { threads } from '@troupe/node'
import { type Planner, planner } from './planner.ts'

/** Milliseconds without a sign of life after which a thread counts as hung. */
const hangAfter = 3000

export function startPlanners(system: ActorSystem, seed: number, size: number): ActorRef<Planner> {
  threads(system, { size, hangAfter })
  const supervision = supervise({
    limit: { restarts: Number.MAX_SAFE_INTEGER, within: 1000 },
    backoff: { min: 100, max: 2000, factor: 2, jitter: 0.2 },
  })
  return system.spawn(pool(planner(seed), { size, options: { dispatcher: 'parallel', supervision } }), {
    name: 'planners',
    // Whoever waits for long asks again: where more is asked than can be planned, old questions make room.
    mailbox: bounded(4096, 'drop-oldest'),
  })
}
