// What can be seen of a system from outside: every spawn, phase, failure, end, dead and unhandled message is observed once
// while somebody listens, and counters, snapshots and measurements say what happened.

import { measured, type ActorRef, type AnyRef, type Behavior, type Observation, receive, same, setup, stopped, unhandled } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Seen = { readonly type: 'work' | 'wait' | 'fail' | 'unknown' | 'end' | 'grow' | 'adapt' }

function run(sim: Simulation): void {
  const counts = new Map<string, number>()
  const add = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
  const of = (what: string): number => counts.get(what) ?? 0
  const phases = new Map<unknown, string>()
  const seen = new Map<string, number>()
  const types: readonly Observation['type'][] = [
    'actor.spawned',
    'actor.phase',
    'actor.failed',
    'actor.terminated',
    'message.dead',
    'message.unhandled',
    'adapter.replaced',
  ]
  for (const type of types)
    sim.system.events.listen((event) => {
      seen.set(type, (seen.get(type) ?? 0) + 1)
      const { at } = event as { readonly at: number }
      sim.check(at === sim.now, `${type} of ${at} ms is heard at ${sim.now}`)
      if (type !== 'actor.phase') return
      const { ref, from, to } = event as { readonly ref: AnyRef; readonly from: string; readonly to: string }
      if (ref.path === '/user') return
      sim.check((phases.get(ref) ?? 'created') === from, `a phase follows ${from}, and it was ${String(phases.get(ref))}`)
      phases.set(ref, to)
    }, type)
  sim.system.events.listen((event) => {
    const { ref, message } = event as { readonly ref: AnyRef; readonly message: string | undefined }
    const cell = sim.tap.cells.find((c) => c.ref === ref)
    sim.check(
      message === undefined || message === cell?.lastType || cell?.lastType === '',
      `a slow ${String(message)} is blamed, and it was ${String(cell?.lastType)}`,
    )
  }, 'turn.slow')
  let signals = 0
  let suspended = 0
  let since = -1
  const actor = (top: boolean): Behavior<Seen> =>
    setup<Seen>(() =>
      receive<Seen>(
        (c, m) => {
          switch (m.type) {
            case 'work':
              return same
            case 'wait':
              return sim.delay().then(() => same)
            case 'fail':
              add('fail')
              throw new Error('seen')
            case 'unknown':
              add('unknown')
              return unhandled
            case 'end':
              return stopped
            case 'grow':
              c.spawn(actor(false), { supervision: 'stop' }).tell({ type: sim.oneOf(['work', 'fail', 'end']) })
              return same
            case 'adapt':
              c.adapt<string>(() => ({ type: 'work' }), { key: 'k' })
              return same
          }
        },
        (_c, s) => {
          if (top && (s.type === 'ChildFailed' || s.type === 'ChildStopped')) signals++
          return same
        },
      ),
    )
  const supervision = sim.oneOf(['restart', 'resume', 'stop'] as const)
  const ref: ActorRef<Seen> = sim.system.spawn(actor(true), { name: 'seen', supervision, metrics: measured(), stopTimeout: 20 })
  const kinds: readonly Seen['type'][] = ['work', 'fail', 'unknown', 'grow', 'wait', 'adapt', 'end']
  sim.plan(sim.int(1, 10), () => {
    switch (sim.choose(6)) {
      case 4:
        return sim.after(sim.choose(20), () => {
          sim.system.suspend(ref, 'a test')
          sim.after(10, () => sim.system.resume(ref))
        })
      case 5:
        return sim.choose(2) === 0 ? sim.system.restart(ref) : ref.stop()
      default:
        return ref.tell({ type: sim.oneOf(kinds) })
    }
  })
  sim.system.events.listen((event) => {
    const { ref: who, to, from } = event as { readonly ref: unknown; readonly to: string; readonly from: string }
    if (who !== ref) return
    if (to === 'suspended') since = sim.now
    else if (from === 'suspended') suspended += sim.now - since
  }, 'actor.phase')
  const { expected } = sim.tap.ledger
  const failures = (): number => sim.tap.cells.reduce((sum, c) => sum + (c.failures?.count ?? 0), 0)
  const is = (type: string, wanted: number): boolean => (seen.get(type) ?? 0) === wanted
  sim.eventually('every actor is seen to be born', () => is('actor.spawned', sim.tap.cells.length))
  sim.eventually('every phase is seen', () => sim.tap.cells.every((c) => (phases.get(c.ref) ?? 'created') === c.phase))
  sim.eventually('every end is seen', () => is('actor.terminated', sim.tap.cells.length - sim.tap.living.length))
  sim.eventually('every failure is seen', () => is('actor.failed', failures()))
  sim.eventually('every dead letter is seen', () => is('message.dead', expected.dead))
  sim.eventually(
    'every unhandled message is seen',
    () => is('message.unhandled', expected.unhandled) && (sim.faulted || expected.unhandled === of('unknown')),
  )
  sim.eventually('supervision counts what it did', () => {
    const { active, terminated } = sim.system.counts()
    return active === sim.tap.living.length && terminated === sim.tap.cells.length - active
  })
  sim.eventually('a dispatcher counts those who live there', () => {
    const { dispatchers } = sim.system.metrics()
    return dispatchers.reduce((sum, { actors }) => sum + actors, 0) === sim.tap.living.length
  })
  sim.eventually('what was measured is what happened', () => {
    const cell = sim.tap.living.find((c) => c.ref === ref)
    const counted = cell?.extras?.metrics
    if (cell === undefined || counted === undefined || sim.faulted) return true
    return counted.signals === signals && counted.suspendedMs === suspended
  })
}

export const observers: LibraryScenario = { name: 'observers', about: 'what can be seen from outside is what happened', run }
