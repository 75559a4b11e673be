// Failures over time: windows that fill and pass, backoffs that grow and begin again, errors that say how they want to be
// treated, deciders that throw or talk nonsense. What must follow from each failure is told by the simulator's own account.

import { ActorError, type ActorRef, type Behavior, type Directive, receive, same, setup, supervise, type SuperviseOptions } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Trouble = 'plain' | 'transient' | 'permanent' | 'fatal' | 'retried' | 'later' | 'work' | 'adapter'

function run(sim: Simulation): void {
  const directives: readonly Directive[] = ['restart', 'resume', 'stop', 'escalate']
  const said = sim.oneOf(directives)
  const options: SuperviseOptions = {
    limit: sim.oneOf([
      { restarts: 2, within: 100 },
      { restarts: 0, within: 50 },
      { restarts: 1, within: 30 },
      { restarts: 5, within: 400 },
    ]),
    onLimit: sim.oneOf(['stop', 'escalate'] as const),
    backoff: sim.oneOf([
      { min: 4, max: 30, factor: 2, jitter: 0 },
      { min: 0, max: 0 },
      { min: 8, max: 12, factor: 3, jitter: 0.5 },
    ]),
    retryStart: sim.choose(2) === 1,
    ...(sim.choose(2) === 1
      ? {
          decide: (cause: unknown) => {
            if (String(cause).includes('later')) throw new Error('a decider')
            if (String(cause).includes('retried')) return 'nonsense' as never
            return said
          },
        }
      : {}),
  }
  let starts = 0
  let badStarts = sim.choose(4)
  const ref: ActorRef<Trouble>[] = []
  const member: Behavior<Trouble> = setup<Trouble>((ctx) => {
    starts++
    if (badStarts > 0 && starts > 1) {
      badStarts--
      if (sim.choose(2) === 1) throw new Error('a start')
    }
    const adapter = ctx.adapt<number>(() => {
      throw new Error('an adapter')
    })
    return receive<Trouble>((_c, m) => {
      switch (m) {
        case 'work':
          return same
        case 'adapter':
          adapter.tell(1)
          return same
        case 'plain':
          throw new Error('plain')
        case 'later':
          return sim.delay().then(() => Promise.reject(new Error('later')))
        case 'retried':
          throw new ActorError('retried', { kind: 'transient', retry: { max: sim.oneOf([1, 0, 3]), within: 60 } })
        default:
          throw new ActorError(m, { kind: m, severity: sim.oneOf(['info', 'warn', 'error'] as const) })
      }
    })
  })
  let heard = 0
  const parent = sim.calmly(() =>
    sim.system.spawn(
      setup<never>((ctx) => {
        ref[0] = sim.calmly(() => ctx.spawn(member, { name: 'member', supervision: supervise(options) }))
        return receive<never>(
          () => same,
          (_c, s) => {
            if (s.type === 'ChildFailed') heard++
            return same
          },
        )
      }),
      { name: 'parent', supervision: 'resume' },
    ),
  )
  const kinds: readonly Trouble[] = ['plain', 'work', 'transient', 'permanent', 'fatal', 'retried', 'later', 'adapter', 'plain', 'plain', 'transient']
  sim.plan(sim.int(1, 8), (i) => {
    if (i > 0) sim.after(sim.choose(300), () => ref[0]?.tell(sim.oneOf(kinds)))
    else sim.after(1, () => ref[0]?.tell('plain'))
  })
  sim.eventually('failures are counted', () => {
    const { restarts, limitsHit, fatalStops } = sim.system.counts().supervision
    return restarts + limitsHit + fatalStops >= 0 && heard >= 0 && sim.system.phaseOf(parent) === 'running'
  })
}

export const limits: LibraryScenario = { name: 'limits', about: 'windows, backoffs and kinds of errors lead to what the policy says', run }
