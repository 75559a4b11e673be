// Mailboxes with bounds, under floods, offers that wait, failures, stashes and stops: the bound is kept, every message ends
// as the policy says, and every offer is settled.

import { type ActorRef, type Behavior, bounded, grow, type Overflow, priority, receive, same, setup } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Load = { readonly type: 'item' | 'wait' | 'fail' | 'aside' | 'back'; readonly n: number }

function run(sim: Simulation): void {
  const capacity = sim.oneOf([3, 1, 8])
  const overflow: Overflow = sim.oneOf<Overflow>(['reject', 'drop-newest', 'drop-oldest', 'block', grow(2)])
  const byRank = sim.choose(5) === 4
  const mailbox = byRank ? priority<Load>((a, b) => (a.n % 3) - (b.n % 3), { capacity, overflow }) : bounded(capacity, overflow)
  let last = -1
  const worker: Behavior<Load> = setup<Load>(() =>
    receive<Load>((c, m) => {
      switch (m.type) {
        case 'item':
          if (!byRank && !stashes && overflow !== 'block') {
            sim.check(m.n > last, `${m.n} came after ${last}`)
            last = m.n
          }
          return same
        case 'wait':
          return sim.delay().then(() => same)
        case 'fail':
          throw new Error('under load')
        case 'aside':
          c.stash.add(m)
          return same
        case 'back':
          c.stash.unstashAll()
          return same
      }
    }),
  )
  const stashes = sim.choose(2) === 1
  const ref: ActorRef<Load> = sim.system.spawn(worker, {
    name: 'worker',
    mailbox,
    supervision: sim.oneOf(['restart', 'resume'] as const),
    onRestart: { mailbox: sim.oneOf(['keep', 'clear'] as const) },
    stopTimeout: 30,
  })
  const kinds: readonly Load['type'][] = stashes ? ['item', 'wait', 'fail', 'aside', 'back'] : ['item', 'wait', 'item', 'fail']
  let n = 0
  let offered = 0
  let settled = 0
  const offer = (): void => {
    const abort = new AbortController()
    offered++
    ref.offer({ type: 'item', n: n++ }, { signal: abort.signal }).then(
      () => settled++,
      () => settled++,
    )
    if (sim.choose(4) === 1) sim.after(sim.choose(20), () => abort.abort())
  }
  sim.plan(sim.int(2, 20), () => {
    switch (sim.choose(8)) {
      case 1:
        // Several at a time where they wait for room.
        for (let left = overflow === 'block' ? sim.int(1, 4) : 1; left > 0; left--) offer()
        return undefined
      case 2: {
        // A flood, in one go.
        for (let i = sim.int(1, 12); i > 0; i--) ref.tell({ type: 'item', n: n++ })
        return undefined
      }
      case 3:
        return sim.choose(6) === 5 ? ref.stop(sim.choose(2) === 0 ? {} : { after: 'queued' }) : sim.system.restart(ref)
      default:
        return ref.tell({ type: sim.oneOf(kinds), n: n++ })
    }
  })
  sim.after(995, () => {
    if (sim.system.phaseOf(ref) === 'suspended') sim.system.resume(ref)
  })
  sim.eventually('every offer is settled', () => offered === settled || sim.tap.living.some((c) => c.never))
}

interface AbortControllerLike {
  readonly signal: NonNullable<NonNullable<Parameters<ActorRef<Load>['offer']>[1]>['signal']>
  abort(): void
}
const { AbortController } = globalThis as unknown as { readonly AbortController: new () => AbortControllerLike }

export const boundedMailboxes: LibraryScenario = {
  name: 'bounded mailboxes',
  about: 'bounds are kept and every message ends as its policy says',
  run,
}
