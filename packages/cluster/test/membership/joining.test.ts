// Joining, where the registry or the node itself is slow: on virtual time.

import { afterEach, expect, test } from 'vitest'
import { calm } from '../../src/engines/memory/weather.ts'
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

test('a node whose session others ended while it joined takes another one, and tells of each member once', async () => {
  let ended = 0
  for (let ms = 10; ms <= 200; ms += 10) {
    world = new World(ms)
    world.hub.registryFaults = delayed(10)
    const a = world.start('a')
    await world.advance(2 * lease)
    const b = world.start('b')
    await world.advance(ms)
    b.timing.pause()
    await world.advance(2 * lease)
    ended += world.over.size
    b.timing.resume()
    await world.advance(lease)
    expect(b.failed, `stopped after ${ms} ms`).toBeUndefined()
    // It may have been a member when it was stopped; if it was not it is one now, and has heard of no end.
    if (b.ended === undefined) {
      expect(b.membership!.held, `stopped after ${ms} ms`).toBe(true)
      expect(b.members).toEqual([a.name, b.name])
      expect(b.texts).toEqual([`${a.name} joined`])
    }
  }
  expect(ended).toBeGreaterThan(5)
})

test('a node that reads while it joins that its session has ended takes another one, and was never a member with the first', async () => {
  world = new World(1)
  world.start('a')
  await world.advance(2 * lease)
  world.hub.registryFaults = delayed(10)
  const { store } = world.hub
  const list = store.list.bind(store)
  let first: string | undefined
  store.list = (prefix) => {
    const session = store.read('session.b')
    const member = store.read('member.b')
    // Another node finds no lease and records the end, before the list by which the node that joins learns of the others.
    if (first === undefined && prefix === 'session' && session !== undefined && member !== undefined) {
      first = session.value
      store.update('session.b', first.replace('"ended":false', '"ended":true'), session.revision, undefined)
    }
    return list(prefix)
  }
  const b = world.start('b', { deaf: true })
  await world.advance(lease)
  expect(first).toContain('"ended":false')
  expect([b.failed, b.ended]).toEqual([undefined, undefined])
  expect(b.membership!.held).toBe(true)
  expect(store.read('session.b')!.value).not.toContain(`"number":${JSON.parse(first!).number}`)
})

test('a node does not join where its sessions are ended again and again, and says why', async () => {
  world = new World(1)
  world.start('a')
  await world.advance(2 * lease)
  world.hub.patience = 4 * lease
  const slow = { ...delayed(0.4 * lease) }
  const b = world.start('b')
  world.hub.registryFaults = slow
  const { hub } = world
  const toStore = hub.toStore.bind(hub)
  // Only the way of the node that joins is slow.
  hub.toStore = (node, arrive) => {
    hub.registryFaults = node === 'b' ? slow : calm
    toStore(node, arrive)
  }
  await world.advance(400 * lease)
  expect(b.failed).toBeInstanceOf(RegistryUnavailable)
  expect(String(b.failed)).toContain('its answers took longer than the lease, 10 times')
  expect(hub.store.list('member')).toHaveLength(1)
})

test('a node does not join where one answer alone takes longer than its lease', async () => {
  world = new World(1)
  world.hub.patience = 4 * lease
  world.hub.registryFaults = delayed(0.6 * lease)
  const a = world.start('a')
  await world.advance(60 * lease)
  expect(a.failed).toBeInstanceOf(RegistryUnavailable)
})
