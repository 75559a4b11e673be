// Membership, promise by promise, on virtual time.

import { afterEach, expect, test } from 'vitest'
import { calm } from '../../src/engines/memory/weather.ts'
import { NodeNameTaken, SessionEnded, VersionsApart } from '../../src/values/errors.ts'
import { LeaseClock } from '../../src/membership/lease-clock.ts'
import { lease, World } from './world.ts'

let world: World
afterEach(() => {
  if (world.wrong.length > 0) throw new Error(world.wrong.join('; '))
})

async function cluster(...nodes: readonly string[]): Promise<World> {
  world = new World(1)
  for (const node of nodes) world.start(node)
  await world.advance(100)
  return world
}

test('everybody sees everybody, each joined once', async () => {
  const { lives } = await cluster('a', 'b', 'c')
  for (const life of lives) {
    expect(life.members).toEqual(lives.map((one) => one.name))
    expect(life.texts.toSorted()).toEqual(lives.filter((one) => one !== life).map((one) => `${one.name} joined`))
    expect(life.membership!.held).toBe(true)
  }
  await world.advance(10 * lease)
  expect(lives.every((life) => life.membership!.held && life.texts.length === 2)).toBe(true)
})

test.each([false, true])('K4: the end of a node that was killed is told to all within a lease and 2 s, once; without any hint: %s', async (deaf) => {
  for (let seed = 1; seed <= 20; seed++) {
    world = new World(seed)
    for (const node of ['a', 'b', 'c']) world.start(node, { deaf })
    await world.advance(2 * lease + world.random() * lease)
    const [a, b, c] = world.lives
    const at = world.timing.now()
    c!.kill()
    await world.advance(lease + 2_000)
    for (const life of [a!, b!]) {
      const ends = life.events.filter((event) => event.text === `${c!.name} ended`)
      expect(ends, `seed ${seed}`).toHaveLength(1)
      expect(ends[0]!.at - at).toBeLessThanOrEqual(lease + 2_000)
      expect(life.members).toEqual([a!.name, b!.name])
    }
    await world.advance(5 * lease)
    expect(a!.texts.filter((text) => text.endsWith('ended'))).toHaveLength(1)
  }
})

test.each([false, true])(
  'lease keys that vanish early end no session: each is put back within a third of the lease; without any hint: %s',
  async (deaf) => {
    for (let seed = 1; seed <= 20; seed++) {
      world = new World(seed)
      for (const node of ['a', 'b', 'c']) world.start(node, { deaf })
      await world.advance(2 * lease + world.random() * lease)
      const { store } = world.hub
      for (let times = 0; times < 6; times++) {
        // Purged, by an operator or by a replica that never had them; or the clock of the server was stepped.
        if (times % 2 === 0) store.purge(['member.a', 'member.b', 'member.c'].slice(times / 2))
        else store.stepClock(2 * lease)
        await world.advance(lease / 3 + 100)
        expect(store.list('member'), `seed ${seed}`).toHaveLength(3)
        await world.advance(world.random() * lease)
      }
      await world.advance(3 * lease)
      for (const life of world.lives) {
        expect(life.texts.filter((text) => text.endsWith('ended'))).toEqual([])
        expect([life.ended, life.membership!.held]).toEqual([undefined, true])
      }
    }
  },
)

test('a node that dies with its lease key gone early is ended a lease after the key was gone', async () => {
  await cluster('a', 'b')
  await world.advance(2 * lease)
  const [a, b] = world.lives
  world.hub.store.purge(['member.b'])
  const at = world.timing.now()
  b!.kill()
  await world.advance(lease / 2)
  expect(a!.members).toEqual([a!.name, b!.name])
  await world.advance(lease / 2 + 100)
  expect(a!.members).toEqual([a!.name])
  expect(a!.events.at(-1)!.at - at).toBeLessThanOrEqual(lease + 100)
})

test('K4: who joins after a node was killed hears of it only if it saw it, and never waits for it longer than that', async () => {
  await cluster('a', 'b')
  await world.advance(2 * lease)
  world.lives[1]!.kill()
  await world.advance(100)
  const c = world.start('c')
  await world.advance(lease + 2_000)
  expect(c.failed).toBeUndefined()
  expect(c.members).toEqual([world.lives[0]!.name, c.name])
  expect(c.texts).toEqual([`${world.lives[0]!.name} joined`, `${world.lives[1]!.name} joined`, `${world.lives[1]!.name} ended`])
})

test('leaving is told at once, and the name is free at once, with a greater number', async () => {
  const { lives } = await cluster('a', 'b')
  const first = lives[1]!.name
  lives[1]!.leave()
  await world.advance(100)
  expect(lives[0]!.texts).toContain(`${first} ended`)
  expect(lives[1]!.membership!.held).toBe(false)
  const again = world.start('b')
  await world.advance(100)
  expect(again.membership!.self.session.number).toBeGreaterThan(lives[1]!.membership!.self.session.number)
  expect(lives[0]!.members).toEqual([lives[0]!.name, again.name])
})

test('whether a session has ended is asked of the registry, not of what a node has heard', async () => {
  world = new World(1)
  const deaf = world.start('a', { deaf: true })
  await world.advance(100)
  const b = world.start('b')
  await world.advance(100)
  const asked = async (session: { node: string; number: number }): Promise<boolean> => {
    let answer: boolean | undefined
    void deaf.membership!.hasEnded(session).then((ended) => (answer = ended))
    await world.advance(50)
    return answer!
  }
  expect(deaf.members).toEqual([deaf.name])
  const { session } = b.membership!.self
  expect(await asked(session)).toBe(false)
  expect(await asked({ node: 'b', number: session.number - 1 })).toBe(true)
  expect(await asked({ node: 'never', number: 1 })).toBe(true)
  b.leave()
  await world.advance(50)
  expect(await asked(session)).toBe(true)
})

test('a name is refused while its node lives, and given after a lease where it was killed', async () => {
  const { lives } = await cluster('a', 'b')
  const twin = world.start('b')
  await world.advance(lease)
  expect(twin.failed).toBeInstanceOf(NodeNameTaken)
  expect(String(twin.failed)).toContain(`${lives[1]!.name} lives under that name`)
  expect(lives[1]!.membership!.held).toBe(true)
  lives[1]!.kill()
  const heir = world.start('b')
  await world.advance(lease + 3_000)
  expect(heir.failed).toBeUndefined()
  expect(lives[0]!.members).toEqual([lives[0]!.name, heir.name])
  expect(lives[0]!.texts.filter((text) => text === `${lives[1]!.name} ended`)).toHaveLength(1)
})

test('of two that want one name at once one gets it', async () => {
  world = new World(3)
  world.hub.registryFaults = { drop: 0, double: 0, delay: [1, 30], late: 0, latest: 0 }
  const twins = [world.start('a'), world.start('a')]
  await world.advance(2 * lease)
  expect(twins.filter((life) => life.membership !== undefined)).toHaveLength(1)
  expect(twins.filter((life) => life.failed instanceof NodeNameTaken)).toHaveLength(1)
})

test.each([1_000, 4_000, 5_000, 8_000, 60_000, 3_600_000])(
  'K11: an outage of %d ms ends no session; all act again within moments of its end',
  async (ms) => {
    const { lives } = await cluster('a', 'b', 'c')
    await world.advance(2 * lease)
    const names = lives.map((life) => life.name)
    world.hub.outage(true)
    await world.timing.advance(ms)
    if (ms > lease) expect(lives.some((life) => life.membership!.held)).toBe(false)
    world.hub.outage(false)
    await world.advance(lease / 2 + 2_500)
    expect(lives.map((life) => [life.membership!.held, life.ended])).toEqual(lives.map(() => [true, undefined]))
    await world.advance(4 * lease)
    for (const life of lives) {
      expect(life.members).toEqual(names)
      expect(life.texts.filter((text) => text.endsWith('ended'))).toEqual([])
    }
  },
)

test('K11: who comes back within a lease of the end of an outage has not ended, who does not has', async () => {
  const { lives } = await cluster('a', 'b', 'c')
  await world.advance(2 * lease)
  const [a, b, c] = lives
  world.hub.outage(true)
  await world.advance(2 * lease)
  b!.timing.pause()
  c!.timing.pause()
  world.hub.outage(false)
  await world.advance(0.8 * lease)
  b!.timing.resume()
  await world.advance(3 * lease)
  expect(a!.members).toEqual([a!.name, b!.name])
  c!.timing.resume()
  await world.advance(lease)
  expect(c!.ended).toBeInstanceOf(SessionEnded)
  expect([b!.ended, b!.membership!.held]).toEqual([undefined, true])
})

test('K10: a node that is cut off stops acting before its lease is over; it resumes, or its session has ended', async () => {
  const { lives } = await cluster('a', 'b', 'c')
  await world.advance(2 * lease)
  const [a, b, c] = lives
  world.hub.isolate('c', true)
  await world.advance(lease)
  expect(c!.membership!.held).toBe(false)
  expect([a!.membership!.held, b!.membership!.held]).toEqual([true, true])
  world.hub.isolate('c', false)
  await world.advance(lease)
  // Its lease was gone by then, and the others were steady: they have recorded its end.
  expect(c!.ended).toBeInstanceOf(SessionEnded)
  expect(a!.members).toEqual([a!.name, b!.name])

  world.hub.isolate('b', true)
  await world.advance(lease / 2)
  world.hub.isolate('b', false)
  await world.advance(lease)
  expect([b!.ended, b!.membership!.held]).toEqual([undefined, true])
  expect(a!.texts).not.toContain(`${b!.name} ended`)
})

test('a node that was paused does not act until its lease has been renewed', async () => {
  const { lives } = await cluster('a')
  await world.advance(2 * lease)
  lives[0]!.timing.pause()
  await world.advance(lease)
  lives[0]!.timing.resume()
  expect(lives[0]!.membership!.held).toBe(false)
  await world.advance(100)
  // Nobody else was there to record its end.
  expect([lives[0]!.membership!.held, lives[0]!.ended]).toEqual([true, undefined])
})

test.each([4_700, 9_000, 60_000])('K8: a node whose machine was suspended for %d ms does not act until its lease has been renewed', async (ms) => {
  for (let seed = 1; seed <= 20; seed++) {
    world = new World(seed)
    for (const node of ['a', 'b']) world.start(node)
    await world.advance(2 * lease + world.random() * lease)
    const [a, b] = world.lives
    const frozen = b!.timing.now()
    b!.timing.suspend()
    await world.advance(ms)
    // Its monotonic clock knows nothing of it; its lease does.
    expect(b!.timing.now()).toBe(frozen)
    b!.timing.resume()
    expect([b!.membership!.held, b!.membership!.heldFor]).toEqual([false, 0])
    await world.advance(lease / 2)
    const ended = world.over.has(b!.name)
    expect([b!.membership!.held, b!.ended instanceof SessionEnded]).toEqual([!ended, ended])
    // Within a lease it may come back in time.
    if (ms > lease) expect(ended).toBe(true)
    expect(a!.membership!.held).toBe(true)
  }
})

test('a node that only has a wall clock beside the monotonic one loses its lease until the next renewal by a step forward, and nothing by one back', async () => {
  world = new World(1)
  let stepped = 0
  const clocks = { monotonic: () => world.timing.now(), wall: () => 1e12 + world.timing.now() + stepped, boot: undefined, bootResolutionMs: 0 }
  const clock = new LeaseClock(clocks).now
  world.start('a')
  const b = world.start('b', { clock })
  await world.advance(2 * lease)
  stepped += 3_600_000
  expect(b.membership!.held).toBe(false)
  await world.advance(lease / 3 + 100)
  expect(b.membership!.held).toBe(true)
  stepped -= 7_200_000
  expect(b.membership!.held).toBe(true)
  for (let times = 0; times < 20; times++) {
    stepped += (world.random() - 0.5) * 40_000
    await world.advance(world.random() * lease)
  }
  await world.advance(3 * lease)
  for (const life of world.lives) {
    expect([life.ended, life.membership!.held]).toEqual([undefined, true])
    expect(life.texts.filter((text) => text.endsWith('ended'))).toEqual([])
  }
})

test('a renewal whose answer was lost counts from when it was sent', async () => {
  const { lives } = await cluster('a')
  await world.advance(lease)
  const { registry } = lives[0]!.connection
  const update = registry.update.bind(registry)
  let lost = 0
  registry.update = async (...args) => {
    const revision = await update(...args)
    if (++lost > 1) return revision
    throw new (await import('../../src/values/errors.ts')).RegistryUnavailable('update', 'the answer was lost')
  }
  await world.advance(6 * lease)
  expect(lost).toBeGreaterThan(10)
  expect([lives[0]!.membership!.held, lives[0]!.ended, lives[0]!.troubles]).toEqual([true, undefined, ['The lease could not be renewed']])
})

test.each([
  ['a', 'b'],
  // So many that they are listed.
  ['a', 'b', 'c', 'd', 'e', 'f'],
])('who comes back while another is about to record its end has not ended: the other finds another revision (%s, %s)', async (...names) => {
  const { lives } = await cluster(...names)
  await world.advance(2 * lease)
  const [a, b] = lives
  const { registry } = a!.connection
  const update = registry.update.bind(registry)
  const gate: (() => void)[] = []
  registry.update = async (key, ...rest) => {
    if (key === 'session.b') await new Promise<void>((resolve) => gate.push(resolve))
    return update(key, ...rest)
  }
  for (const { timing } of lives.slice(1)) timing.pause()
  await world.advance(lease + 100)
  // Its lease was found gone, and the write that records its end is on its way.
  expect(gate).toHaveLength(1)
  for (const { timing } of lives.slice(1)) timing.resume()
  await world.advance(200)
  expect(b!.membership!.held).toBe(true)
  gate[0]!()
  await world.advance(2 * lease)
  expect([b!.ended, b!.membership!.held, a!.texts.filter((text) => text.startsWith('b#'))]).toEqual([undefined, true, [`${b!.name} joined`]])
})

test('a lease is trusted from when its renewal was sent, however late the answer is', async () => {
  const { lives } = await cluster('a', 'b')
  await world.advance(2 * lease)
  const b = lives[1]!
  const { registry } = b.connection
  const update = registry.update.bind(registry)
  const answers: unknown[] = []
  registry.update = async (...args) => {
    const revision = await update(...args)
    await new Promise<void>((resolve) => void b.timing.timer(1_800, resolve))
    answers.push(revision)
    return revision
  }
  while (answers.length < 3) await world.advance(50)
  world.hub.isolate('b', true)
  await world.advance(2 * lease)
  // That it did not act when its end was recorded is checked after every test.
  expect(lives[0]!.texts).toContain(`${b.name} ended`)
})

test('a node that took long to join renews its lease as long after it was taken as ever', async () => {
  const { lives } = await cluster('a')
  await world.advance(2 * lease)
  const oneWay = lease / 8
  world.hub.registryFaults = { drop: 0, double: 0, delay: [oneWay, oneWay], late: 0, latest: 0 }
  const b = world.start('b')
  while (b.membership === undefined && b.failed === undefined) await world.advance(50)
  world.hub.registryFaults = calm
  for (let i = 0; i < 40; i++) {
    expect(b.membership?.held).toBe(true)
    await world.advance(50)
  }
  expect([lives[0]!.members.includes(b.name), b.ended]).toEqual([true, undefined])
})

test.each([0.1, 0.2])('a registry whose answers take %d of a lease is slow, and nobody ends for it', async (share) => {
  world = new World(1)
  const oneWay = (share * lease) / 2
  world.hub.registryFaults = { drop: 0, double: 0, delay: [oneWay, oneWay], late: 0, latest: 0 }
  for (const node of ['a', 'b']) world.start(node)
  await world.advance(3 * lease)
  const { lives } = world
  for (let i = 0; i < 40; i++) {
    await world.advance(lease / 4)
    expect(lives.map((life) => [life.failed, life.membership?.held])).toEqual([
      [undefined, true],
      [undefined, true],
    ])
  }
  expect(lives.flatMap((life) => life.texts).filter((text) => text.endsWith('ended'))).toEqual([])
})

test('one request that is lost costs no more than a sixth of the lease', async () => {
  const { lives } = await cluster('a')
  await world.advance(lease)
  world.hub.patience = 60_000
  const { registry } = lives[0]!.connection
  const update = registry.update.bind(registry)
  let asked = 0
  // Every other request goes nowhere.
  registry.update = (...args) => (++asked % 2 === 0 ? new Promise(() => {}) : update(...args))
  for (let i = 0; i < 40; i++) {
    await world.advance(lease / 4)
    expect(lives[0]!.membership!.held).toBe(true)
  }
})

test('a key that came back by a write of the past is not taken for a lease without a word to the others', async () => {
  const { lives } = await cluster('a')
  await world.advance(lease)
  const { store } = world.hub
  const there = store.read('member.a')!
  const returns = (): number => (JSON.parse(store.read('session.a')!.value) as { returns: number }).returns
  expect(returns()).toBe(1)
  store.remove('member.a', there.revision)
  store.create('member.a', there.value, lease)
  await world.advance(lease)
  expect([returns(), lives[0]!.membership!.held]).toEqual([2, true])
})

test('K13: who shares no version of the wire with a member is refused with both named, and leaves nothing behind', async () => {
  const { lives } = await cluster('a')
  const neighbour = world.start('b', { wire: { oldest: 1, newest: 2 } })
  const far = world.start('c', { wire: { oldest: 2, newest: 3 } })
  await world.advance(200)
  expect(neighbour.failed).toBeUndefined()
  expect(far.failed).toBeInstanceOf(VersionsApart)
  expect(String(far.failed)).toContain(`this node speaks wire version 2 to 3, ${lives[0]!.name} speaks 1`)
  await world.advance(lease)
  expect(lives[0]!.members).toEqual([lives[0]!.name, neighbour.name])
  expect(world.hub.store.list('member').map((entry) => entry.key)).toEqual(['member.a', 'member.b'])
})

test('nodes without a common version of the wire refuse each other by name, also where one cannot read the record of the other', async () => {
  world = new World(1)
  // What a later release may write: its versions where they are now, and all else elsewhere.
  world.hub.store.create('session.z', JSON.stringify({ number: 7, ended: false, returns: 0, token: 'x' }), undefined)
  world.hub.store.create('member.z', JSON.stringify({ number: 7, wire: { oldest: 3, newest: 4 }, more: {} }), undefined)
  const far = world.start('c')
  await world.advance(200)
  expect(far.failed).toBeInstanceOf(VersionsApart)
  expect(String(far.failed)).toContain('Cannot join shop as c: this node speaks wire version 1, z#7 speaks 3 to 4')
})

test('what somebody else wrote into its keys is written over or ignored', async () => {
  world = new World(1)
  world.hub.store.create('member.a', 'nonsense', undefined)
  world.hub.store.create('session.x', '{', undefined)
  world.hub.store.create('member.y', '{}', undefined)
  const a = world.start('a')
  await world.advance(2 * lease)
  expect([a.failed, a.members, a.membership!.held]).toEqual([undefined, [a.name], true])
})

test('K15: after many joins and leaves nothing is left but notes of ends, and those vanish in a day', async () => {
  await cluster('a')
  const timers = world.timing.pending
  // TROUPE_RUNS=10000 for as many.
  const lives = Number(process.env['TROUPE_RUNS'] ?? 200)
  for (let i = 0; i < lives; i++) {
    const life = world.start(`n${i % 50}`)
    await world.timing.advance(20)
    life.leave()
    await world.timing.advance(20)
    await life.connection.close()
  }
  expect(world.lives[0]!.members).toEqual([world.lives[0]!.name])
  expect(world.hub.store.list('member')).toHaveLength(1)
  expect(world.hub.store.size).toBe(52)
  world.lives[0]!.leave()
  await world.timing.advance(100)
  await world.lives[0]!.connection.close()
  expect(world.hub.idle).toBe(true)
  expect(world.timing.pending).toBeLessThanOrEqual(timers + 51)
  await world.timing.advance(86_400_000)
  expect([world.hub.store.size, world.timing.pending]).toEqual([0, 0])
})

test('where hints of many nodes are missing, they are listed and not read one by one, and none of them ends', async () => {
  world = new World(1)
  const count = 20
  const lives = Array.from({ length: count }, (_, i) => world.start(`n${i}`, { deaf: true }))
  await world.advance(2 * lease)
  expect(lives.every(({ members }) => members.length === count)).toBe(true)
  const { store } = world.hub
  const read = store.read.bind(store)
  let reads = 0
  store.read = (key) => {
    reads++
    return read(key)
  }
  const list = store.list.bind(store)
  // A list is no read of each key here, as on a server.
  store.list = (prefix) => {
    const before = reads
    const entries = list(prefix)
    reads = before
    return entries
  }
  await world.advance(4 * lease)
  expect(reads).toBe(0)
  expect(lives.every(({ members, ended }) => members.length === count && ended === undefined)).toBe(true)
  // A node that dies is found by the lists as well.
  lives[0]!.kill()
  await world.advance(lease + 3_000)
  expect(lives.slice(1).every(({ members }) => members.length === count - 1)).toBe(true)
  expect(world.wrong).toEqual([])
})

test('50 nodes that join at once are members within three leases, know each other, and none of them ends', async () => {
  world = new World(1)
  const count = 50
  const { store } = world.hub
  let reads = 0
  const [read, list] = [store.read.bind(store), store.list.bind(store)]
  store.read = (key) => {
    reads++
    return read(key)
  }
  store.list = (prefix) => {
    const before = reads
    const entries = list(prefix)
    reads = before
    return entries
  }
  world.hub.registryFaults = { drop: 0, double: 0, delay: [5, 40], late: 0, latest: 0 }
  const lives = Array.from({ length: count }, (_, i) => world.start(`n${i}`))
  await world.advance(3 * lease)
  expect(lives.every(({ members }) => members.length === count)).toBe(true)
  expect(lives.every(({ ended }) => ended === undefined)).toBe(true)
  // Each reads its own keys, and lists the others: one by one they would be a hundred.
  expect(reads / count).toBeLessThan(20)
})
