// Persistent sharded actors, as somebody uses them who has read both guides: nodes that only send, deliveries and timers that cross nodes.

import type { ActorRef } from '@troupe/core'
import { eventSourced, type Kind, memory as memoryJournal, type MemorySource, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Account =
  | { type: 'pay'; to: string; amount: number }
  | { type: 'take'; amount: number }
  | { type: 'later'; ms: number; amount: number }
  | { type: 'tip'; of: string; stops: boolean }
  | { type: 'get'; replyTo: ActorRef<number> }

/** What effects did, in order. */
let tips: string[] = []

const account: Kind<Account> = eventSourced('account', {
  initial: () => 100,
  events: { paid: (n, e: { amount: number }) => n - e.amount, taken: (n, e: { amount: number }) => n + e.amount },
  commands: {
    pay(ctx, m) {
      ctx.persist({ type: 'paid', amount: m.amount })
      ctx.deliver(account, m.to, { type: 'take', amount: m.amount })
    },
    take: (ctx, m) => ctx.persist({ type: 'taken', amount: m.amount }),
    later: (ctx, m) => ctx.timers.once('bonus', m.ms, { type: 'take', amount: m.amount }),
    tip(ctx, m) {
      ctx.persist({ type: 'taken', amount: 1 })
      ctx.after(() => void tips.push(`${m.of} ${ctx.key}`))
      if (m.stops) ctx.stop()
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})

const shards = 8
const ids = ['1', '2', '3', '4', '5', '6']

/** Nodes with one journal, by which each finds the actors of the kind wherever they are. */
async function bank(
  stage: Stage,
  ...names: readonly string[]
): Promise<{ nodes: readonly SimulatedNode[]; kinds: Sharded<Account>[]; journal: MemorySource }> {
  const journal = memoryJournal()
  const found = new Map<string, Sharded<Account>>()
  stage.world.nodeOptions = (name) => ({
    system: { extensions: [persistence({ journal, scope: name, find: (_kind, key) => found.get(name)?.ref(key) })] },
  })
  const nodes = await stage.nodes(...names)
  const kinds = nodes.map((node) => {
    const kind = node.cluster!.sharded<Account>('account', account, { shards, persistent: true, passivateAfter: 2_000 })
    found.set(node.node, kind)
    return kind
  })
  await stage.until('all shards run', () => kinds.reduce((sum, kind) => sum + kind.active.length, 0) === shards)
  return { nodes, kinds, journal }
}

test('a node that has no shards of a persistent kind needs no journal', () =>
  onStage(async (stage) => {
    const journal = memoryJournal()
    stage.world.nodeOptions = (name) => (name === 'a' ? { roles: ['bank'], system: { extensions: [persistence({ journal })] } } : {})
    const [a, b] = await stage.nodes('a', 'b')
    const options = { shards, persistent: true, role: 'bank' } as const
    const kind = a!.cluster!.sharded<Account>('account', account, options)
    const guest = b!.cluster!.sharded<Account>('account', account, options)
    await guest.ready
    await stage.until('all shards run', () => kind.active.length === shards)
    guest.ref('1').tell({ type: 'take', amount: 1 })
    expect(await guest.ref('1').ask({ type: 'get' })).toBe(101)
    expect(guest.active).toEqual([])
  }))

test('what a persistent actor delivers reaches those on other nodes, once', () =>
  onStage(async (stage) => {
    const { kinds } = await bank(stage, 'a', 'b')
    const kind = kinds[0]!
    await stage.until('both have some of them', () => ids.every((id) => kind.ownerOf(id) !== undefined))
    expect(new Set(ids.map((id) => kind.ownerOf(id)))).toEqual(new Set(['a', 'b']))
    for (const id of ids) for (const to of ids) if (to !== id) kind.ref(id).tell({ type: 'pay', to, amount: Number(id) })
    await stage.wait(10_000)
    const all = ids.length * 100
    const balances = await Promise.all(ids.map((id) => kind.ref(id).ask({ type: 'get' })))
    expect(balances.reduce((sum, n) => sum + n, 0)).toBe(all)
    expect(balances).toEqual(ids.map((id) => 100 - Number(id) * 5 + (21 - Number(id))))
  }))

test('a durable timer of a sharded actor fires though its node is gone, and once', () =>
  onStage(async (stage) => {
    const { nodes, kinds } = await bank(stage, 'a', 'b')
    const [a] = kinds
    await stage.until('b has some of them', () => ids.some((id) => a!.ownerOf(id) === 'b'))
    for (const id of ids) a!.ref(id).tell({ type: 'later', ms: 30_000, amount: 7 })
    for (const id of ids) expect(await a!.ref(id).ask({ type: 'get' })).toBe(100)
    nodes[1]!.kill()
    await stage.wait(60_000)
    for (const id of ids) expect(await a!.ref(id).ask({ type: 'get' }, { timeout: 20_000 })).toBe(107)
  }))

test('effects of a sharded actor run before it goes to sleep, stops or moves, each once', () =>
  onStage(async (stage) => {
    tips = []
    const { nodes, kinds, journal } = await bank(stage, 'a', 'b')
    const [a] = kinds
    await stage.until('b has some of them', () => ids.some((id) => a!.ownerOf(id) === 'b'))
    const told = (of: string): string[] => ids.map((id) => `${of} ${id}`)
    const sorted = (): string[] => [...tips].sort()
    // The write takes longer than the silence after which an actor sleeps.
    journal.faults.delay = 3000
    for (const id of ids) a!.ref(id).tell({ type: 'tip', of: 'sleep', stops: false })
    await stage.wait(20_000)
    expect(sorted()).toEqual(told('sleep'))
    for (const id of ids) a!.ref(id).tell({ type: 'tip', of: 'stop', stops: true })
    await stage.wait(20_000)
    expect(sorted()).toEqual([...told('sleep'), ...told('stop')])
    for (const id of ids) a!.ref(id).tell({ type: 'tip', of: 'move', stops: false })
    await stage.wait(1000)
    const left = nodes[1]!.cluster!.leave()
    await stage.wait(30_000)
    await left
    expect(sorted()).toEqual([...told('move'), ...told('sleep'), ...told('stop')])
  }))
