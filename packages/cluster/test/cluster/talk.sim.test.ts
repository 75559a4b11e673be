// K1 to K5 between actors of several systems, under seeds: few and always the same here, more with TROUPE_RUNS.

import { expect, test } from 'vitest'
import { simulateCluster, type SimulatedCluster } from '../../src/testing.ts'
import { Talk, tally } from '../sim-actors/talk.ts'

const seeds = Number(process.env['TROUPE_RUNS'] ?? 8)
const span = 20_000
const options = { duration: span, shrinkTrials: 200 }

function stage(world: SimulatedCluster, strikes: number): void {
  const { sim } = world
  const talk = new Talk(world)
  for (const name of ['a', 'b', 'c']) world.start(name)
  for (let at = 1_000; at < span; at += sim.oneOf([200, 40, 700])) sim.after(at, () => talk.act())
  if (strikes > 0) for (let i = sim.int(1, strikes); i > 0; i--) sim.after(sim.int(3, 38) * 500, () => world.strike())
  sim.after(span + 30_000, () => {
    for (const node of world.up) talk.count(node)
  })
}

test('nodes that talk over a wire that loses, doubles, delays and reorders', async () => {
  const report = await simulateCluster((world) => stage(world, 0), { ...options, name: 'cluster talk', seeds })
  if (process.env['TROUPE_SEED'] !== undefined) return
  expect(report.distinct).toBe(seeds)
  expect(tally.notes).toBeGreaterThan(seeds * 50)
  expect(tally.ledgers).toBeGreaterThan(seeds)
  expect(tally.passedOn).toBeGreaterThan(seeds / 2)
})

test('nodes that are paused, cut off, killed, that leave and come back, and an engine that is away, while they talk', async () => {
  await simulateCluster((world) => stage(world, 6), { ...options, name: 'cluster strikes', seeds })
  if (process.env['TROUPE_SEED'] !== undefined) return
  expect(tally.lost).toBeGreaterThan(0)
  expect(tally.terminated).toBeGreaterThan(0)
  expect(tally.unknown).toBeGreaterThan(0)
})
