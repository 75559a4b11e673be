// Watches of sharded actors: each ends once, with what became of the actor, from whichever node.

import { type AnyRef, type Behavior, receive, same, stopped, type Terminated } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { expect, test } from 'vitest'
import { KindNotHosted, NodeLost, type Sharded, type ShardedOptions } from '../../src/index.ts'
import type { ClusterNode } from '../../src/node/cluster-node.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Job = 'work' | 'stop' | 'fail'

function worker(): Behavior<Job> {
  return receive<Job>((_ctx, message) => {
    if (message === 'fail') throw new Error('broken')
    return message === 'stop' ? stopped : same
  })
}

function workers(node: SimulatedNode, options: ShardedOptions<Job> = {}): Sharded<Job> {
  return node.cluster!.sharded<Job>('work', worker, { shards: 8, ...options })
}

/** All shards have an owner, of whom every node knows. */
async function allRun(stage: Stage, kinds: readonly Sharded<Job>[], ids: readonly string[] = []): Promise<void> {
  await stage.until('all shards run', () => kinds.reduce((sum, kind) => sum + kind.active.length, 0) === 8)
  await stage.until('all know the owners', () => kinds.every((kind) => ids.every((id) => kind.ownerOf(id) !== undefined)))
}

/** Ids of which the node of a kind has the actors. */
function idsOn(kind: Sharded<Job>, node: string): readonly string[] {
  return Array.from({ length: 40 }, (_, n) => `w${n}`).filter((id) => kind.ownerOf(id) === node)
}

interface Watcher {
  readonly heard: Terminated[]
  readonly with: string[]
  watch(ref: AnyRef): void
  unwatch(ref: AnyRef): void
  watchWith(ref: AnyRef, message: string): void
  stop(): void
}

/** An actor that watches what it is told to. */
function watcherOn({ system }: SimulatedNode): Watcher {
  const heard: Terminated[] = []
  const messages: string[] = []
  type Order = string | { readonly watch?: AnyRef; readonly unwatch?: AnyRef; readonly as?: string }
  const ref = system.spawn(
    receive<Order>(
      (ctx, order) => {
        if (typeof order === 'string') messages.push(order)
        else if (order.watch !== undefined && order.as !== undefined) ctx.watchWith(order.watch, order.as)
        else if (order.watch !== undefined) ctx.watch(order.watch)
        else if (order.unwatch !== undefined) ctx.unwatch(order.unwatch)
        return same
      },
      (_ctx, signal) => {
        if (signal.type === 'Terminated') heard.push(signal)
        return same
      },
    ),
  )
  return {
    heard,
    with: messages,
    watch: (watched) => ref.tell({ watch: watched }),
    unwatch: (watched) => ref.tell({ unwatch: watched }),
    watchWith: (watched, as) => ref.tell({ watch: watched, as }),
    stop: () => system.stop(ref),
  }
}

/** What nodes keep of watches: what they watch, and by whom they are watched. */
function kept(...nodes: readonly SimulatedNode[]): readonly (readonly number[])[] {
  return nodes.map(({ system }) => {
    const { watchers } = coreOf(system).otherPlaces as ClusterNode
    return [watchers.own.size, watchers.size]
  })
}

async function pair(stage: Stage, options: ShardedOptions<Job> = {}) {
  const [a, b] = (await stage.nodes('a', 'b')) as [SimulatedNode, SimulatedNode]
  const [onA, onB] = [workers(a, options), workers(b, options)]
  await allRun(
    stage,
    [onA, onB],
    Array.from({ length: 40 }, (_, n) => `w${n}`),
  )
  return { a, b, onA, onB, here: idsOn(onA, 'a'), there: idsOn(onA, 'b') }
}

test('a sharded actor that stops by itself, or fails for good, is told of with its reason, on its own node and on another', () =>
  onStage(async (stage) => {
    const { a, b, onA, here, there } = await pair(stage)
    const watcher = watcherOn(a)
    const ends = [here[0]!, there[0]!].map((id) => onA.ref(id))
    const fails = [here[1]!, there[1]!].map((id) => onA.ref(id))
    for (const ref of [...ends, ...fails]) {
      ref.tell('work')
      watcher.watch(ref)
    }
    await stage.wait(1_000)
    expect(watcher.heard).toEqual([])
    for (const ref of ends) ref.tell('stop')
    for (const ref of fails) for (let n = 0; n < 4; n++) ref.tell('fail')
    await stage.until('all are told', () => watcher.heard.length === 4, 10_000)
    for (const ref of ends) expect(watcher.heard.find((end) => end.ref === ref)).toEqual({ type: 'Terminated', ref, reason: 'normal' })
    for (const ref of fails) {
      const { reason, cause } = watcher.heard.find((end) => end.ref === ref)!
      expect([reason, (cause as Error).message]).toEqual(['failure', 'broken'])
    }
    await stage.wait(5_000)
    expect(watcher.heard).toHaveLength(4)
    expect(kept(a, b)).toEqual([
      [0, 0],
      [0, 0],
    ])
    // The refs are as good as before.
    ends[1]!.tell('work')
    watcher.watch(ends[1]!)
    await stage.wait(100)
    ends[1]!.tell('stop')
    await stage.until('it is told again', () => watcher.heard.length === 5, 10_000)
  }))

test('one that is passivated is told of by a reason of its own, also by watchWith and whenTerminated', () =>
  onStage(async (stage) => {
    const { a, onA, here, there } = await pair(stage, { passivateAfter: 2_000 })
    const watcher = watcherOn(a)
    const [near, far] = [onA.ref(here[0]!), onA.ref(there[0]!)]
    near.tell('work')
    far.tell('work')
    watcher.watch(near)
    watcher.watchWith(far, 'far is gone')
    const ends = [near, far].map((ref) => a.system.whenTerminated(ref))
    await stage.until('both are told', () => watcher.heard.length === 1 && watcher.with.length === 1, 10_000)
    expect(watcher.heard).toEqual([{ type: 'Terminated', ref: near, reason: 'passivated' }])
    expect(watcher.with).toEqual(['far is gone'])
    for (const end of ends) expect(await end).toEqual({ reason: 'passivated', cause: undefined })
  }))

test('an actor that is not in memory is told of at once as passivated, and is not made for that', () =>
  onStage(async (stage) => {
    const { a, onA, onB, here, there } = await pair(stage)
    const watcher = watcherOn(a)
    for (const id of [here[0]!, there[0]!]) watcher.watch(onA.ref(id))
    await stage.until('both are told', () => watcher.heard.length === 2, 1_000)
    expect(watcher.heard.map(({ reason }) => reason)).toEqual(['passivated', 'passivated'])
    expect(onA.entities + onB.entities).toBe(0)
  }))

test('who watches and tells something in one turn watches the actor that is made for it, in either order', () =>
  onStage(async (stage) => {
    const { a, onA, there } = await pair(stage)
    const heard: string[] = []
    a.system
      .spawn(
        receive<'go'>(
          (ctx) => {
            for (const [i, id] of there.slice(0, 2).entries()) {
              if (i === 0) ctx.watch(onA.ref(id))
              onA.ref(id).tell('work')
              if (i === 1) ctx.watch(onA.ref(id))
            }
            return same
          },
          (_ctx, signal) => {
            if (signal.type === 'Terminated') heard.push(signal.reason)
            return same
          },
        ),
      )
      .tell('go')
    await stage.wait(2_000)
    expect(heard).toEqual([])
    for (const id of there.slice(0, 2)) onA.ref(id).tell('stop')
    await stage.until('both are told', () => heard.length === 2, 2_000)
    expect(heard).toEqual(['normal', 'normal'])
  }))

test('the loss of the node is told of once, within the lease and 2 s, to all who watch an actor of it', () =>
  onStage(async (stage) => {
    const { a, b, onA, onB, here, there } = await pair(stage)
    const watchers = [watcherOn(a), watcherOn(a)]
    const own = watcherOn(b)
    for (const id of there.slice(0, 3)) {
      onA.ref(id).tell('work')
      for (const watcher of watchers) watcher.watch(onA.ref(id))
    }
    onB.ref(here[0]!).tell('work')
    own.watch(onB.ref(here[0]!))
    await stage.until('b watches', () => kept(a)[0]![1] === 1, 1_000)
    b.kill()
    const since = stage.world.sim.now
    await stage.until('all are told', () => watchers.every(({ heard }) => heard.length === 3))
    expect(stage.world.sim.now - since).toBeLessThanOrEqual(stage.world.lease + 2_000)
    await stage.wait(10_000)
    for (const { heard } of watchers) {
      expect(heard).toHaveLength(3)
      for (const { reason, cause } of heard) {
        expect(reason).toBe('failure')
        expect(cause).toBeInstanceOf(NodeLost)
      }
    }
    // Nothing is kept for a node that is gone.
    expect(kept(a)).toEqual([[0, 0]])
  }))

test('a shard that moves puts its actors to sleep, and those who watch hear so once', () =>
  onStage(async (stage) => {
    const { a, b, onA, onB, here, there } = await pair(stage)
    const [onNodeA, onNodeB] = [watcherOn(a), watcherOn(b)]
    const ids = [there[0]!, there[1]!]
    for (const id of ids) {
      onA.ref(id).tell('work')
      onNodeA.watch(onA.ref(id))
      onNodeB.watch(onB.ref(id))
    }
    // One that stays.
    onA.ref(here[0]!).tell('work')
    onNodeA.watch(onA.ref(here[0]!))
    await stage.wait(1_000)
    b.leave()
    await stage.until('b left', () => b.state === 'left')
    await stage.wait(5_000)
    const told = onNodeA.heard.map(({ reason, ref }) => `${ref.path} ${reason}`)
    expect(told.toSorted()).toEqual(ids.map((id) => `${onA.ref(id).path} passivated`).toSorted())
    expect(kept(a)).toEqual([[1, 1]])
  }))

test('a watch that comes while its shard moves finds the actor where that is', () =>
  onStage(async (stage) => {
    // It does not hear who has what, and looks only now and then.
    stage.deafen('a', 'own.')
    const { a, b, onA, there } = await pair(stage)
    const watcher = watcherOn(a)
    await stage.wait(stage.world.lease * 1.2)
    const c = stage.world.start('c')
    await stage.until('c has joined', () => c.isUp)
    const onC = workers(c)
    const movedTo = (): string | undefined => there.find((id) => onC.ownerOf(id) === 'c')
    await stage.until('c has its share', () => onC.active.length > 0 && movedTo() !== undefined)
    const moved = movedTo()!
    expect(onA.ownerOf(moved)).toBe('b')
    onC.ref(moved).tell('work')
    await stage.wait(100)
    expect(onA.ownerOf(moved)).toBe('b')
    watcher.watch(onA.ref(moved))
    await stage.wait(5_000)
    expect(watcher.heard).toEqual([])
    onC.ref(moved).tell('stop')
    await stage.until('it is told', () => watcher.heard.length === 1, 5_000)
    expect(watcher.heard[0]!.reason).toBe('normal')
    expect(kept(a, b, c)).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ])
  }))

test('nothing is kept of a watch that is given up, or whose watcher has stopped', () =>
  onStage(async (stage) => {
    const { a, b, onA, here, there } = await pair(stage)
    const [first, second] = [watcherOn(a), watcherOn(a)]
    const refs = [here[0]!, there[0]!].map((id) => onA.ref(id))
    for (const ref of refs) {
      ref.tell('work')
      first.watch(ref)
      second.watch(ref)
    }
    await stage.wait(1_000)
    expect(kept(a, b)).toEqual([
      [2, 1],
      [0, 1],
    ])
    for (const ref of refs) first.unwatch(ref)
    await stage.wait(1_000)
    expect(kept(a, b)).toEqual([
      [2, 1],
      [0, 1],
    ])
    second.stop()
    await stage.wait(1_000)
    expect(kept(a, b)).toEqual([
      [0, 0],
      [0, 0],
    ])
    for (const ref of refs) ref.tell('stop')
    await stage.wait(1_000)
    expect([first.heard, second.heard]).toEqual([[], []])
  }))

test('a watch of a kind that no node hosts ends with an error that says so', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const kind = workers(a!, { role: 'worker' })
    await kind.ready
    const watcher = watcherOn(a!)
    watcher.watch(kind.ref('w1'))
    await stage.until('it is told', () => watcher.heard.length === 1, stage.world.lease + 2_100)
    expect(watcher.heard[0]!.cause).toBeInstanceOf(KindNotHosted)
  }))
