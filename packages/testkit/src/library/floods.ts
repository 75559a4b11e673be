// Much of everything: mailboxes, stashes, timers and children beyond what small scenarios have, so that what grows, is
// swept or is given back does so. Now and then, because it takes long; else a small one.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Drop =
  | { readonly type: 'drop' | 'aside'; readonly n: number }
  | { readonly type: 'open' | 'arm' | 'disarm' | 'breed' }
  | { readonly type: 'tick'; readonly n: number; readonly at: number }

function run(sim: Simulation): void {
  const large = sim.choose(48) === 47
  const many = large ? sim.oneOf([1100, 2100]) : sim.oneOf([3, 9, 20, 40])
  let last = -1
  let got = 0
  let ticks = 0
  let armed = 0
  let lastTick = -1
  let next = 0
  let ends = 0
  let bred = 0
  const pond: Behavior<Drop> = setup<Drop>(() =>
    receive<Drop>(
      (c, m) => {
        switch (m.type) {
          case 'drop':
            sim.check(m.n > last, `${m.n} came after ${last}`)
            last = m.n
            got++
            return same
          case 'aside':
            c.stash.add({ type: 'drop', n: m.n })
            return same
          case 'open':
            c.stash.unstashAll()
            return same
          case 'arm':
            for (let i = 0; i < many; i++) {
              const ms = sim.choose(50)
              c.timers.once(`t${i}`, ms, { type: 'tick', n: i, at: sim.now + ms })
            }
            armed = many
            return same
          case 'disarm':
            // All but every eighth.
            for (let i = 0; i < many; i++) if (i % 8 !== 0 && c.timers.has(`t${i}`)) c.timers.cancel(`t${i}`)
            armed = Math.ceil(many / 8)
            return same
          case 'tick':
            ticks++
            sim.check(sim.faulted || m.at >= lastTick, `a tick of ${m.at} ms came after one of ${lastTick}`)
            sim.check(!c.timers.has(`t${m.n}`), 'a timer ticked, and is still there')
            sim.check(sim.now >= m.at, `a tick of ${m.at} ms came at ${sim.now}`)
            lastTick = m.at
            return same
          case 'breed': {
            const children = Array.from({ length: large ? 2100 : Math.min(many, 60) }, (_, i) =>
              sim.calmly(() =>
                c.spawn(
                  receive<never>(() => same),
                  { name: `c${bred + i}` },
                ),
              ),
            )
            bred += children.length
            const known = new Set(c.children)
            sim.check(
              children.every((child) => known.has(child)),
              'a child was born, and is not known',
            )
            for (const child of children) child.stop()
            return same
          }
        }
      },
      (c, s) => {
        if (s.type !== 'ChildStopped') return same
        ends++
        if (!sim.faulted && ends === bred) sim.check(c.children.length === 0, 'all children ended, and some are known')
        return same
      },
    ),
  )
  const spawn = (): ActorRef<Drop> => sim.system.spawn(pond, { name: 'pond', supervision: 'restart', stash: { capacity: 5000, overflow: 'error' } })
  const ref = large ? sim.calmly(spawn) : spawn()
  const what = sim.choose(4)
  const rounds = large ? 1 : sim.int(1, 4)
  sim.plan(rounds, () => {
    if (what === 3) return ref.tell({ type: 'breed' })
    if (what === 2) {
      if (armed > 0) return undefined
      ref.tell({ type: 'arm' })
      if (sim.choose(2) === 1) ref.tell({ type: 'disarm' })
      return undefined
    }
    for (let i = 0; i < many; i++) ref.tell({ type: what === 1 ? 'aside' : 'drop', n: next++ })
    if (what === 1) ref.tell({ type: 'open' })
    return undefined
  })
  const whole = (): boolean => !sim.faulted && sim.system.phaseOf(ref) === 'running'
  sim.eventually('all that was poured in came out', () => !whole() || got === next)
  sim.eventually('all timers that were left ticked', () => !whole() || ticks >= armed)
  sim.eventually('all children ended', () => !whole() || ends === bred)
}

export const floods: LibraryScenario = { name: 'floods', about: 'mailboxes, stashes, timers and children by the thousand', run }
