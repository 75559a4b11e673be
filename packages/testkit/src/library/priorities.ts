// Mailboxes with an order of their own, and actors that do not let signals push messages aside for ever: who is first by
// rank and time goes first; below a share of 100 neither signals nor messages starve.

import { type ActorRef, type Behavior, bounded, priority, receive, same, setup, stopped, unbounded } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Item = { readonly type: 'item' | 'wait' | 'breed' | 'aside' | 'back'; readonly rank: number; readonly n: number; readonly urgency: number }

function run(sim: Simulation): void {
  const share = sim.oneOf([100, 50, 0, 75, 20])
  const each = share === 100 ? Infinity : Math.max(share / (100 - share), 1 / 64)
  const ranked = sim.choose(2) === 0
  const waiting: Item[] = []
  let disordered = false
  let signalsInRow = 0
  let messagesInRow = 0
  const signalsWait = (): boolean => (sim.tap.living.find((c) => c.ref === ref)?.lane?.signals.size ?? 0) > 0
  let handled = 0
  let sent = 0
  let heard = 0
  let bred = 0
  const first = (): Item | undefined => {
    let best: Item | undefined
    for (const item of waiting) {
      if (best === undefined) best = item
      else if (item.urgency !== best.urgency ? item.urgency > best.urgency : item.rank < best.rank) best = item
    }
    return best
  }
  const leaf = receive<'end'>(() => stopped)
  const keeper: Behavior<Item> = setup<Item>(() =>
    receive<Item>(
      (c, m) => {
        handled++
        const calm = !sim.faulted && !disordered && m.n >= 0
        if (calm && ranked) sim.check(first() === m, `${m.type} ${m.n} of rank ${m.rank} came before ${String(first()?.n)}`)
        const at = waiting.indexOf(m)
        if (at >= 0) waiting.splice(at, 1)
        signalsInRow = 0
        if (signalsWait() && ++messagesInRow > Math.ceil(1 / each) + 1)
          sim.check(sim.faulted, `${messagesInRow} messages went before a signal, at a share of ${share}`)
        switch (m.type) {
          case 'item':
            return same
          case 'wait':
            return sim.delay().then(() => same)
          case 'breed': {
            const children = Array.from({ length: sim.int(1, 6) }, () => sim.calmly(() => c.spawn(leaf)))
            bred += children.length
            for (const child of children) {
              c.watch(child)
              sim.after(sim.choose(3), () => child.tell('end'))
            }
            return same
          }
          case 'aside':
            disordered = true
            c.stash.add(m)
            return same
          case 'back':
            disordered = true
            c.stash.unstashAll()
            return same
        }
      },
      (_c, s) => {
        if (s.type !== 'Terminated' && s.type !== 'ChildStopped') return same
        heard++
        messagesInRow = 0
        if (waiting.length > 0 && ++signalsInRow > 2 * Math.max(each, 1) + 1)
          sim.check(sim.faulted || disordered, `${signalsInRow} signals went before a message, at a share of ${share}`)
        return same
      },
    ),
  )
  const mailbox = ranked
    ? priority<Item>((a, b) => a.rank - b.rank, { systemShare: share })
    : sim.choose(2) === 0
      ? unbounded({ systemShare: share })
      : bounded(1000, 'reject', { systemShare: share })
  const ref: ActorRef<Item> = sim.system.spawn(keeper, { name: 'keeper', mailbox, supervision: 'resume', stopTimeout: 30 })
  let n = 0
  const tell = (type: Item['type']): void => {
    const item: Item = { type, rank: sim.choose(3), n: n++, urgency: sim.choose(5) === 4 ? 1 : 0 }
    sent++
    waiting.push(item)
    ref.tell(item, item.urgency === 0 ? undefined : { priority: item.urgency })
  }
  const kinds: readonly Item['type'][] = ['item', 'breed', 'wait', ...(sim.choose(3) === 2 ? (['aside', 'back'] as const) : [])]
  sim.plan(sim.int(1, 14), () => {
    if (sim.choose(4) === 3) for (let k = sim.int(1, 8); k > 0; k--) tell('item')
    else tell(sim.oneOf(kinds))
  })
  sim.after(990, () => ref.tell({ type: 'back', rank: 0, n: -1, urgency: 0 }))
  sim.eventually('all is handled', () => sim.faulted || sim.system.phaseOf(ref) !== 'running' || handled >= sent)
  sim.eventually('all signals are heard', () => sim.faulted || sim.system.phaseOf(ref) !== 'running' || heard === bred * 2)
}

export const priorities: LibraryScenario = { name: 'priorities', about: 'ranked mailboxes keep their order, and no share starves', run }
