// One client that asks a supervisor for one thing after the other, about children that are well: what it is answered, and
// who is up afterwards, is told beforehand by a list of who is on file and who runs.

import {
  ActorError,
  type ActorRef,
  type Behavior,
  child,
  ChildRefused,
  type RestartType,
  receive,
  same,
  setup,
  supervisor,
  supervisorClient,
} from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Key = Parameters<ReturnType<typeof supervisorClient>['stopChild']>[0]
type Verb = 'stop' | 'restart' | 'delete' | 'start' | 'find' | 'list' | 'stop-failing' | 'nobody'

const size = 3
const verbs: readonly Verb[] = ['stop', 'restart', 'list', 'delete', 'start', 'find', 'stop-failing', 'nobody']
const types: readonly RestartType[] = ['permanent', 'transient', 'temporary']

async function run(sim: Simulation): Promise<void> {
  const strategy = sim.oneOf(['one-for-one', 'all-for-one', 'rest-for-one', 'dependents'] as const)
  const slow = sim.choose(3) === 2
  const refs: ActorRef<'hang'>[] = []
  const up: boolean[] = []
  /** Lets the handler fail in which a child hangs. */
  let fail: ((cause: Error) => void) | undefined
  const worker = (i: number): Behavior<'hang'> =>
    setup<'hang'>((ctx) => {
      refs[i] = ctx.self
      const behavior = receive<'hang'>(
        () => new Promise<never>((_, reject) => (fail = reject)),
        (_c, s) => {
          if (s.type === 'PostStart') up[i] = true
          if (s.type === 'PostStop') up[i] = false
          return slow && s.type === 'PreStop' ? sim.delay(3).then(() => same) : same
        },
      )
      return slow ? sim.delay(2).then(() => behavior) : behavior
    })
  const specs = Array.from({ length: size }, (_, i) =>
    child(`c${i}`, worker(i), {
      restart: sim.oneOf(types),
      shutdown: sim.oneOf([30, 'kill', 'infinity'] as const),
      needs: strategy === 'dependents' && i > 0 ? [`c${i - 1}`] : [],
      stopTimeout: 20,
    }),
  )
  const tree = sim.calmly(() => sim.system.spawn(supervisor({ strategy, children: specs }), { name: 'tree', supervision: 'stop' }))
  const client = supervisorClient(tree, { timeout: 200 })
  /** Who is on file, in order, and whether he runs. */
  const file = new Map(specs.map((_, i) => [i, true]))

  /** What comes of a request: `done`, or why it was refused. */
  const outcome = (request: Promise<unknown>): Promise<string> =>
    request.then(
      () => 'done',
      (cause: unknown) => (cause instanceof ChildRefused ? cause.reason : String(cause)),
    )
  const expect = (what: string, is: string, should: string): void => sim.check(sim.faulted || is === should, `${what}: ${is}, and not ${should}`)
  /** A way to say which child is meant; by its ref only as long as it has one. */
  const keyOf = (i: number): Key => sim.oneOf<Key>([`c${i}`, specs[i]!, ...(file.get(i) === true ? [refs[i]!] : [])])
  const away = (i: number): void => void (specs[i]!.restart === 'temporary' ? file.delete(i) : file.set(i, false))
  const stopped = (i: number, answer: string): void => {
    expect(`a stop of c${i}`, answer, file.has(i) ? 'done' : 'not-found')
    if (file.get(i) === true) away(i)
    expect(`after its stop c${i} is up`, String(up[i] === true), 'false')
  }
  const dependents = (i: number): boolean => strategy === 'dependents' && file.has(i + 1)

  const ask = async (verb: Verb, i: number): Promise<void> => {
    const runs = file.get(i)
    switch (verb) {
      case 'stop':
        return stopped(i, await outcome(client.stopChild(keyOf(i))))
      case 'stop-failing': {
        if (runs !== true) return
        fail = undefined
        refs[i]!.tell('hang')
        await sim.delay(1)
        const stop = outcome(client.stopChild(keyOf(i)))
        // The supervisor has taken the request by then: whatever the child does from here on, it is on its way out.
        await client.count().catch(() => undefined)
        ;(fail as ((cause: Error) => void) | undefined)?.(new ActorError('for good', { kind: 'permanent' }))
        return stopped(i, await stop)
      }
      case 'restart':
        expect(`a restart of c${i}`, await outcome(client.restartChild(keyOf(i))), runs === undefined ? 'not-found' : runs ? 'running' : 'done')
        if (runs === false) file.set(i, true)
        break
      case 'delete':
        expect(
          `a deletion of c${i}`,
          await outcome(client.deleteChild(keyOf(i))),
          runs === undefined ? 'not-found' : runs ? 'running' : dependents(i) ? 'needed' : 'done',
        )
        if (runs === false && !dependents(i)) file.delete(i)
        break
      case 'start': {
        const lacks = strategy === 'dependents' && i > 0 && !file.has(i - 1)
        const should = runs === undefined ? (lacks ? 'invalid' : 'done') : runs ? 'already-started' : 'already-present'
        expect(`a start of c${i}`, await outcome(client.startChild(specs[i]!)), should)
        if (runs === undefined && !lacks) file.set(i, true)
        break
      }
      case 'find': {
        const found = client.refOf(specs[i]!)
        expect(`a search for c${i}`, await outcome(found), runs === true ? 'done' : 'not-found')
        if (runs === true) sim.check(sim.faulted || (await found) === refs[i], `another was found than c${i}`)
        break
      }
      case 'nobody':
        for (const nobody of [null, undefined, 'c9', 7])
          expect(`a restart of ${nobody}`, await outcome(client.restartChild(nobody as Key)), 'not-found')
        break
      case 'list':
        break
    }
    if (file.get(i) === true) expect(`c${i} runs, and is up`, String(up[i]), 'true')
  }
  const compare = async (): Promise<void> => {
    const children = await client.children().catch(() => [])
    const is = children.map((c) => `${c.name} ${c.status} ${c.ref === undefined ? 'nowhere' : 'there'}`).join(', ')
    expect('on file', is, [...file].map(([i, runs]) => `c${i} ${runs ? 'running there' : 'stopped nowhere'}`).join(', '))
    const { specs: all, active, workers } = await client.count().catch(() => ({ specs: -1, active: -1, workers: -1 }))
    const running = [...file.values()].filter(Boolean).length
    expect('in numbers', `${all} ${active} ${workers}`, `${file.size} ${running} ${file.size}`)
  }
  const began = await outcome(sim.system.started(tree))
  expect('the start of the supervisor', began, 'done')
  for (let left = sim.int(3, 10); left > 0 && !sim.faulted; left--) {
    await ask(sim.oneOf(verbs), sim.choose(size))
    if (!sim.faulted) await compare()
  }
}

export const supervisorRequests: LibraryScenario = {
  name: 'supervisor requests',
  about: 'what is asked of a supervisor is answered as its children stand, and done',
  run,
}
