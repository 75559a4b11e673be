// Agreement between nodes about a kind, while several of them register it at once: nodes that agree all get it, and of nodes that differ only one side
// does. Each test fixes the order in which the registry answers.

import { type Behavior, receive, same } from '@troupe/core'
import { type JournalSource, memory as memoryJournal, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import type { ShardedOptions } from '../../src/index.ts'
import { kindKey } from '../../src/sharding/hosts.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

const echo = (): Behavior<{ readonly n: number }> => receive(() => same)
const host = 'host'

function start(stage: Stage, node: string, journal?: JournalSource): SimulatedNode {
  const system = journal === undefined ? undefined : { extensions: [persistence({ journal, scope: node })] }
  return stage.world.start(node, { roles: journal === undefined ? [] : [host], system })
}

/** Registers the kind; resolves with `ready` or the code of the error. */
function register(node: SimulatedNode, kind: string, options: ShardedOptions<never> = {}): Promise<string> {
  return node.cluster!.sharded(kind, echo, { shards: 4, ...options }).ready.then(
    () => 'ready',
    (cause: { readonly code: string }) => cause.code,
  )
}

/** Holds everything between a node and the registry from the moment at which the registry has read that key for it. */
function holdAfterRead(stage: Stage, node: string, key: string): { readonly isHeld: () => boolean; readonly release: () => void } {
  const { hub } = stage.world
  const [toStore, read] = [hub.toStore.bind(hub), hub.store.read.bind(hub.store)]
  let asking: string | undefined
  let held: (() => void)[] | undefined
  hub.toStore = (by, arrive) => {
    const arriveAs = (): void => {
      asking = by
      arrive()
      asking = undefined
    }
    if (by === node && held !== undefined) held.push(arriveAs)
    else toStore(by, arriveAs)
  }
  hub.store.read = (asked) => {
    if (asking === node && asked === key) held ??= []
    return read(asked)
  }
  const release = (): void => {
    Object.assign(hub, { toStore })
    Object.assign(hub.store, { read })
    for (const arrive of held ?? []) toStore(node, arrive)
  }
  return { isHeld: () => held !== undefined, release }
}

test('a node that read the record of a kind before another node with the same journal replaced it has the kind too', () =>
  onStage(async (stage) => {
    const journal = memoryJournal()
    const [tower, a, b] = [start(stage, 'tower'), start(stage, 'a', journal), start(stage, 'b', journal)]
    await stage.until('all have joined', () => stage.world.up.length === 3)
    const options = { persistent: true, role: host } as const
    // Hosts nothing, so it records no journal.
    expect(await register(tower, 'cart', options)).toBe('ready')
    const hold = holdAfterRead(stage, 'b', kindKey('cart'))
    const late = register(b, 'cart', options)
    await stage.until('b has read the record of the tower', () => hold.isHeld())
    // Nobody hosts the kind yet: a replaces the record, and then hosts it.
    expect(await register(a, 'cart', options)).toBe('ready')
    hold.release()
    expect(await late).toBe('ready')
  }))

test('a node that read an outdated number of shards before another node replaced it has the kind too', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    stage.world.hub.store.create(kindKey('cart'), JSON.stringify({ shards: 2 }), undefined)
    const hold = holdAfterRead(stage, 'b', kindKey('cart'))
    const late = register(b!, 'cart')
    await stage.until('b has read the outdated record', () => hold.isHeld())
    expect(await register(a!, 'cart')).toBe('ready')
    hold.release()
    expect(await late).toBe('ready')
  }))

test('a node with another journal is refused though it has not heard yet that the host has joined', () =>
  onStage(async (stage) => {
    for (const prefix of ['session', 'member']) stage.deafen('b', prefix)
    const b = start(stage, 'b', memoryJournal())
    await stage.until('b has joined', () => b.isUp)
    const a = start(stage, 'a', memoryJournal())
    await stage.until('a has joined', () => a.isUp)
    expect(await register(a, 'cart', { persistent: true })).toBe('ready')
    expect(b.cluster!.members.map(({ session }) => session.node)).toEqual(['b'])
    expect(await register(b, 'cart', { persistent: true })).toBe('journal-differs')
  }))

test('a node that registers a kind with other settings is refused with an error that names both, and the others go on', () =>
  onStage(async (stage) => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => stage.world.start(name, { roles: [host] }))
    await stage.until('all have joined', () => stage.world.up.length === 3)
    const kind = a!.cluster!.sharded('cart', echo, { shards: 4, role: host })
    await kind.ready
    const refused = async (node: SimulatedNode, options: ShardedOptions<never>): Promise<string> => {
      const cause: unknown = await node.cluster!.sharded('cart', echo, options).ready.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(cause).toMatchObject({ code: 'kind-differs', kind: 'cart', node: node.node, others: ['a'] })
      return String(cause)
    }
    expect(await refused(b!, { shards: 8, role: host })).toContain(
      'Cannot have cart on b: it has 8 shards on nodes with the role host there, and 4 shards on nodes with the role host on a.',
    )
    expect(await refused(c!, { shards: 4 })).toContain(
      'Cannot have cart on c: it has 4 shards on all nodes there, and 4 shards on nodes with the role host on a.',
    )
    await stage.until('all run on a', () => kind.active.length === 4)
  }))

test('a kind is not a singleton on one node and sharded on another', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    a!.cluster!.singleton('clock', echo())
    await stage.until('it runs on a', () => a!.cluster!.report().kinds[0]!.active === 1)
    const cause: unknown = await b!.cluster!.sharded('clock', echo, { shards: 1 }).ready.catch((reason: unknown) => reason)
    expect(String(cause)).toContain('Cannot have clock on b: it has 1 shard on all nodes there, and one actor on all nodes on a.')
  }))

test('settings that are of each node may differ, as in a rolling upgrade, and a node that only sends need not say to which role', () =>
  onStage(async (stage) => {
    const [a, b, c] = await stage.nodes('a', 'b', 'c')
    expect(await register(a!, 'cart', { passivateAfter: 1_000, version: 1 })).toBe('ready')
    expect(await register(b!, 'cart', { passivateAfter: false, version: 2, concurrentHandOvers: 2, stopTimeout: 100 })).toBe('ready')
    expect(await register(c!, 'cart', { role: 'none' })).toBe('ready')
  }))

test('settings change where no node hosts the kind any more', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    expect(await register(a!, 'cart', { shards: 4 })).toBe('ready')
    a!.leave()
    await stage.until('a has left', () => a!.state === 'left')
    expect(await register(b!, 'cart', { shards: 8 })).toBe('ready')
  }))
