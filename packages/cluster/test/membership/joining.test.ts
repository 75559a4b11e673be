// Joining, where the registry or the node itself is slow: on virtual time.

import { afterEach, expect, test } from 'vitest'
import { RegistryUnavailable } from '../../src/values/errors.ts'
import { lease, World } from './world.ts'

let world: World
afterEach(() => {
  if (world.wrong.length > 0) throw new Error(world.wrong.join('; '))
})

const delayed = (ms: number): World['hub']['registryFaults'] => ({ drop: 0, double: 0, delay: [ms, ms], late: 0, latest: 0 })

test('a node joins though all the answers that it needs together take longer than its lease', async () => {
  world = new World(1)
  // Four questions to take the lease, each there and back.
  world.hub.registryFaults = delayed(0.15 * lease)
  const a = world.start('a')
  await world.advance(4 * lease)
  expect(a.failed).toBeUndefined()
  expect(a.membership!.held).toBe(true)
})

test('a node that stands still for longer than its lease while it joins joins when it goes on', async () => {
  for (let ms = 10; ms <= 200; ms += 10) {
    world = new World(ms)
    world.hub.registryFaults = delayed(10)
    const a = world.start('a')
    await world.advance(ms)
    a.timing.pause()
    await world.advance(1.5 * lease)
    a.timing.resume()
    await world.advance(lease)
    expect(a.failed, `stopped after ${ms} ms`).toBeUndefined()
    expect(a.membership!.held, `stopped after ${ms} ms`).toBe(true)
  }
})

test('a node does not join where one answer alone takes longer than its lease', async () => {
  world = new World(1)
  world.hub.patience = 4 * lease
  world.hub.registryFaults = delayed(0.6 * lease)
  const a = world.start('a')
  await world.advance(60 * lease)
  expect(a.failed).toBeInstanceOf(RegistryUnavailable)
})
