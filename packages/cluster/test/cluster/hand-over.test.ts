// Hand-overs that are disturbed at one of their stages: while the fence is being raised, while actors end, while the next owner is being named.

import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { eventSourced, type Kind, memory as memoryJournal, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import { hostKey } from '../../src/sharding/hosts.ts'
import { ownKey, readOwnership } from '../../src/sharding/ownership.ts'
import { shardOf } from '../../src/sharding/desired.ts'
import type { SimulatedCluster } from '../../src/testing.ts'
import { slowFence } from './slow-fence.ts'
import { onStage } from './stage.ts'

type Cart = { readonly type: 'add'; readonly n: number } | { readonly type: 'get'; readonly replyTo: ActorRef<number> }

const shards = 8
const ids = Array.from({ length: 12 }, (_, i) => `id-${i}`)

const ownerIn = ({ hub }: SimulatedCluster, id: string): string | undefined => {
  const entry = hub.store.read(ownKey('cart', shardOf(id, shards)))
  return entry === undefined ? undefined : readOwnership(entry.value)?.session.node
}

test('K8: a shard that is handed over before its fence is up begins no handler there any more', () =>
  onStage(async (stage) => {
    const { world } = stage
    const journal = memoryJournal()
    let raised = (): void => {}
    const late = slowFence(journal, new Promise((resolve) => (raised = resolve)))
    world.nodeOptions = (name) => ({ system: { extensions: [persistence({ journal: name === 'b' ? late : journal, scope: name })] } })
    const wrong: string[] = []
    const handled = new Set<string>()
    const cart = (node: string): Kind<Cart> =>
      eventSourced('cart', {
        initial: () => 0,
        events: { added: (n: number) => n + 1 },
        commands: {
          add: (ctx) => {
            handled.add(ctx.key)
            if (ownerIn(world, ctx.key) !== node) wrong.push(`${ctx.key} on ${node}, which is ${ownerIn(world, ctx.key)}'s`)
            ctx.persist({ type: 'added' })
          },
          get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
        },
      })
    const [a] = await stage.nodes('a')
    const kindOn = (node: typeof a): Sharded<Cart> => node!.cluster!.sharded<Cart>('cart', cart(node!.node), { shards, persistent: true })
    const kind = kindOn(a)
    await stage.until('all run on a', () => kind.active.length === shards)
    const [b] = await stage.nodes('b')
    kindOn(b)
    await stage.until('b owns some, and none of them runs', () => ids.some((id) => kind.ownerOf(id) === 'b'))
    await stage.wait(1_000)
    const there = ids.filter((id) => kind.ownerOf(id) === 'b')
    for (const id of there) kind.ref(id).tell({ type: 'add', n: 1 })
    await stage.wait(500)
    expect(handled.size).toBe(0)
    // The moment in which the next owner is named, and b has not heard of it.
    const update = world.hub.store.update.bind(world.hub.store)
    world.hub.store.update = (key, value, expected, ttl) => {
      const revision = update(key, value, expected, ttl)
      if (key.startsWith('own.')) raised()
      return revision
    }
    b!.leave()
    await stage.until('all were handled', () => handled.size === there.length)
    expect(wrong).toEqual([])
    for (const id of there) expect(await kind.ref(id).ask({ type: 'get' })).toBe(1)
  }))

test("K8: a shard is named another's when its actors have ended, and not while one is at work", () =>
  onStage(async (stage) => {
    const { world } = stage
    const [a] = await stage.nodes('a')
    const at = new Map<string, string>()
    const cart = (node: string, id: string): Behavior<Cart> =>
      receive<Cart>((_ctx, message) => {
        if (message.type === 'get') {
          message.replyTo.tell(message.type.length)
          return same
        }
        at.set(id, node)
        return new Promise((resolve) =>
          world.sim.after(2_000, () => {
            at.delete(id)
            resolve(same)
          }),
        )
      })
    const kindOn = (node: typeof a): Sharded<Cart> =>
      node!.cluster!.sharded<Cart>('cart', (id) => cart(node!.node, id), { shards, stopTimeout: 5_000 })
    const kind = kindOn(a)
    await stage.until('all run', () => kind.active.length === shards)
    for (const id of ids) kind.ref(id).tell({ type: 'add', n: 1 })
    await stage.until('all are at work', () => at.size === ids.length)
    const wrong: string[] = []
    const update = world.hub.store.update.bind(world.hub.store)
    world.hub.store.update = (key, value, expected, ttl) => {
      const revision = update(key, value, expected, ttl)
      for (const [id, node] of at) if (ownerIn(world, id) !== node) wrong.push(`${id} works on ${node}, and is ${ownerIn(world, id)}'s`)
      return revision
    }
    const [b] = await stage.nodes('b')
    kindOn(b)
    await stage.until('b has some of them', () => ids.some((id) => ownerIn(world, id) === 'b'))
    expect(wrong).toEqual([])
  }))

test('K12: whoever joined while a node was about to leave, and is not known to it yet, loses nothing by sending to it', () =>
  onStage(async (stage) => {
    const { world } = stage
    const { hub } = world
    // Hints are hints: a hears nothing of c, and c nothing of who owns what.
    const watch = hub.watch.bind(hub)
    hub.watch = (watcher) =>
      watch({
        ...watcher,
        onHint: (hint) => {
          const key = hint === 'anything' ? '' : hint.key
          if ((watcher.node === 'a' && key.endsWith('.c')) || (watcher.node === 'c' && key.startsWith('own.'))) return
          watcher.onHint(hint)
        },
      })
    hub.wireFaults = { drop: 0, double: 0, delay: [20, 40], late: 0, latest: 0 }
    const got = new Map<string, number[]>()
    let rest = (): void => {}
    const rested = new Promise<void>((resolve) => (rest = resolve))
    const cart = (id: string): Behavior<Cart> =>
      receive<Cart>((_ctx, message) => {
        if (message.type === 'add' && message.n === 0) return rested.then(() => same)
        if (message.type === 'add') got.set(id, [...(got.get(id) ?? []), message.n])
        return same
      })
    const [a, b] = await stage.nodes('a', 'b')
    const kinds = [a, b].map((node) => node!.cluster!.sharded<Cart>('cart', cart, { shards, stopTimeout: 20_000 }))
    await stage.until('all run', () => kinds.reduce((sum, kind) => sum + kind.active.length, 0) === shards)
    // Its shards take their time to come to rest, long after everybody else was asked whether they know them.
    for (const id of ids) kinds[0]!.ref(id).tell({ type: 'add', n: 0 })
    await stage.wait(500)
    a!.leave()
    await stage.wait(500)
    const c = world.start('c')
    await stage.until('c has joined', () => c.isUp)
    // It only sends.
    const guest = c.cluster!.sharded<Cart>('cart', cart, { shards, role: 'none' })
    await guest.ready
    await stage.until('c knows owners', () => ids.every((id) => guest.ownerOf(id) !== undefined))
    const there = ids.filter((id) => guest.ownerOf(id) === 'a')
    expect(there.length).toBeGreaterThan(0)
    expect(a!.cluster!.members.map(({ session }) => session.node)).toEqual(['a', 'b'])
    rest()
    let n = 0
    while (a!.state !== 'left') {
      n++
      for (const id of there) guest.ref(id).tell({ type: 'add', n })
      await stage.wait(10)
    }
    const all = Array.from({ length: n }, (_, i) => i + 1)
    await stage.until('all has come', () => there.every((id) => got.get(id)?.length === n), 20_000)
    for (const id of there) expect(got.get(id)).toEqual(all)
  }))

test('a shard is not given to a node that is leaving, whatever the giver knows of that', async () => {
  // Before it gives its own away, whatever others say, so long that it would list them once more in between: or not.
  for (const late of [50, 200, 350, 500])
    await onStage(async (stage) => {
      const { hub } = stage.world
      const many = 32
      // Hints are hints: a does not hear that b has the kind no more, and b cannot tell it.
      stage.deafen('a', 'host.')
      const [a, b, c] = await stage.nodes('a', 'b', 'c')
      const kinds = [a, b, c].map((node) => node!.cluster!.sharded<Cart>('cart', () => receive<Cart>(() => same), { shards: many }))
      await stage.until('all run', () => kinds.reduce((sum, kind) => sum + kind.active.length, 0) === many)
      await stage.until('all have some', () => kinds.every((kind) => kind.active.length > 0))
      const given: string[] = []
      const update = hub.store.update.bind(hub.store)
      hub.store.update = (key, value, expected, ttl) => {
        const revision = update(key, value, expected, ttl)
        if (key.startsWith('own.') && readOwnership(value)?.session.node === 'b' && hub.store.read(hostKey('cart', 'b')) === undefined)
          given.push(key)
        return revision
      }
      hub.cut('a', 'b', true)
      // It waits for half a lease that b knows, and a whole one that b has found its shards.
      a!.leave()
      await stage.wait(1.5 * stage.world.lease - late)
      b!.leave()
      await stage.until('c has all', () => kinds[2]!.active.length === many)
      expect(given).toEqual([])
    })
})
