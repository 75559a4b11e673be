// An actor that puts messages aside until it is opened, and fails while doing so. Nothing is lost, order is kept.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Box = { readonly type: 'item'; readonly n: number } | { readonly type: 'open' | 'shut' | 'fail' | 'wait' | 'clear' | 'extra' }

function run(sim: Simulation): void {
  const seen: number[] = []
  let sent = 0
  let lossy = false
  const failing = sim.choose(3) === 1
  const capacity = sim.oneOf([1000, 3])
  const overflow = sim.oneOf(['error', 'drop-oldest'] as const)
  const box: Behavior<Box> = setup<Box>(() => {
    let open = false
    return receive<Box>((c, m) => {
      switch (m.type) {
        case 'item':
          if (!open) {
            const full = c.stash.size >= capacity
            if (full) lossy = true
            try {
              c.stash.add(m)
            } catch (cause) {
              sim.check(full && overflow === 'error' && c.stash.size === capacity, `a stash of ${c.stash.size} refused a message: ${String(cause)}`)
              throw cause
            }
            sim.check(c.stash.size <= capacity && !(full && overflow === 'error'), `a stash of ${capacity} holds ${c.stash.size}`)
            return same
          }
          if (failing && m.n % 3 === 2) {
            seen.push(m.n)
            throw new Error('at an item')
          }
          seen.push(m.n)
          return sim.choose(4) === 1 ? sim.delay().then(() => same) : same
        case 'open':
          open = true
          // What was told meanwhile comes behind what was put aside.
          if (sim.choose(3) === 1) c.self.tell({ type: 'wait' })
          c.stash.unstashAll()
          return same
        case 'shut':
          open = false
          return same
        case 'fail':
          throw new Error('asked to')
        case 'clear':
          if (c.stash.size > 0) lossy = true
          c.stash.clear()
          return same
        case 'extra':
          // One that was never in the mailbox: it counts as sent from here on.
          lossy = true
          if (c.stash.size < capacity) c.stash.add({ type: 'item', n: sent++ })
          return same
        case 'wait':
          return sim.delay().then(() => same)
      }
    })
  })
  const options = { name: 'box', supervision: sim.oneOf(['restart', 'resume'] as const), stash: { capacity, overflow } }
  const ref: ActorRef<Box> = sim.system.spawn(box, options)
  sim.plan(sim.int(3, 24), () => {
    switch (sim.choose(9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return ref.tell({ type: 'item', n: sent++ })
      case 4:
      case 5:
        return ref.tell({ type: 'open' })
      case 6:
        return ref.tell({ type: 'shut' })
      case 7:
        return ref.tell({ type: 'fail' })
      default:
        return ref.tell({ type: sim.oneOf(['wait', 'clear', 'extra']) })
    }
  })
  sim.after(990, () => ref.tell({ type: 'open' }))
  sim.eventually('items come out once each, in order, none lost', () => {
    if (lossy || sim.faulted || sim.system.phaseOf(ref) !== 'running') return true
    const sorted = seen.every((n, i) => i === 0 || seen[i - 1]! < n)
    return sorted && seen.length <= sent
  })
}

export const stashUnderFailure: LibraryScenario = { name: 'stash under failure', about: 'messages put aside survive failures, in order', run }
