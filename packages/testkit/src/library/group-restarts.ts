// A parent whose children share their fate: all-for-one and rest-for-one, with limits and escalation.

import { type ActorRef, type Behavior, receive, same, setup, type Signal, supervise, unhandled } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Member = 'work' | 'wait' | 'fail'

function run(sim: Simulation): void {
  const scope = sim.oneOf(['one-for-one', 'all-for-one', 'rest-for-one'] as const)
  const restarts = sim.oneOf([3, 1])
  const untouched = sim.choose(2) === 0
  // Where nobody shares a fate, a child's own policy wins over its parent's for all.
  const own = sim.choose(4) === 3
  const members: ActorRef<Member>[] = []
  const incarnations: number[] = []
  const failures: number[] = []
  const running: boolean[] = []
  const member = (i: number): Behavior<Member> =>
    setup<Member>(
      (ctx) => {
        if (ctx.incarnation === 1) begins(i)
        incarnations[i] = ctx.incarnation
        return receive<Member>(
          (_c, m) => {
            if (m === 'fail') {
              failures[i] = (failures[i] ?? 0) + 1
              together = [0, 1, 2].every((k) => running[k] === true)
              throw new Error(`member ${i}`)
            }
            return m === 'wait' ? sim.delay().then(() => same) : same
          },
          // Every other one leaves it to the handler of the setup.
          i % 2 === 1 ? undefined : (_c, s) => (i === 0 ? unhandled : noted(i, s)),
        )
      },
      (_c, s) => noted(i, s),
    )
  const noted = (i: number, s: Signal): typeof same => {
    if (s.type === 'PostStart') running[i] = true
    if (s.type === 'PostStop') running[i] = false
    return same
  }
  /** Whether all were up when one failed: who is not comes back on his own. */
  let together = false
  /** Of those that share a fate all end before the first begins anew. */
  const begins = (i: number): void => {
    const failed = failures.findIndex((n) => (n ?? 0) > 0)
    if (sim.faulted || !untouched || !together || scope === 'one-for-one' || failures.reduce((a, b) => a + (b ?? 0), 0) !== 1) return
    for (let k = scope === 'all-for-one' ? 0 : failed; k < 3; k++)
      sim.check(running[k] !== true || incarnations[k] === 1, `member ${i} begins anew, and member ${k} has not ended`)
  }
  let heard = 0
  const parent = sim.system.spawn(
    setup<never>((ctx) => {
      for (let i = 0; i < 3; i++)
        members[i] = ctx.spawn(member(i), { name: `m${i}`, stopTimeout: 20, ...(own ? { supervision: 'resume' as const } : {}) })
      return receive<never>(
        () => same,
        (_c, s) => {
          if (s.type === 'ChildFailed') heard++
          return same
        },
      )
    }),
    {
      name: 'group',
      childSupervision: supervise({
        scope,
        limit: { restarts, within: 500 },
        onLimit: untouched ? 'stop' : 'escalate',
        backoff: { min: 5, max: 40, factor: 2, jitter: 0 },
      }),
    },
  )
  sim.plan(sim.int(1, 12), () => {
    const i = sim.choose(3)
    const ref = members[i]
    if (ref === undefined) return
    if (untouched) ref.tell(sim.oneOf(['fail', 'work', 'wait']))
    else {
      const what = sim.choose(4)
      // With its parent's next incarnation a group has a new budget.
      if (what === 1 || what === 2) sim.system.restart(what === 1 ? ref : parent)
      else ref.tell(sim.oneOf(['fail', 'work', 'wait']))
    }
  })
  // A budget that is used up, and then a parent that begins anew.
  if (!untouched && sim.choose(3) === 1) {
    const fail = (): void => members[sim.choose(3)]?.tell('fail')
    for (let n = 0; n < restarts; n++) sim.after(5 + 50 * n, fail)
    sim.after(50 * restarts, () => sim.system.restart(parent))
    sim.after(50 * restarts + 40, fail)
  }
  // Who is suspended stays so, also when the others have it begin anew.
  let suspended = false
  if (untouched && sim.choose(4) === 1)
    sim.after(2, () => {
      const last = members[2]
      if (last === undefined || sim.faulted) return
      sim.spare(last)
      sim.system.suspend(last, 'a test')
      suspended = true
    })
  sim.eventually('who is suspended stays so over the restart of his group', () => {
    if (!suspended || sim.faulted || sim.system.phaseOf(parent) !== 'running') return true
    const phase = sim.system.phaseOf(members[2]!)
    return phase === 'suspended' || phase === 'terminated'
  })
  sim.eventually('a member that failed once was restarted, and its group with it', () => {
    if (sim.system.phaseOf(parent) !== 'running' || !untouched || sim.faulted) return true
    const failed = [0, 1, 2].filter((i) => (failures[i] ?? 0) > 0)
    if (failed.length !== 1 || failures[failed[0]!] !== 1) return true
    const first = failed[0]!
    return [0, 1, 2].every((i) => {
      if (own && scope === 'one-for-one') return incarnations[i] === 0
      const along = i === first || scope === 'all-for-one' || (scope === 'rest-for-one' && i > first)
      return incarnations[i] === (along ? 1 : 0) && running[i] === true
    })
  })
  sim.eventually(
    'the parent heard of every failure',
    () => sim.faulted || !untouched || sim.system.phaseOf(parent) !== 'running' || heard >= failures.reduce((a, b) => a + (b ?? 0), 0),
  )
}

export const groupRestarts: LibraryScenario = { name: 'group restarts', about: 'children that share their fate, within limits', run }
