// What a cluster is put through, seed by seed.

import type { LibraryScenario, Simulation } from '@troupe/testkit/internal'
import { calm, type Faults } from '../../src/engines/memory/weather.ts'
import { ClusterWorld, type SimNode } from './sim-node.ts'
import { shardCount, SimJournal, SimShards } from './sim-shards.ts'

const span = 20_000
const options = { places: true, faults: 'none', duration: span, grace: 60_000, maxSteps: 400_000 } as const

function rough(sim: Simulation): Faults {
  return {
    drop: sim.oneOf([0, 0.1, 0.3]),
    double: sim.oneOf([0, 0.1, 0.3]),
    delay: [sim.oneOf([1, 20]), sim.oneOf([20, 150])],
    late: sim.oneOf([0, 0.1]),
    latest: 6_000,
  }
}

function stage(sim: Simulation, wire: boolean): ClusterWorld {
  const world = new ClusterWorld(sim)
  if (wire) world.hub.wireFaults = rough(sim)
  world.hub.registryFaults = { drop: 0, double: 0, delay: [1, 20], late: sim.oneOf([0, 0.1]), latest: 1_500 }
  sim.after(span, () => {
    world.hub.wireFaults = { ...calm, delay: [1, 10] }
    world.hub.registryFaults = { ...calm, delay: [1, 10] }
  })
  world.expectAgreement()
  return world
}

function talk(sim: Simulation, world: ClusterWorld): void {
  for (let at = 200; at < span; at += sim.oneOf([300, 50, 1_000])) sim.after(at, () => world.pick()?.talk())
}

function strikes(sim: Simulation, world: ClusterWorld, most: number): void {
  for (let i = sim.int(1, most); i > 0; i--) sim.after(sim.int(1, 38) * 500, () => world.strike())
}

export const library: readonly LibraryScenario[] = [
  {
    name: 'cluster talk',
    about: 'numbered messages among three nodes over a wire that loses, doubles, delays and reorders',
    options,
    run: (sim) => {
      const world = stage(sim, true)
      for (const name of ['a', 'b', 'c']) world.start(name)
      talk(sim, world)
    },
  },
  {
    name: 'cluster lives',
    about: 'nodes that are paused, cut off, killed, that leave and come back, and an engine that is away, while they talk',
    options,
    run: (sim) => {
      const world = stage(sim, sim.choose(2) === 1)
      for (const name of ['a', 'b', 'c']) world.start(name)
      talk(sim, world)
      strikes(sim, world, 8)
    },
  },
  {
    name: 'cluster outages',
    about: 'an engine that is away, again and again: nobody ends, and in the end all that was said was heard',
    options,
    run: (sim) => {
      const world = stage(sim, false)
      // An answer that takes longer than a node is patient is no outage.
      world.hub.registryFaults = { ...world.hub.registryFaults, latest: 400 }
      for (const name of ['a', 'b', 'c']) world.start(name)
      talk(sim, world)
      // Once all have joined: who is not a member yet may be refused.
      let at = 4_000
      while (at < span) {
        const ms = sim.oneOf([4_000, 100, 1_000, 2_500, 9_000])
        sim.after(at, () => {
          sim.note(`the engine is away for ${ms} ms`)
          world.hub.outage(true)
        })
        sim.after(at + ms, () => world.hub.outage(false))
        at += ms + sim.oneOf([5_000, 1_500, 3_000])
      }
      sim.always(() => {
        if (world.over.size > 0) sim.violate('invariant', `K11: ${[...world.over].join()} ended, and there was nothing but outages`)
      })
    },
  },
  {
    name: 'cluster shards',
    about: 'shards that are claimed, handed over and written to through all of that: one writer in each epoch, and none of the past',
    options,
    run: (sim) => shards(sim, true),
  },
]

/** The scenario of shards, with a journal that has its fence or not. */
export function shards(sim: Simulation, fenced: boolean): void {
  const world = stage(sim, false)
  const journal = new SimJournal(world, fenced)
  const regions = new Map<SimNode, SimShards>()
  const start = world.start.bind(world)
  world.start = (name) => {
    const node = start(name)
    regions.set(node, new SimShards(node, journal))
    return node
  }
  for (const name of ['a', 'b', 'c']) world.start(name)
  strikes(sim, world, 8)
  sim.eventually('every shard runs on one node that is up', () => {
    const up = [...regions].filter(([node]) => node.isUp)
    const running = up.flatMap(([, region]) => region.running).toSorted((x, y) => x - y)
    return up.length === 0 || running.join() === Array.from({ length: shardCount }, (_, i) => i).join()
  })
  sim.eventually('something was written', () => journal.appended > 0)
}
