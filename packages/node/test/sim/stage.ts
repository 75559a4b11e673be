// What scenarios of the border have in common: threads, members on them, and what may be asked of a member.

import { type ActorRef, bounded, type SpawnOptions, unbounded } from '@troupe/core'
import type { Simulation } from '@troupe/testkit/internal'
import { memberOf } from './member.ts'
import { type Act, type Told, World } from './world.ts'

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
  readonly ringBytes?: readonly number[]
}

export function stage(sim: Simulation, options: StageOptions = {}): World {
  const world = new World(sim, { size: 2, hangAfter, ringBytes: sim.oneOf(options.ringBytes ?? [16_384, 1024]) })
  const member = memberOf(world)
  const count = sim.int(2, options.members ?? 4)
  for (let i = 0; i < count; i++) {
    const mailbox = options.mailboxes === undefined ? undefined : sim.oneOf(options.mailboxes)
    const here = options.mixed === true && sim.choose(4) === 3
    world.refs.push(
      sim.system.spawn(member(i), {
        name: `m${i}`,
        supervision: sim.oneOf(options.supervision ?? ['restart']),
        stopTimeout: 40,
        ...(sim.choose(4) === 3 ? { onRestart: { mailbox: 'clear' } as const } : undefined),
        ...(mailbox === undefined ? undefined : { mailbox }),
        ...(here ? undefined : { dispatcher: sim.choose(8) === 7 ? 'pinned' : 'parallel', placement: sim.oneOf(['round-robin', 'least-loaded']) }),
      }),
    )
  }
  // All threads are counted now and then, whatever goes on.
  for (let i = sim.choose(3); i > 0; i--) sim.after(sim.oneOf([30, 5, 90, 160]), () => world.count())
  // After all that was planned everybody who lives is told and asked once more: whoever is stuck is found so.
  let answered = 0
  let asked = 0
  sim.after(1000, () => {
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

/** As above, and mailboxes without bounds. */
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
