// What scenarios of the border have in common: threads, members on them, and what may be asked of a member.

import { type ActorRef, bounded, type SpawnOptions, supervise, unbounded } from '@troupe/core'
import type { Simulation } from '@troupe/testkit/internal'
import type { Act, Told } from './acts.ts'
import { memberOf } from './member.ts'
import { World } from './world.ts'

export const hangAfter = 240

/** Virtual milliseconds with faults, and after them. */
export const times = { places: true, duration: 250, grace: 1600, maxSteps: 40_000, faults: 'none' } as const

export interface StageOptions {
  /** Members, at most. */
  readonly members?: number
  /** Whether some of them live on the main thread. */
  readonly mixed?: boolean
  /** Mailboxes that they may have. */
  readonly mailboxes?: readonly NonNullable<SpawnOptions['mailbox']>[]
  readonly supervision?: readonly NonNullable<SpawnOptions['supervision']>[]
  /** Of so many members one loses its messages at a restart, and one has a thread of its own; 4 and 8 if left out. */
  readonly oneClearsIn?: number
  readonly onePinnedIn?: number
  readonly ringBytes?: readonly number[]
}

export function stage(sim: Simulation, options: StageOptions = {}): World {
  const world = new World(sim, { size: 2, hangAfter, ringBytes: sim.oneOf(options.ringBytes ?? [16_384, 1024]) })
  const member = memberOf(world)
  const count = sim.int(2, options.members ?? 4)
  /** One of so many, the last of the choices: the plainest come first. */
  const oneIn = (n: number): boolean => sim.choose(n) === n - 1
  const { oneClearsIn = 4, onePinnedIn = 8 } = options
  for (let i = 0; i < count; i++) {
    const mailbox = options.mailboxes === undefined ? undefined : sim.oneOf(options.mailboxes)
    const here = options.mixed === true && oneIn(4)
    world.refs.push(
      sim.system.spawn(member(i), {
        name: `m${i}`,
        supervision: sim.oneOf(options.supervision ?? ['restart']),
        stopTimeout: 40,
        ...(oneIn(oneClearsIn) ? { onRestart: { mailbox: 'clear' } as const } : undefined),
        ...(mailbox === undefined ? undefined : { mailbox }),
        ...(here ? undefined : { dispatcher: oneIn(onePinnedIn) ? 'pinned' : 'parallel', placement: sim.oneOf(['round-robin', 'least-loaded']) }),
      }),
    )
  }
  // All threads are counted now and then, whatever goes on.
  for (let i = sim.choose(3); i > 0; i--) sim.after(sim.oneOf([30, 5, 90, 160]), () => world.count())
  // After all that was planned everybody who lives is told and asked once more: whoever is stuck is found so.
  let answered = 0
  let asked = 0
  sim.after(1000, () => {
    world.judgeSleepers()
    for (const ref of world.refs) {
      if (!world.isWell(ref.uid)) continue
      asked++
      world.tell('main', ref, { do: 'nothing' })
      world.ask(undefined, ref, { do: 'answer' }, 400).then(
        () => answered++,
        () => world.isWell(ref.uid) || answered++,
      )
    }
  })
  sim.eventually('whoever lives answers in the end', () => answered === asked)
  sim.eventually('all is told and settled', () => {
    world.judge()
    return true
  })
  return world
}

export const small: readonly NonNullable<SpawnOptions['mailbox']>[] = [
  bounded(8, 'drop-newest'),
  bounded(16, 'drop-oldest'),
  bounded(2, 'reject'),
  bounded(40, 'block'),
]

/** Restarts that go on and on, at once or after a while; starts that fail are made again. */
export const restless: readonly NonNullable<SpawnOptions['supervision']>[] = [0, 1, 30].map((min) =>
  supervise({ retryStart: true, limit: { restarts: 1000, within: 1000 }, backoff: { min, max: 50, jitter: 0 } }),
)

/** Some of the small mailboxes, and one without bounds. */
export const any: readonly NonNullable<SpawnOptions['mailbox']>[] = [unbounded(), bounded(8, 'drop-newest'), bounded(100, 'drop-oldest')]

/** Does something from outside so many times, at moments that the seed chooses: threads take a while to be there. */
export function spread(sim: Simulation, count: number, act: (i: number) => unknown): void {
  sim.plan(count, (i) => {
    const ms = sim.oneOf([0, 25, 5, 60, 120, 200])
    if (ms === 0) act(i)
    else sim.after(ms, () => void act(i))
  })
}

export function pick(world: World): ActorRef<Told> {
  return world.refs[world.sim.choose(world.refs.length)]!
}

/** One of the things that can befall an actor, from outside or by its own doing; what others have on their way to it among them. */
export function strike(world: World, ref: ActorRef<Told>): unknown {
  const { sim } = world
  switch (sim.choose(12)) {
    case 1:
      return world.tell('main', ref, { do: 'throw' })
    case 2:
      return world.restart(ref)
    case 3:
      return world.tell('main', ref, { do: 'fail to start', times: sim.int(1, 3) })
    case 4:
      sim.system.suspend(ref, 'a pause')
      return sim.after(sim.oneOf([1, 5, 30]), () => sim.system.resume(ref))
    case 5:
      return world.crash(ref)
    case 6:
      return void world
        .ask(undefined, pick(world), { do: 'forward', to: ref, after: sim.oneOf(['stay', 'stop']), act: queryFor(world, 1) }, 200)
        .catch(() => {})
    case 7:
      return world.tell('main', pick(world), { do: sim.oneOf(['watch', 'unwatch']), ref })
    case 8:
      return world.tell('main', ref, { do: 'spawn', name: 'c', on: sim.oneOf([undefined, 'parallel', 'pinned']) })
    case 9:
      return world.tell('main', pick(world), { do: 'tell', to: ref, times: sim.int(1, 6) })
    case 10:
      return sim.choose(3) === 2 ? world.tell('main', pick(world), { do: 'end', ref }) : world.tell('main', ref, { do: 'wait' })
    case 11:
      return sim.choose(3) === 2 ? sim.system.kill(ref) : void world.ask(undefined, ref, handedOn(world, 2), 200).catch(() => {})
    default:
      return world.tell('main', ref, { do: 'nothing' })
  }
}

/** What a member may be told; the plainest first. */
export function noteFor(world: World): Act {
  const { sim } = world
  switch (sim.choose(9)) {
    case 1:
      return { do: 'tell', to: pick(world), times: sim.int(1, 6) }
    case 2:
      return { do: 'wait' }
    case 3:
      return { do: 'throw' }
    case 4:
      return { do: 'stash' }
    case 5:
      return { do: 'unstash' }
    case 6:
      return { do: 'watch', ref: pick(world) }
    case 7:
      return { do: 'ask', to: pick(world), timeout: 60, act: queryFor(world, 0), wait: false }
    case 8:
      return { do: 'unwatch', ref: pick(world) }
    default:
      return { do: 'nothing' }
  }
}

/** What it may be asked. */
export function queryFor(world: World, depth: number): Act {
  const { sim } = world
  switch (sim.choose(depth > 0 ? 9 : 6)) {
    case 1:
      return { do: 'answer later' }
    case 2:
      return { do: 'throw' }
    case 3:
      return { do: 'keep' }
    case 4:
      return { do: 'answer twice' }
    case 5:
      return { do: 'unhandled' }
    case 6:
      return { do: 'forward', to: pick(world), after: sim.oneOf(['stay', 'stop']), act: queryFor(world, depth - 1) }
    case 7:
      return { do: 'ask', to: pick(world), timeout: sim.oneOf([60, 150]), act: queryFor(world, depth - 1), wait: true }
    case 8:
      return { do: 'forward', to: pick(world), after: 'stay', act: queryFor(world, depth - 1) }
    default:
      return { do: 'answer' }
  }
}

/** A question that goes from one to the next before somebody answers; who hands it on may stop. */
export function handedOn(world: World, depth: number): Act {
  const { sim } = world
  if (depth === 0 || sim.choose(4) === 3) return queryFor(world, 0)
  return { do: 'forward', to: pick(world), after: sim.oneOf(['stop', 'stay']), act: handedOn(world, depth - 1) }
}

/** A question that others must be asked for, who may be waiting themselves. */
export function circleFor(world: World, depth: number): Act {
  const { sim } = world
  switch (sim.choose(depth > 0 ? 6 : 2)) {
    case 1:
      return { do: 'answer later' }
    case 2:
    case 3:
      return { do: 'ask', to: pick(world), timeout: 650, act: circleFor(world, depth - 1), wait: true }
    case 4:
      return { do: 'forward', to: pick(world), after: 'stay', act: circleFor(world, depth - 1) }
    case 5:
      return { do: 'keep' }
    default:
      return { do: 'answer' }
  }
}
