// Children of a supervisor that fail while others of them wait for their backoff, so that restarts meet and become one.
// Nobody is forgotten, nobody begins before his time, and whoever begins finds up what he needs. Now and then somebody stops
// one of them meanwhile, or starts another: then that one is away, until a restart takes it along, and all others come up.

import { type ActorRef, type Behavior, child, receive, same, setup, supervisor, supervisorClient } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Job = 'work' | 'wait' | 'fail'

/** Who needs whom; each after those he needs. */
const families: readonly (readonly (readonly number[])[])[] = [
  [[], [], [0, 1], [2]],
  [[], [0], [0], [1, 2]],
  [[], [], [0], [1]],
  [[], [0], [1], [2]],
]

function run(sim: Simulation): void {
  const strategy = sim.oneOf(['dependents', 'rest-for-one', 'all-for-one'] as const)
  const needs = sim.oneOf(families)
  const size = needs.length
  const all = Array.from({ length: size }, (_, i) => i)
  const meddles = sim.choose(3) === 2
  const backoffs = all.map(() => sim.oneOf(meddles ? [0, 20, 0, 60] : [60, 0, 200, 20]))
  const frail = sim.choose(3) === 2
  const refs: (ActorRef<Job> | undefined)[] = []
  const up: boolean[] = all.map(() => false)
  /** When each came up, went down, and failed last, in the order of events; and the first failure that concerns it still. */
  const rose: number[] = all.map(() => 0)
  const fell: number[] = all.map(() => 0)
  const failedAt: number[] = all.map(() => 0)
  const concerned: number[] = all.map(() => Infinity)
  let events = 0
  /** Those whom somebody wants to be stopped: asked for, or done. */
  const unwanted: ('asked' | 'done' | undefined)[] = all.map(() => undefined)
  /** One who is long in coming up, and whom the restart of others has to wait for. */
  let another: 'none' | 'asked' | 'done' = 'none'
  const isMeddled = (): boolean => another !== 'none' || unwanted.some((u) => u !== undefined)
  /** When each may begin again at the earliest, because it failed. */
  const notBefore: number[] = all.map(() => 0)
  const failed = (i: number): void => {
    up[i] = false
    // Who fails while others are restarted may have to go with them.
    if (unwanted[i] === undefined && all.every((k) => k === i || up[k])) notBefore[i] = sim.now + backoffs[i]!
    failedAt[i] = ++events
    for (const k of all) if (shares(k, i)) concerned[k] = Math.min(concerned[k]!, events)
  }
  /** Whether the failure of one is answered with a restart of the other, too. */
  const shares = (k: number, failing: number): boolean => {
    if (k === failing || strategy === 'all-for-one') return true
    return strategy === 'rest-for-one' ? k > failing : needs[k]!.some((n) => shares(n, failing))
  }
  /** Who must be up when another begins: whom he needs; and all before him, where all later ones share the fate of each. */
  const before = (i: number): readonly number[] => (strategy === 'dependents' ? needs[i]! : all.slice(0, i))
  const worker = (i: number): Behavior<Job> =>
    setup<Job>((ctx) => {
      refs[i] = ctx.self
      sim.check(sim.faulted || sim.now >= notBefore[i]!, `child ${i} begins anew ${notBefore[i]! - sim.now} ms before its backoff is over`)
      for (const k of before(i)) {
        // Who is to be stopped does not come up; and who failed may wait for another's stop, or start, before he is seen to.
        // Who came up for this, and failed again; or failed when this restart was under way: he is seen to after it.
        const later = rose[k]! > fell[i]! || failedAt[k]! > concerned[i]!
        sim.check(sim.faulted || up[k]! || later || isMeddled(), `child ${i} begins, and child ${k} is not up`)
      }
      const behavior = receive<Job>(
        (_c, m) => {
          if (m === 'fail') {
            failed(i)
            if (meddles && sim.choose(2) === 1) {
              startAnother()
              stop(i)
            }
            throw new Error(`child ${i}`)
          }
          return m === 'wait' ? sim.delay().then(() => same) : same
        },
        (_c, s) => {
          if (s.type === 'PostStart') {
            up[i] = true
            rose[i] = ++events
            concerned[i] = Math.min(Infinity, ...all.filter((k) => !up[k] && shares(i, k)).map((k) => failedAt[k]!))
          } else if (s.type === 'PostStop') {
            up[i] = false
            fell[i] = ++events
          }
          return same
        },
      )
      const begin = (): Behavior<Job> => {
        if (!(frail || meddles) || ctx.incarnation === 0 || sim.choose(4) < (unwanted[i] === undefined ? 3 : 2)) return behavior
        failed(i)
        if (meddles && sim.choose(3) === 2) stop(i)
        throw new Error(`child ${i} does not come up`)
      }
      return sim.choose(4) === 3 ? sim.delay().then(begin) : begin()
    })
  const specs = all.map((i) =>
    child(`c${i}`, worker(i), {
      needs: strategy === 'dependents' ? needs[i]!.map((k) => `c${k}`) : [],
      shutdown: 50,
      stopTimeout: 20,
      ...(backoffs[i] === 0 ? {} : { backoff: { min: backoffs[i]!, max: backoffs[i]!, factor: 1, jitter: 0 } }),
    }),
  )
  const tree = sim.calmly(() =>
    sim.system.spawn(supervisor({ strategy, intensity: 1000, period: 1000, children: specs }), { name: 'tree', supervision: 'stop' }),
  )
  const client = supervisorClient(tree, { timeout: 2000 })
  const stop = (i: number): void => {
    unwanted[i] ??= 'asked'
    // It does not wait for a restart of its own any more.
    notBefore[i] = 0
    client.stopChild(`c${i}`).then(
      () => (unwanted[i] = 'done'),
      (cause: unknown) => sim.check(sim.faulted, `child ${i} was not stopped: ${String(cause)}`),
    )
  }
  const startAnother = (): void => {
    if (another !== 'none') return
    another = 'asked'
    const late = setup<Job>(() => sim.delay(sim.oneOf([40, 10, 100])).then(() => receive<Job>(() => same)))
    client.startChild(child('late', late)).then(
      () => (another = 'done'),
      (cause: unknown) => sim.check(sim.faulted, `another child was not started: ${String(cause)}`),
    )
  }
  const told = (): void => refs[sim.choose(size)]?.tell(sim.oneOf(['fail', 'fail', 'fail', 'work', 'wait']))
  sim.plan(sim.int(1, 6), told)
  // Also while others wait.
  for (let left = sim.int(1, 6); left > 0; left--) sim.after(sim.oneOf([10, 30, 55, 100, 190, 400]), told)
  if (meddles) sim.after(sim.oneOf([12, 30, 56, 100, 200]), () => stop(sim.choose(size)))
  sim.eventually('whoever failed is up again, and all others with him', () => {
    if (sim.faulted || sim.system.phaseOf(tree) !== 'running') return sim.faulted
    if (unwanted.includes('asked') || another === 'asked') return false
    return all.every((i) => {
      const phase = refs[i] === undefined ? 'created' : sim.system.phaseOf(refs[i])
      return up[i] === true ? phase === 'running' : unwanted[i] === 'done' && phase === 'terminated'
    })
  })
}

export const mergedRestarts: LibraryScenario = {
  name: 'merged restarts',
  about: 'restarts of a supervisor that meet: nobody is forgotten, and all come up in order',
  run,
}
