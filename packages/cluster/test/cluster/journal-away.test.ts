// A node that does not reach its journal: it is to be given no work, and after a while others have its shards; it has some again when the journal is back.

import type { ActorRef } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { eventSourced, type JournalSource, type Kind, memory as memoryJournal, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Cart = { readonly type: 'add' } | { readonly type: 'get'; readonly replyTo: ActorRef<number> }

const cart: Kind<Cart> = eventSourced('cart', {
  initial: () => 0,
  events: { added: (n: number) => n + 1 },
  commands: { add: (ctx) => ctx.persist({ type: 'added' }), get: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
})

/** How a journal is out of reach: it refuses, or does not answer until it is back. */
type Trouble = 'refuses' | 'hangs'

class Reach {
  trouble: Trouble | undefined
  #waiting: (() => void)[] = []
  async pass(): Promise<void> {
    if (this.trouble === 'hangs') await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    else if (this.trouble === 'refuses') throw new Error('the journal cannot be reached')
  }
  back(): void {
    this.trouble = undefined
    for (const go of this.#waiting.splice(0)) go()
  }
}

/** A journal as a node reaches it. */
function reached(source: JournalSource, reach: Reach): JournalSource {
  return {
    name: source.name,
    open: async (environment) => {
      await reach.pass()
      const journal = await source.open(environment)
      const epoch = journal.epoch.bind(journal)
      const raise = journal.raise.bind(journal)
      const heads = journal.heads.bind(journal)
      const append = journal.append.bind(journal)
      journal.epoch = async (scope) => {
        await reach.pass()
        return epoch(scope)
      }
      journal.raise = async (scope, to) => {
        await reach.pass()
        return raise(scope, to)
      }
      journal.heads = async (ids) => {
        await reach.pass()
        return heads(ids)
      }
      journal.append = async (group, handed) => {
        if (reach.trouble === 'refuses') return group.map(() => ({ is: 'failed' as const, cause: new Error('the journal cannot be reached') }))
        await reach.pass()
        return append(group, handed)
      }
      return journal
    },
  }
}

const journalTimeout = 10_000
const unfit = ({ system }: SimulatedNode): string | undefined => coreOf(system).otherPlaces!.unfit

async function carts(
  stage: Stage,
  names: readonly string[],
): Promise<{ nodes: readonly SimulatedNode[]; kinds: Sharded<Cart>[]; reach: Map<string, Reach> }> {
  const journal = memoryJournal()
  const reach = new Map(names.map((name) => [name, new Reach()]))
  stage.world.nodeOptions = (name) => ({
    journalTimeout,
    system: { extensions: [persistence({ journal: reached(journal, reach.get(name)!), scope: name })] },
  })
  const nodes = await stage.nodes(...names)
  const kinds = nodes.map((node) => node.cluster!.sharded<Cart>('cart', cart, { shards: 8, persistent: true, stopTimeout: 500 }))
  await stage.until('all shards run', () => kinds.reduce((sum, { active }) => sum + active.length, 0) === 8)
  return { nodes, kinds, reach }
}

const ids = Array.from({ length: 12 }, (_, n) => `cart-${n}`)

async function addAll(kind: Sharded<Cart>): Promise<readonly number[]> {
  for (const id of ids) kind.ref(id).tell({ type: 'add' })
  return Promise.all(ids.map((id) => kind.ref(id).ask({ type: 'get' }, { timeout: 5_000 })))
}

for (const trouble of ['refuses', 'hangs'] as const)
  test(`a node whose journal ${trouble} is not ready at once, hands its shards over after a while, and has some again when it is back`, () =>
    onStage(async (stage) => {
      const { nodes, kinds, reach } = await carts(stage, ['a', 'b'])
      const [a, b] = nodes as [SimulatedNode, SimulatedNode]
      const [inA, inB] = kinds as [Sharded<Cart>, Sharded<Cart>]
      expect(await addAll(inA)).toEqual(ids.map(() => 1))
      const before = inB.active.length
      expect(before).toBeGreaterThan(0)
      expect([unfit(a), unfit(b)]).toEqual([undefined, undefined])
      reach.get('b')!.trouble = trouble
      await stage.until('b is not ready', () => unfit(b) !== undefined, trouble === 'refuses' ? 1_000 : 7_000)
      expect([unfit(a), unfit(b)]).toEqual([undefined, 'its journal cannot be reached'])
      await stage.wait(journalTimeout / 2)
      expect(inB.active.length).toBe(before)
      await stage.until('a has all shards', () => inA.active.length === 8 && inB.active.length === 0)
      // Asked by b, too: it is a member as before.
      expect(await addAll(inB)).toEqual(ids.map(() => 2))
      expect([b.isUp, unfit(b)]).toEqual([true, 'its journal cannot be reached'])
      reach.get('b')!.back()
      await stage.until('b has shards again', () => inB.active.length === before)
      expect(unfit(b)).toBe(undefined)
      expect(await addAll(inA)).toEqual(ids.map(() => 3))
      expect([a.isUp, b.isUp]).toEqual([true, true])
    }))

test('a node whose journal is slow is ready, and keeps its shards', () =>
  onStage(async (stage) => {
    const { nodes, kinds, reach } = await carts(stage, ['a', 'b'])
    const before = kinds.map(({ active }) => active.length)
    for (let n = 0; n < 10; n++) {
      reach.get('b')!.trouble = 'hangs'
      await stage.wait(4_000)
      expect(unfit(nodes[1]!)).toBe(undefined)
      reach.get('b')!.back()
      await stage.wait(10)
    }
    expect(kinds.map(({ active }) => active.length)).toEqual(before)
  }))

test('a node whose journal is away for a moment keeps its shards', () =>
  onStage(async (stage) => {
    const { nodes, kinds, reach } = await carts(stage, ['a', 'b'])
    const before = kinds.map(({ active }) => active.length)
    reach.get('b')!.trouble = 'hangs'
    await stage.until('b is not ready', () => unfit(nodes[1]!) !== undefined)
    await stage.wait(journalTimeout / 2)
    reach.get('b')!.back()
    await stage.until('b is ready', () => unfit(nodes[1]!) === undefined)
    await stage.wait(2 * journalTimeout)
    expect(kinds.map(({ active }) => active.length)).toEqual(before)
  }))

test('a node that has just ceased to reach the journal is handed no shards by one that has not reached it for long', () =>
  onStage(async (stage) => {
    const { nodes, kinds, reach } = await carts(stage, ['a', 'b'])
    const before = kinds.map(({ active }) => active.length)
    reach.get('b')!.trouble = 'refuses'
    await stage.wait(0.8 * journalTimeout)
    reach.get('a')!.trouble = 'refuses'
    await stage.until('a is not ready', () => unfit(nodes[0]!) !== undefined, 1_000)
    // By now b would hand over, and a is not to take anything; a moment later a would hand over as well.
    await stage.wait(0.6 * journalTimeout)
    expect(kinds.map(({ active }) => active.length)).toEqual(before)
    reach.get('a')!.back()
    await stage.until('a has all shards', () => kinds[0]!.active.length === 8)
    expect(await addAll(kinds[1]!)).toEqual(ids.map(() => 1))
  }))

test('where no node reaches the journal the shards stay where they are', () =>
  onStage(async (stage) => {
    const { kinds, reach } = await carts(stage, ['a', 'b'])
    const before = kinds.map(({ active }) => active.length)
    for (const each of reach.values()) each.trouble = 'refuses'
    await stage.wait(3 * journalTimeout)
    expect(kinds.map(({ active }) => active.length)).toEqual(before)
    for (const each of reach.values()) each.back()
    await stage.wait(2 * stage.world.lease)
    expect(await addAll(kinds[0]!)).toEqual(ids.map(() => 1))
    await stage.until('all shards run', () => kinds.reduce((sum, { active }) => sum + active.length, 0) === 8)
  }))
