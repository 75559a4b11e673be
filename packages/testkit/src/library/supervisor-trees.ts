// Declared children: start order, strategies, restart types, intensity, backoff, and requests at run time while children
// fail, end, are killed or hang. Children start in order and stop in reverse; nobody is restarted who must not be.

import {
  type ActorRef,
  type Behavior,
  child,
  ChildRefused,
  type RestartType,
  receive,
  same,
  setup,
  stopped,
  supervisor,
  supervisorClient,
} from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Job = 'work' | 'wait' | 'fail' | 'end'

function run(sim: Simulation): void {
  const strategy = sim.oneOf(['one-for-one', 'all-for-one', 'rest-for-one', 'dependents'] as const)
  const intensity = sim.oneOf([3, 1, 8])
  const types: readonly RestartType[] = ['permanent', 'transient', 'temporary']
  const size = 3
  const restart = Array.from({ length: size }, () => sim.oneOf(types))
  const refs: (ActorRef<Job> | undefined)[] = []
  const lives: number[] = [0, 0, 0]
  const up: boolean[] = [false, false, false]
  const did: Record<'fail' | 'end' | 'other', number[]> = { fail: [0, 0, 0], end: [0, 0, 0], other: [0, 0, 0] }
  const slow = sim.choose(3) === 1
  // Who begins anew may fail at that, now and then, and take his time before.
  const frail = sim.choose(3) === 2
  let touched = false
  const disturbed = (): boolean => Object.values(did).some((of) => of.some((n) => n > 0))
  const worker = (i: number): Behavior<Job> =>
    setup<Job>((ctx) => {
      lives[i]!++
      refs[i] = ctx.self
      // Whoever starts finds all up that it must find up.
      for (let k = 0; k < i; k++)
        if (strategy === 'dependents' ? k === i - 1 : lives[i] === 1)
          sim.check(sim.faulted || touched || disturbed() || up[k]!, `child ${i} starts, and child ${k} is not up`)
      const behavior = receive<Job>(
        (_c, m) => {
          switch (m) {
            case 'work':
              return same
            case 'wait':
              return sim.delay().then(() => same)
            case 'fail':
              did.fail[i]!++
              throw new Error(`child ${i}`)
            case 'end':
              did.end[i]!++
              return stopped
          }
        },
        (_c, s) => {
          if (s.type === 'PostStart') up[i] = true
          if (s.type === 'PostStop') {
            up[i] = false
            // In reverse: whoever is stopped with the others goes before those that were started before him.
            if (closing && !disturbed()) for (let k = i + 1; k < size; k++) sim.check(sim.faulted || !up[k]!, `child ${i} stops before child ${k}`)
          }
          if (slow && s.type === 'PreStop' && sim.choose(3) === 1) return sim.choose(3) === 1 ? sim.never() : sim.delay().then(() => same)
          return same
        },
      )
      const fails = frail && ctx.incarnation > 0 && sim.choose(2) === 1
      if (fails) did.other[i]!++
      const start = (): Behavior<Job> => {
        if (fails) throw new Error(`child ${i} does not come up`)
        return behavior
      }
      return (slow || frail) && sim.choose(3) === 1 ? sim.delay().then(start) : start()
    })
  const specs = Array.from({ length: size }, (_, i) =>
    child(`c${i}`, worker(i), {
      restart: restart[i],
      shutdown: sim.oneOf([30, 'kill', 'infinity'] as const),
      needs: strategy === 'dependents' && i > 0 ? [`c${i - 1}`] : [],
      stopTimeout: 20,
      ...(sim.choose(3) === 1 ? { backoff: { min: 5, max: 20, jitter: 0 } } : {}),
    }),
  )
  let closing = false
  let lost = false
  const tree = sim.calmly(() =>
    sim.system.spawn(supervisor({ strategy, intensity, period: 200, children: specs }), { name: 'tree', supervision: 'stop' }),
  )
  void sim.system.whenTerminated(tree).then(() => {
    lost = true
    sim.check(sim.faulted || up.every((u) => !u), 'the supervisor ended before its children')
  })
  const client = supervisorClient(tree, { timeout: 300 })
  let asked = 0
  let settled = 0
  const request = (call: Promise<unknown>): void => {
    touched = true
    asked++
    call.then(
      () => settled++,
      (cause: unknown) => {
        settled++
        sim.check(cause instanceof ChildRefused || cause instanceof Error, `a request was refused with ${String(cause)}`)
      },
    )
  }
  const gentle = sim.choose(2) === 0
  sim.plan(sim.int(1, 8), () => {
    const i = sim.choose(size)
    const ref = refs[i]
    if (ref === undefined) return
    switch (gentle ? 0 : sim.choose(10)) {
      case 1:
        return request(client.stopChild(`c${i}`))
      case 2:
        return request(client.restartChild(`c${i}`))
      case 3:
        did.other[i]!++
        return sim.system.kill(ref)
      case 4:
        did.other[i]!++
        return ref.stop()
      case 5:
        return request(client.children())
      case 6:
        did.other[i]!++
        return sim.system.suspend(ref, 'a test')
      case 7:
        did.other[i]!++
        return sim.system.resume(ref)
      case 8:
        did.other[i]!++
        return sim.system.restart(ref)
      default:
        ref.tell(sim.oneOf(['fail', 'work', 'wait', 'end'] as const))
    }
  })
  sim.after(sim.oneOf([2500, 50, 300]), () => {
    if (sim.now > 2000 || sim.choose(2) === 0) return
    closing = true
    tree.stop()
  })
  sim.eventually('every request is answered', () => asked === settled)
  sim.eventually('a stop comes to its end', () => !closing || sim.system.phaseOf(tree) === 'terminated')
  sim.eventually('who must be up is up, and who must not is not', () => {
    // Whoever overruns his stop is killed, and comes back if that is what his type says.
    if (sim.faulted || closing || lost || touched || slow || frail || !gentle) return true
    const troubles = did.fail.map((n, i) => n + (restart[i] === 'permanent' ? did.end[i]! : 0)).reduce((a, b) => a + b, 0)
    if (troubles > 1) return true
    return restart.every((type, i) => {
      const ended = (type === 'temporary' && did.fail[i]! > 0) || (type !== 'permanent' && did.end[i]! > 0)
      const swept = type === 'temporary' && strategy !== 'one-for-one' && troubles > 0
      // Whoever ended by himself comes back with a group that is restarted.
      if (ended) return up[i] === false || (troubles > 0 && strategy !== 'one-for-one')
      return swept || up[i] === true
    })
  })
  sim.eventually('a child that failed alone is restarted with those that share its fate, and nobody else', () => {
    if (sim.faulted || closing || lost || touched || frail || !gentle) return true
    const failed = did.fail.findIndex((n) => n > 0)
    if (failed < 0 || did.fail.reduce((a, b) => a + b, 0) !== 1 || did.end.some((n) => n > 0)) return true
    const once = restart[failed] !== 'temporary'
    return lives.every((n, i) => {
      const along =
        once && (i === failed || (strategy === 'all-for-one' && true) || ((strategy === 'rest-for-one' || strategy === 'dependents') && i > failed))
      return n === (along && (i === failed || restart[i] !== 'temporary') ? 2 : 1)
    })
  })
}

export const supervisorTrees: LibraryScenario = {
  name: 'supervisor trees',
  about: 'declared children start in order, stop in reverse, and are restarted as their type says',
  run,
}
