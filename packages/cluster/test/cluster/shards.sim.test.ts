// K1 to K3, K7 to K10 and K12 of sharded actors, under seeds: few and always the same here, more with TROUPE_RUNS.

import { expect, test } from 'vitest'
import { simulateCluster, type SimulatedCluster, type Strike } from '../../src/testing.ts'
import { type CartOptions, Carts, cartTally } from '../sim-actors/carts.ts'

const seeds = Number(process.env['TROUPE_RUNS'] ?? 6)
const span = 20_000
const options = { duration: span, shrinkTrials: 100 }

function stage(world: SimulatedCluster, given: CartOptions, strikes: readonly Strike[]): void {
  const { sim } = world
  const carts = new Carts(world, given)
  for (const name of ['a', 'b', 'c']) world.start(name)
  for (let at = 1_000; at < span; at += sim.oneOf([200, 20, 700])) sim.after(at, () => carts.act())
  if (strikes.length > 0) for (let i = sim.int(1, 6); i > 0; i--) sim.after(sim.int(3, 38) * 500, () => world.strike(strikes))
}

const all: readonly Strike[] = ['pause', 'isolate', 'outage', 'kill', 'leave', 'cut', 'purge', 'step', 'suspend']

test('nodes that leave and come back, one after the other: no message is lost or overtaken', async () => {
  const run = (world: SimulatedCluster): void => stage(world, { persistent: false, lossy: false }, ['leave'])
  await simulateCluster(run, { ...options, name: 'rolling restart', seeds })
  if (process.env['TROUPE_SEED'] !== undefined) return
  expect(cartTally.handled).toBeGreaterThan(seeds * 50)
  expect(cartTally.moved).toBeGreaterThan(seeds)
})

test('nodes that are paused, cut off and killed, and an engine that is away: one activation begins handlers', async () => {
  const run = (world: SimulatedCluster): void => stage(world, { persistent: false, lossy: true }, all)
  await simulateCluster(run, { ...options, name: 'sharded strikes', seeds })
})

test('persistent actors through all of that: one writer in each epoch, none of the past, and nothing acknowledged is lost', async () => {
  const run = (world: SimulatedCluster): void => stage(world, { persistent: true, lossy: true }, all)
  await simulateCluster(run, { ...options, name: 'persistent strikes', seeds })
  if (process.env['TROUPE_SEED'] !== undefined) return
  expect(cartTally.appended).toBeGreaterThan(seeds * 20)
})
