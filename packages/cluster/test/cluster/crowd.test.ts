// Many nodes, and many shards: what joining takes of the registry when all do it at once, and what it takes of it when nothing happens.

import { type Behavior, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import type { MemoryHub } from '../../src/engines/memory/hub.ts'
import { onStage, type Stage } from './stage.ts'

const echo = (): Behavior<{ readonly n: number }> => receive(() => same)
const lease = 5_000

/** Counts what is asked of the registry, as a server sees it: a list is one question, and an answer for each key. */
function countQuestions({ store }: MemoryHub): { reads: number; lists: number; all: number } {
  const count = { reads: 0, lists: 0, all: 0 }
  const { read, list, create, update, remove, fingerprint } = {
    read: store.read.bind(store),
    list: store.list.bind(store),
    create: store.create.bind(store),
    update: store.update.bind(store),
    remove: store.remove.bind(store),
    fingerprint: store.fingerprint.bind(store),
  }
  const one = <A extends readonly unknown[], R>(ask: (...rest: A) => R): ((...rest: A) => R) => {
    return (...rest) => {
      count.all++
      return ask(...rest)
    }
  }
  Object.assign(store, {
    create: one(create),
    update: one(update),
    remove: one(remove),
    fingerprint: one(fingerprint),
    read: one((key: string) => {
      count.reads++
      return read(key)
    }),
    list: one((prefix: string) => {
      // A list is no read of each key here, as on a server.
      const { reads, all } = count
      const entries = list(prefix)
      Object.assign(count, { reads, all })
      count.lists++
      count.all += entries.length
      return entries
    }),
  })
  return count
}

async function kindOnAll(stage: Stage, names: readonly string[], shards: number): Promise<readonly Sharded<{ readonly n: number }>[]> {
  const nodes = await stage.nodes(...names)
  const kinds = nodes.map((node) => node.cluster!.sharded('cart', echo, { shards }))
  const active = (): number => kinds.reduce((sum, kind) => sum + kind.active.length, 0)
  await stage.until('all run, on all nodes', () => active() === shards && kinds.every((kind) => kind.active.length > 0), 30_000)
  return kinds
}

test('what a node asks of the registry while nothing happens does not grow with the number of shards', async () => {
  const perNode: number[] = []
  for (const shards of [128, 1_024])
    await onStage(
      async (stage) => {
        await kindOnAll(stage, ['a', 'b', 'c'], shards)
        // What was written while they started is listed once more by each.
        await stage.wait(4 * lease)
        const count = countQuestions(stage.world.hub)
        await stage.wait(20 * lease)
        perNode.push(count.all / 3)
      },
      { lease, maxSteps: 20_000_000 },
    )
  const [few, many] = perNode as [number, number]
  expect(few).toBeGreaterThan(0)
  expect(many / few).toBeLessThanOrEqual(1.2)
})

test('what no hint has told of is found within a lease and a third', () =>
  onStage(
    async (stage) => {
      for (const prefix of ['own.', 'host.']) stage.deafen('c', prefix)
      const names = ['a', 'b', 'c']
      const kinds = await kindOnAll(stage, names, 64)
      const ids = Array.from({ length: 64 }, (_, i) => `id-${i}`)
      const ownersOn = (kind: Pick<Sharded<unknown>, 'ownerOf'>): (string | undefined)[] => ids.map((id) => kind.ownerOf(id))
      await stage.wait(4 * lease)
      const d = stage.world.start('d')
      await stage.until('d has joined', () => d.isUp)
      const fourth = d.cluster!.sharded('cart', echo, { shards: 64 })
      await stage.until('d has some', () => fourth.active.length > 0)
      await stage.wait((4 * lease) / 3 + 200)
      expect(ownersOn(kinds[2]!)).toEqual(ownersOn(fourth))
    },
    { lease },
  ))

test('16 nodes that join at once own 1,024 shards within 30 s, and no session is lost', () =>
  onStage(
    async (stage) => {
      const { world } = stage
      const names = Array.from({ length: 16 }, (_, i) => `n${i}`)
      const count = countQuestions(world.hub)
      const kinds: Sharded<{ readonly n: number }>[] = []
      world.onJoin = (node) => void kinds.push(node.cluster!.sharded('cart', echo, { shards: 1_024 }))
      const since = world.sim.now
      for (const name of names) world.start(name)
      await stage.until('all have joined', () => world.up.length === names.length, 3 * lease)
      const active = (): number => kinds.reduce((sum, kind) => sum + kind.active.length, 0)
      const isSpread = (): boolean => active() === 1_024 && kinds.every((kind) => kind.active.length > 0)
      await stage.until('all shards run, on all nodes', isSpread, 30_000)
      expect(world.sim.now - since).toBeLessThanOrEqual(30_000)
      expect(world.up.every(({ cluster }) => cluster!.members.length === names.length)).toBe(true)
      // Each reads keys of its own and of the kind, and lists the others.
      expect(count.reads / names.length).toBeLessThan(20)
      await stage.wait(lease / 2)
      expect(isSpread()).toBe(true)
      expect(world.up).toHaveLength(names.length)
    },
    { lease, maxSteps: 50_000_000 },
  ))
