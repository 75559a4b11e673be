// Priority mailboxes with a bound, under floods. Who is most urgent goes first, equals in order of arrival; beyond the bound
// the policy says who gives way: the new one, whoever waits longest, or nobody until the mailbox has grown.

import { type ActorRef, grow, type Overflow, priority, receive, same } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

interface Item {
  readonly type: 'item' | 'wait' | 'fail'
  readonly rank: number
  readonly urgency: number
  readonly n: number
}

const goesBefore = (a: Item, b: Item): boolean => (a.urgency !== b.urgency ? a.urgency > b.urgency : a.rank !== b.rank ? a.rank < b.rank : a.n < b.n)

function run(sim: Simulation): void {
  const capacity = sim.oneOf([12, 3, 30])
  const overflow: Overflow = sim.oneOf<Overflow>(['drop-oldest', 'drop-newest', 'reject', grow(2)])
  // In order of arrival, as they should be there.
  const waiting: Item[] = []
  let limit = capacity
  let gone = 0
  let handled = 0
  let n = 0
  const sorter = receive<Item>((_c, m) => {
    handled++
    const first = waiting.reduce<Item | undefined>((best, item) => (best === undefined || goesBefore(item, best) ? item : best), undefined)
    sim.check(sim.faulted || first === m, `${m.n} of rank ${m.rank} came before ${String(first?.n)} of rank ${String(first?.rank)}`)
    const at = waiting.indexOf(m)
    if (at >= 0) waiting.splice(at, 1)
    if (limit > capacity && waiting.length <= capacity / 2) limit = capacity
    if (m.type === 'fail') throw new Error('sorter')
    return m.type === 'wait' ? sim.delay().then(() => same) : same
  })
  const ref: ActorRef<Item> = sim.system.spawn(sorter, {
    name: 'sorter',
    supervision: 'resume',
    stopTimeout: 30,
    mailbox: priority<Item>((a, b) => a.rank - b.rank, { capacity, overflow }),
  })
  const tell = (type: Item['type']): void => {
    const item: Item = { type, rank: sim.choose(12), urgency: sim.choose(8) === 7 ? 1 : 0, n: n++ }
    if (waiting.length >= limit && typeof overflow === 'object') limit = Math.min(limit * 2, capacity * 2)
    if (waiting.length < limit) waiting.push(item)
    else {
      gone++
      if (overflow === 'drop-oldest') {
        waiting.shift()
        waiting.push(item)
      }
    }
    ref.tell(item, item.urgency === 0 ? undefined : { priority: item.urgency })
  }
  sim.plan(sim.int(2, 12), () => {
    if (sim.choose(3) === 0) return tell(sim.oneOf(['item', 'wait', 'item', 'fail']))
    for (let left = sim.int(1, capacity + 6); left > 0; left--) tell('item')
  })
  sim.eventually(
    'all are handled that did not give way',
    () => sim.faulted || sim.system.phaseOf(ref) !== 'running' || (waiting.length === 0 && handled + gone === n),
  )
}

export const rankedOverflow: LibraryScenario = {
  name: 'ranked overflow',
  about: 'a priority mailbox beyond its bound: order is kept, and the right one gives way',
  run,
}
