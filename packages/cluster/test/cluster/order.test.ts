// The order of what one node sends to one sharded actor, where its shard moves more often than the sender hears of.

import { type Behavior, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Note = { readonly type: 'note'; readonly n: number }

const shards = 8
const ids = Array.from({ length: 12 }, (_, i) => `id-${i}`)

/** Numbers that arrived, by id; a kind that nodes with the role host, and s that only sends. */
async function stageOf(
  stage: Stage,
  ...hosts: readonly string[]
): Promise<{
  readonly got: Map<string, number[]>
  readonly kinds: Map<string, Sharded<Note>>
  readonly join: (name: string) => Promise<SimulatedNode>
}> {
  const { world } = stage
  const got = new Map<string, number[]>(ids.map((id) => [id, []]))
  const kinds = new Map<string, Sharded<Note>>()
  const behavior = (id: string): Behavior<Note> =>
    receive<Note>((_ctx, { n }) => {
      got.get(id)!.push(n)
      return same
    })
  world.nodeOptions = (name) => (name === 's' ? {} : { roles: ['host'] })
  const join = async (name: string): Promise<SimulatedNode> => {
    const [node] = await stage.nodes(name)
    kinds.set(name, node!.cluster!.sharded<Note>('cart', behavior, { shards, role: 'host' }))
    return node!
  }
  for (const name of [...hosts, 's']) await join(name)
  await stage.until('all run', () => hosts.reduce((sum, name) => sum + kinds.get(name)!.active.length, 0) === shards)
  await stage.until('s knows all owners', () => ids.every((id) => kinds.get('s')!.ownerOf(id) !== undefined))
  return { got, kinds, join }
}

test('K1: what a node sends arrives in order where a shard moves away and back, and the node hears of neither', () =>
  onStage(async (stage) => {
    const { world } = stage
    const { hub } = world
    // Hints are hints: s gets none.
    stage.deafen('s', 'own.')
    const { got, kinds, join } = await stageOf(stage, 'a')
    // From here on s lists only after a while.
    await stage.wait(world.lease * 1.2)
    const b = await join('b')
    const moved = (): string[] => ids.filter((id) => kinds.get('a')!.ownerOf(id) === 'b')
    await stage.until('b has its share', () => kinds.get('b')!.active.length > 0 && moved().length > 0)
    await stage.wait(200)
    const there = moved()
    expect(there.every((id) => kinds.get('s')!.ownerOf(id) === 'a')).toBe(true)
    hub.cut('a', 'b', true)
    let n = 0
    const send = (): void => {
      n++
      for (const id of there) kinds.get('s')!.ref(id).tell({ type: 'note', n })
    }
    send()
    b.leave()
    for (let at = 0; at < 50; at++) {
      await stage.wait(50)
      send()
    }
    hub.cut('a', 'b', false)
    await stage.until('b has left', () => b.state === 'left', 20_000)
    send()
    await stage.until('all arrived', () => there.every((id) => got.get(id)!.includes(n)), 20_000)
    await stage.wait(2 * world.lease)
    for (const id of there) expect(got.get(id)).toEqual(Array.from({ length: n }, (_, i) => i + 1))
  }))

test('a node that was refused the kind, and sends nothing to anybody, keeps no shard from moving', () =>
  onStage(async (stage) => {
    const { kinds, join } = await stageOf(stage, 'a')
    const [x] = await stage.nodes('x')
    const refused = x!.cluster!.sharded<Note>('cart', () => receive<Note>(() => same), { shards: 2 * shards })
    await expect(refused.ready).rejects.toMatchObject({ code: 'kind-differs' })
    refused.ref('id-1').tell({ type: 'note', n: 1 })
    await join('b')
    await stage.until('b has its share', () => kinds.get('b')!.active.length > 0, 10_000)
  }))
