// Watching, unwatching and watching again while targets end, restart and are replaced under the same name.

import { type ActorRef, type AnyRef, type Behavior, receive, same, setup, stopped, unhandled } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Target = 'end' | 'fail' | 'wait'
type Watcher =
  | { readonly type: 'watch' | 'unwatch' | 'unwatch-later' | 'watchWith' | 'swap' | 'fail' | 'wait'; readonly ref: ActorRef<Target> }
  | { readonly type: 'gone'; readonly ref: AnyRef }

const target = (sim: Simulation): Behavior<Target> =>
  receive<Target>((_c, m) => {
    if (m === 'end') return stopped
    if (m === 'fail') throw new Error('target')
    return sim.delay().then(() => same)
  })

function run(sim: Simulation): void {
  const targets: ActorRef<Target>[] = []
  const spawn = (name: string): ActorRef<Target> => sim.system.spawn(target(sim), { name, supervision: sim.oneOf(['stop', 'restart']) })
  const respawn = (name: string): void => {
    const taken = targets.some((t) => t.path === `/user/${name}` && sim.system.phaseOf(t) !== 'terminated')
    try {
      targets.push(spawn(name))
      sim.check(!taken, `the name ${name} was given to a second living actor`)
      sim.check(sim.system.find(`/user/${name}`) === targets.at(-1), `${name} is not found under its name`)
    } catch (cause) {
      if (sim.system.phase !== 'open') return
      // Whoever hears of an end may use the name at once, unless somebody was faster.
      const living = sim.system.find(`/user/${name}`)
      sim.check(
        living !== undefined && sim.system.phaseOf(living) !== 'terminated',
        `the name ${name} is not free though its actor ended: ${String(cause)}`,
      )
    }
  }
  const mine = new Map<AnyRef, 'plain' | 'with'>()
  const watcher = (own: Map<AnyRef, 'plain' | 'with'>): Behavior<Watcher> =>
    setup<Watcher>(() =>
      receive<Watcher>(
        (c, m) => {
          switch (m.type) {
            case 'gone':
              own.delete(m.ref)
              return same
            case 'watch':
              if (own.get(m.ref) === 'with') return same
              c.watch(m.ref)
              own.set(m.ref, 'plain')
              return same
            case 'watchWith':
              if (own.get(m.ref) === 'plain') return same
              c.watchWith(m.ref, { type: 'gone', ref: m.ref })
              own.set(m.ref, 'with')
              return same
            case 'swap':
              c.unwatch(m.ref)
              c.watch(m.ref)
              own.set(m.ref, 'plain')
              return same
            case 'unwatch':
              c.unwatch(m.ref)
              own.delete(m.ref)
              return same
            case 'unwatch-later':
              // Meanwhile the target may end: its notice waits for this handler, and must be gone when it is over.
              return sim.delay().then(() => {
                if (c.signal.aborted) return same
                c.unwatch(m.ref)
                own.delete(m.ref)
                return same
              })
            case 'wait':
              return sim.delay().then(() => same)
            case 'fail':
              throw new Error('watcher')
          }
        },
        (_c, s) => {
          if (s.type !== 'Terminated') return same
          own.delete(s.ref)
          sim.check(sim.system.find(s.ref.path) !== s.ref, `${s.ref.path} is found after it ended`)
          const name = s.ref.path.slice(s.ref.path.lastIndexOf('/') + 1)
          if (targets.length < 12) respawn(name)
          return same
        },
      ),
    )
  const ref = sim.system.spawn(watcher(mine), { name: 'watcher', supervision: 'restart' })
  const second = new Map<AnyRef, 'plain' | 'with'>()
  const other = sim.system.spawn(watcher(second), { name: 'other', supervision: 'resume' })
  for (let i = 0; i <= sim.choose(3); i++) targets.push(spawn(`t${i}`))
  // A Terminated that nobody handles is a death pact only where it was asked for.
  const first = targets[0]!
  const bound = (deathPact: boolean): Behavior<never> =>
    setup<never>((ctx) => {
      // Watching again changes nothing, unless it asks for more.
      if (sim.choose(2) === 1) ctx.watch(first)
      ctx.watch(first, { deathPact })
      if (sim.choose(2) === 1) ctx.watch(first)
      return receive<never>(
        () => same,
        (_c, s) => (s.type === 'Terminated' ? unhandled : same),
      )
    })
  const pact = sim.calmly(() => sim.system.spawn(bound(true), { name: 'pact', supervision: 'stop' }))
  const loose = sim.calmly(() => sim.system.spawn(bound(false), { name: 'loose', supervision: 'stop' }))
  sim.eventually('a death pact is kept', () => (sim.system.phaseOf(pact) === 'terminated') === (sim.system.phaseOf(first) === 'terminated'))
  sim.eventually(
    'an end that nobody wanted to hear of is in the log',
    () => sim.system.phaseOf(first) !== 'terminated' || sim.tap.log.times('Terminated was not handled') > 0,
  )
  sim.eventually('no pact is kept that nobody made', () => sim.system.phaseOf(loose) === 'running')
  sim.plan(sim.int(2, 20), () => {
    const at = targets[sim.choose(targets.length)]!
    const who = sim.choose(3) === 1 ? other : ref
    switch (sim.choose(11)) {
      case 10: {
        // From outside, between any two turns: also while the notice is on its way.
        sim.system.unwatch(at, who)
        ;(who === ref ? mine : second).delete(at)
        return
      }
      case 0:
      case 1:
        return who.tell({ type: 'watch', ref: at })
      case 2:
        return at.tell('end')
      case 3:
        return who.tell({ type: 'unwatch', ref: at })
      case 4:
        return who.tell({ type: 'watchWith', ref: at })
      case 5:
        return who.tell({ type: 'swap', ref: at })
      case 6:
        return who.tell({ type: sim.oneOf(['unwatch-later', 'wait', 'fail']), ref: at })
      case 7:
        return at.tell(sim.oneOf(['wait', 'fail']))
      case 8:
        return sim.system.kill(at)
      default:
        return sim.choose(4) === 1 ? who.stop() : at.stop()
    }
  })
}

export const watchRaces: LibraryScenario = { name: 'watch races', about: 'watch, unwatch and name reuse while targets end', run }
