// Nodes that leave and come back one after the other, with many shards and an engine that is some way off: how long that takes on virtual time, and
// that no client notices it.

import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import type { Sharded, ShardedOptions } from '../../src/index.ts'
import { ownKey, readOwnership } from '../../src/sharding/ownership.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

interface Note {
  readonly n: number
  readonly replyTo: ActorRef<number>
}

const shards = 1_024
const echo = (): Behavior<Note> =>
  receive<Note>((_ctx, { n, replyTo }) => {
    replyTo.tell(n)
    return same
  })

/** From now on every question to the engine and to another node takes that long, there and back. */
function roundTrip({ world: { hub } }: Stage, ms: number): void {
  const delay = [ms / 2, ms / 2] as const
  hub.registryFaults = { drop: 0, double: 0, delay, late: 0, latest: 0 }
  hub.wireFaults = { drop: 0, double: 0, delay, late: 0, latest: 0 }
}

const hostOn = (node: SimulatedNode, options: ShardedOptions<Note> = {}): Sharded<Note> =>
  node.cluster!.sharded<Note>('cart', echo, { shards, ...options })

const active = (kinds: readonly Sharded<Note>[]): number => kinds.reduce((sum, kind) => sum + kind.active.length, 0)

/** A cluster in which node a has all shards, and b, which has only just joined, none that it keeps. */
async function allOnOne(stage: Stage): Promise<readonly SimulatedNode[]> {
  const nodes = await stage.nodes('a', 'b', 'c')
  const first = hostOn(nodes[0]!)
  await stage.until('all run on a', () => first.active.length === shards)
  return nodes
}

for (const [ms, most] of [
  [20, 3_000],
  [40, 6_000],
] as const) {
  test(`K12: a node with 1,024 shards leaves within ${most} ms where a round trip takes ${ms} ms`, () =>
    onStage(
      async (stage) => {
        const { sim } = stage.world
        const [a, b, c] = await allOnOne(stage)
        // They host the kind from the moment at which a leaves on: all of its shards move.
        const others = [b!, c!].map((node) => hostOn(node, {}))
        roundTrip(stage, ms)
        const since = sim.now
        a!.leave()
        await stage.until('a has left', () => a!.state === 'left')
        const took = sim.now - since
        await stage.until('the others have all', () => active(others) === shards)
        expect(took).toBeLessThanOrEqual(most)
      },
      { lease: 5_000, maxSteps: 20_000_000 },
    ))

  test(`K12: a node that joins gets its half of 1,024 shards within ${most} ms where a round trip takes ${ms} ms`, () =>
    onStage(
      async (stage) => {
        const { sim } = stage.world
        const [, b] = await allOnOne(stage)
        roundTrip(stage, ms)
        const since = sim.now
        const joined = hostOn(b!)
        let before = 0
        await stage.until('b has its share', () => {
          const now = joined.active.length
          const isDone = now > 0.4 * shards && now === before
          before = now
          return isDone
        })
        expect(sim.now - since).toBeLessThanOrEqual(most)
      },
      { lease: 5_000, maxSteps: 20_000_000 },
    ))
}

test('what the shards of a batch have in common is read once', () =>
  onStage(
    async (stage) => {
      const { store } = stage.world.hub
      const [a, b] = await allOnOne(stage)
      let reads = 0
      const read = store.read.bind(store)
      store.read = (key) => {
        if (key.startsWith('host.')) reads++
        return read(key)
      }
      const other = hostOn(b!)
      roundTrip(stage, 20)
      a!.leave()
      await stage.until('b has all', () => other.active.length === shards)
      // 16 batches; some may be halves, and a list reads both keys.
      expect(reads).toBeLessThan(100)
    },
    { maxSteps: 20_000_000 },
  ))

test('K12: at most so many shards are handed over at a time as the option says, and all of them are', () =>
  onStage(async (stage) => {
    const { hub } = stage.world
    const few = { shards: 64, concurrentHandOvers: 3 }
    const [a, b] = await stage.nodes('a', 'b')
    const first = hostOn(a!, few)
    await stage.until('all run on a', () => first.active.length === few.shards)
    roundTrip(stage, 40)
    const write = hub.store.update.bind(hub.store)
    const written: number[] = []
    hub.store.update = (key, value, expected, ttl) => {
      if (key.startsWith('own.')) written.push(stage.world.sim.now)
      return write(key, value, expected, ttl)
    }
    const second = hostOn(b!, few)
    a!.leave()
    await stage.until('b has all', () => second.active.length === few.shards)
    // Each takes three round trips and more: within one of them no more than so many writes can have been done.
    for (const at of written) expect(written.filter((other) => other >= at && other < at + 40).length).toBeLessThanOrEqual(3)
    expect(written).toHaveLength(few.shards)
  }))

test('the number of shards that are handed over at a time is checked', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    for (const wrong of [0, -1, 1.5, '4', Number.NaN])
      expect(() => hostOn(a!, { concurrentHandOvers: wrong as number })).toThrow(/concurrentHandOvers/)
  }))

test('K12: a shard of a batch that does not come to rest keeps no other from moving', () =>
  onStage(async (stage) => {
    const { world } = stage
    const [a, b] = await stage.nodes('a', 'b')
    const few = 16
    let rest = (): void => {}
    const rested = new Promise<void>((resolve) => (rest = resolve))
    const slow = (): Behavior<Note> => receive<Note>((_ctx, { n }) => (n === 0 ? rested.then(() => same) : same))
    const kindOn = (node: SimulatedNode): Sharded<Note> => node.cluster!.sharded<Note>('cart', slow, { shards: few, stopTimeout: 60_000 })
    const first = kindOn(a!)
    await stage.until('all run on a', () => first.active.length === few)
    first.ref('x').tell({ n: 0 } as Note)
    await stage.wait(100)
    const second = kindOn(b!)
    a!.leave()
    await stage.until('b has all others', () => second.active.length === few - 1)
    await stage.wait(5_000)
    expect(second.active).toHaveLength(few - 1)
    rest()
    await stage.until('and the last one', () => second.active.length === few)
    const owners = Array.from({ length: few }, (_, shard) => readOwnership(world.hub.store.read(ownKey('cart', shard))!.value)!.session.node)
    expect(new Set(owners)).toEqual(new Set(['b']))
  }))

test('K12: while nodes leave and come back, one after the other, no ask fails', () =>
  onStage(
    async (stage) => {
      const { world } = stage
      roundTrip(stage, 20)
      world.onJoin = (node) => {
        if (node.node !== 'client') hostOn(node)
      }
      const nodes = await stage.nodes('a', 'b', 'c', 'client')
      const client = nodes[3]!
      const kind = hostOn(client, { role: 'none' })
      await stage.until('all have an owner', () =>
        Array.from({ length: 64 }, (_, i) => kind.ownerOf(`id-${i}`)).every((owner) => owner !== undefined),
      )
      const failed: unknown[] = []
      let asked = 0
      let answered = 0
      const load = { over: false }
      const drive = async (id: string): Promise<void> => {
        for (let n = 1; !load.over; n++) {
          asked++
          try {
            const answer = await kind.ref(id).ask({ n }, { timeout: 20_000 })
            if (answer !== n) failed.push(`${id}: ${answer} instead of ${n}`)
            answered++
          } catch (cause) {
            failed.push(cause)
          }
          await stage.wait(50)
        }
      }
      const clients = Array.from({ length: 64 }, (_, i) => drive(`id-${i}`))
      for (const name of ['a', 'b', 'c']) {
        const leaver = world.up.find((node) => node.node === name)!
        leaver.leave()
        await stage.until(`${name} has left`, () => leaver.state === 'left')
        const back = world.start(name)
        await stage.until(`${name} is back`, () => back.isUp)
        await stage.until(`${name} has shards again`, () => (back.cluster!.report().kinds[0]?.active ?? 0) > 100)
      }
      load.over = true
      await Promise.all(clients)
      expect(failed).toEqual([])
      expect(answered).toBe(asked)
      expect(asked).toBeGreaterThan(1_000)
    },
    { lease: 5_000, maxSteps: 20_000_000 },
  ))
