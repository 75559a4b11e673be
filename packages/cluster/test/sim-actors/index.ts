// The scenarios of a cluster with actors in it, simulated as those of the core are: by `npm run sim`, by tests and by the mutation proof.

import { SimulatedCluster } from '@troupe/cluster/internal'
import type { Strike } from '@troupe/cluster/testing'
import type { LibraryScenario, Simulation } from '@troupe/testkit/internal'
import { type CartOptions, Carts } from './carts.ts'
import { Directory } from './directory.ts'
import { SlowActors, type SlowOptions } from './slow.ts'
import { Talk } from './talk.ts'
import { Watching } from './watching.ts'

const span = 20_000
const lease = 3_000
const options = { places: true, faults: 'none', duration: span, grace: 60_000, maxSteps: 400_000, shrinkTrials: 300 } as const

/** Faults that were injected in all runs, by kind. */
export const faultsDone: Map<Strike, number> = new Map()

function strikes(world: SimulatedCluster, most: number, kinds?: readonly Strike[]): void {
  const { sim } = world
  // The last that is up stays, where nothing may be lost: nobody would be there to take what it has.
  const least = kinds?.length === 1 ? 2 : 1
  const strike = (): void => {
    const done = world.up.length >= least ? world.strike(kinds) : undefined
    if (done !== undefined) faultsDone.set(done, (faultsDone.get(done) ?? 0) + 1)
  }
  for (let i = sim.int(1, most); i > 0; i--) sim.after(sim.int(3, 38) * 500, strike)
}

function talk(sim: Simulation, most: number): void {
  const world = new SimulatedCluster(sim, lease, 'rough', span)
  const members = new Talk(world)
  for (const name of ['a', 'b', 'c']) world.start(name)
  for (let at = 1_000; at < span; at += sim.oneOf([200, 40, 700])) sim.after(at, () => members.act())
  if (most > 0) strikes(world, most)
  sim.after(span + 30_000, () => {
    for (const node of world.up) members.count(node)
  })
}

/** Nodes that talk while frames are forged in their names. */
function forged(sim: Simulation): void {
  const world = new SimulatedCluster(sim, lease, 'rough', span)
  world.expectsBreaks = true
  const members = new Talk(world)
  for (const name of ['a', 'b', 'c']) world.start(name)
  for (let at = 1_000; at < span; at += sim.oneOf([200, 40, 700])) sim.after(at, () => members.act())
  strikes(world, most, ['forge', 'forge', 'spoil', 'cut'])
  // A side may hear at its next word that its connection is over, and then that word is lost. The last ones arrive.
  for (let words = 1; words <= 4; words++) sim.after(span + words * 10_000, () => members.tellAll())
}

/** Actors that register and leave while connections break. */
function directory(sim: Simulation): void {
  const world = new SimulatedCluster(sim, lease, 'rough', span)
  world.expectsBreaks = true
  const registered = new Directory(world)
  for (const name of ['a', 'b', 'c']) world.start(name)
  for (let at = 1_000; at < span; at += sim.oneOf([400, 100, 1_500])) sim.after(at, () => registered.act())
  strikes(world, most, ['spoil', 'spoil', 'forge', 'cut', 'pause', 'kill', 'leave'])
}

/** Carts that are struck by up to so many of these. */
export function shop(sim: Simulation, given: CartOptions, most: number, kinds?: readonly Strike[]): SimulatedCluster {
  const world = new SimulatedCluster(sim, lease, 'rough', span)
  const carts = new Carts(world, given)
  for (const name of ['a', 'b', 'c']) world.start(name)
  for (let at = 1_000; at < span; at += sim.oneOf([200, 20, 700])) sim.after(at, () => carts.act())
  strikes(world, most, kinds)
  return world
}

/** Carts of nodes that all live and reach the registry: no session may end. */
function steadyShop(sim: Simulation, kinds: readonly Strike[]): void {
  const world = shop(sim, { persistent: false, lossy: false }, most, kinds)
  // Answers in time: a node that cannot renew for a lease has lost it.
  world.hub.registryFaults = { ...world.hub.registryFaults, late: 0 }
  keepsSessions(world)
}

/** No session may end whose node lives and has not left. */
function keepsSessions(world: SimulatedCluster): void {
  world.sim.always(() => {
    for (const name of world.over.keys())
      if (world.life(name)?.isUp === true) world.sim.violate('invariant', `K11: the session ${name} was ended, and its node lives`)
  })
}

/** Actors that are slower than what is offered to them. They are offered nothing before their shards run, so that nothing waits for an owner. */
function slow(sim: Simulation, given: SlowOptions, kinds: readonly Strike[]): void {
  const world = new SimulatedCluster(sim, lease, 'rough', span)
  world.expectsBreaks = kinds.includes('spoil')
  const actors = new SlowActors(world, given)
  if (!given.lossy) keepsSessions(world)
  for (const name of ['a', 'b', 'c']) world.start(name)
  for (let at = 3_000; at < span; at += sim.oneOf([700, 200, 1_500])) sim.after(at, () => actors.act())
  if (kinds.length > 0) strikes(world, most, kinds)
}

/** Actors that are watched while they and their nodes come and go. */
function watching(sim: Simulation, kinds: readonly Strike[]): void {
  const world = new SimulatedCluster(sim, lease, 'rough', span)
  world.expectsBreaks = kinds.includes('spoil')
  const watched = new Watching(world)
  for (const name of ['a', 'b', 'c']) world.start(name)
  for (let at = 1_000; at < span; at += sim.oneOf([200, 40, 700])) sim.after(at, () => watched.act())
  strikes(world, most, kinds)
}

/** Each node is struck several times in a run: 12 faults at most, 6 on average. */
const most = 11

/** Whether nodes are struck in a scenario. */
interface ClusterLibraryScenario extends LibraryScenario {
  readonly strikes: boolean
}

export const library: readonly ClusterLibraryScenario[] = [
  {
    name: 'cluster talk',
    about: 'K1, K3, K5: notes, questions and watches between nodes over a wire that loses, doubles, delays and reorders',
    options,
    strikes: false,
    run: (sim) => talk(sim, 0),
  },
  {
    name: 'cluster strikes',
    about: 'K1 to K5, K8, K10, K11: the same while nodes are paused, cut off, killed, leave and come back, and the engine is away',
    options,
    strikes: true,
    run: (sim) => talk(sim, most),
  },
  {
    name: 'cluster forged',
    about:
      'K1, K2, K14: frames that are forged in the name of a node end a connection at most; nothing is doubled or overtaken, and the next one works',
    options,
    strikes: true,
    run: (sim) => forged(sim),
  },
  {
    name: 'cluster directory',
    about: 'actors that register and leave while connections between living nodes break: every node finds who is registered on any, and nobody else',
    options,
    strikes: true,
    run: (sim) => directory(sim),
  },
  {
    name: 'cluster rolling restart',
    about: 'K1, K12: sharded actors while nodes leave and come back: no message is lost or overtaken',
    options,
    strikes: true,
    run: (sim) => void shop(sim, { persistent: false, lossy: false }, most, ['leave']),
  },
  {
    name: 'cluster moves',
    about:
      'K1, K2: sharded actors while nodes leave and come back, are paused and cut off from each other: nothing is overtaken, however shards move',
    options,
    strikes: true,
    run: (sim) => void shop(sim, { persistent: false, lossy: true }, most, ['leave', 'cut', 'pause', 'leave']),
  },
  {
    name: 'cluster slow',
    about: 'K6: sharded actors that are slower than what is offered to them: their mailboxes hold what they may, and all that was offered is handled',
    options,
    strikes: false,
    run: (sim) => slow(sim, { lossy: false, steady: true }, []),
  },
  {
    name: 'cluster slow moves',
    about: 'K1, K6: the same while nodes leave and come back: offers wait for the next owner, in order, and none is lost',
    options,
    strikes: true,
    run: (sim) => slow(sim, { lossy: false, steady: false }, ['leave']),
  },
  {
    name: 'cluster slow losses',
    about: 'K2, K6: the same while nodes are killed and connections break: every offer is taken, and all credit is back',
    options,
    strikes: true,
    run: (sim) => slow(sim, { lossy: true, steady: false }, ['kill', 'spoil', 'leave', 'cut', 'pause', 'forge']),
  },
  {
    name: 'cluster watches',
    about:
      'K4: watchers of sharded actors that stop, fail, fall asleep and move, while nodes leave, are paused, cut off and lost: each watch ends once',
    options,
    strikes: true,
    run: (sim) => watching(sim, ['kill', 'leave', 'cut', 'pause', 'isolate']),
  },
  {
    name: 'cluster watches broken',
    about: 'K4: the same while connections between living nodes break, too',
    options,
    strikes: true,
    run: (sim) => watching(sim, ['spoil', 'spoil', 'forge', 'leave', 'kill', 'cut']),
  },
  {
    name: 'cluster clocks',
    about: 'K8: sharded actors while machines are suspended, with monotonic clocks that stand still, and the clock of the registry is stepped',
    options,
    strikes: true,
    run: (sim) => void shop(sim, { persistent: false, lossy: true }, most, ['suspend', 'step', 'suspend', 'isolate']),
  },
  {
    name: 'cluster keys',
    about: 'K11: sharded actors while lease keys vanish early and the clock of the registry is stepped: no session ends, no message is lost',
    options,
    strikes: true,
    run: (sim) => steadyShop(sim, ['purge', 'step']),
  },
  {
    name: 'cluster shards',
    about: 'K2, K3, K8, K9: sharded actors through all strikes: one activation begins handlers, and each shard runs again',
    options,
    strikes: true,
    run: (sim) => void shop(sim, { persistent: false, lossy: true }, most),
  },
  {
    name: 'cluster journal',
    about: 'K2, K7, P1: persistent sharded actors through all strikes: one writer in each epoch, and nothing acknowledged is lost',
    options,
    strikes: true,
    run: (sim) => void shop(sim, { persistent: true, lossy: true }, most),
  },
]
