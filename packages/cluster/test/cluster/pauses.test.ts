// K8 beyond messages: what else could begin in a sharded actor while its node may not act.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import { expect, test } from 'vitest'
import { RegistryUnavailable, type Sharded } from '../../src/index.ts'
import { shardOf } from '../../src/internal.ts'
import { onStage } from './stage.ts'

type Tick = { readonly type: 'tick' }

test('K8: timers of a singleton begin no handler past the lease, and go on when the node is back in time', () =>
  onStage(async (stage) => {
    const ticks: { at: number; held: boolean }[] = []
    const [a] = await stage.nodes('a')
    const clock = (): Behavior<Tick> =>
      setup((ctx) => {
        ctx.timers.every('tick', 100, { type: 'tick' })
        return receive(() => {
          ticks.push({ at: stage.world.sim.now, held: a!.cluster!.held })
          return same
        })
      })
    a!.cluster!.singleton('clock', clock())
    await stage.until('it ticks', () => ticks.length > 3)
    stage.world.hub.isolate('a', true)
    await stage.until('a may not act', () => !a!.cluster!.held)
    const before = ticks.length
    await stage.wait(1_000)
    expect(ticks.length).toBe(before)
    stage.world.hub.isolate('a', false)
    await stage.until('it ticks again', () => ticks.length > before)
    expect(ticks.every(({ held }) => held)).toBe(true)
  }))

test('K8: past the lease no actor is made either: it begins when the node is back in time', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const begun: string[] = []
    const handled: string[] = []
    const cart = (id: string): Behavior<Tick> =>
      setup(() => {
        begun.push(id)
        return receive(() => {
          handled.push(id)
          return same
        })
      })
    const kind = a!.cluster!.sharded('cart', cart, { shards: 2 })
    await stage.until('all run', () => kind.active.length === 2)
    stage.world.hub.isolate('a', true)
    await stage.until('a may not act', () => !a!.cluster!.held)
    for (const id of ['x', 'y']) kind.ref(id).tell({ type: 'tick' })
    await stage.wait(500)
    expect(begun).toEqual([])
    stage.world.hub.isolate('a', false)
    await stage.until('both are handled', () => handled.length === 2)
    expect(begun.toSorted()).toEqual(['x', 'y'])
    const l = await a!.system.ledger()
    expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress + l.unknown)
  }))

test('what waited past the lease is a dead letter where the session ends before it is back', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const kinds = [a!, b!].map((node) => node.cluster!.sharded<Tick>('cart', () => receive(() => same), { shards: 32 }))
    const [mine, theirs] = kinds as [Sharded<Tick>, Sharded<Tick>]
    await stage.until('both have some', () => mine.active.length > 0 && theirs.active.length > 0 && mine.active.length + theirs.active.length === 32)
    await stage.wait(3_000)
    expect(mine.active.length).toBeGreaterThan(0)
    stage.world.hub.isolate('a', true)
    await stage.until('a may not act', () => !a!.cluster!.held)
    for (let id = 0; id < 20; id++) kinds[0]!.ref(`id-${id}`).tell({ type: 'tick' })
    await stage.until('a has ended for b, which has its shards', () => theirs.active.length === 32)
    // It hears of its end before it hears who owns its shards now: else what waited goes there.
    const { store } = stage.world.hub
    const list = store.list.bind(store)
    store.list = (prefix) => {
      if (prefix.startsWith('own.')) throw new RegistryUnavailable('list', 'it is slow')
      return list(prefix)
    }
    stage.world.hub.isolate('a', false)
    await stage.until('a hears so', () => !a!.isUp)
    await stage.wait(500)
    const l = await a!.system.ledger()
    expect(l.deadLettered).toBeGreaterThan(0)
    expect(l.queued).toBe(0)
    expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.stashed + l.inProgress + l.unknown)
  }))

test('K8: a node whose machine was suspended past the lease answers no read of the past and runs no second singleton when it wakes', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    type Register = { readonly type: 'set'; readonly to: number } | { readonly type: 'get'; readonly replyTo: ActorRef<number> }
    const begun: { readonly node: string; readonly what: string; readonly at: number }[] = []
    const note = (node: string, what: string): void => void begun.push({ node, what, at: stage.world.sim.now })
    const register = (node: string) => (): Behavior<Register> => {
      let value = 0
      return receive<Register>((_ctx, message) => {
        note(node, message.type)
        if (message.type === 'set') value = message.to
        else message.replyTo.tell(value)
        return same
      })
    }
    const clock = (node: string): Behavior<Tick> =>
      setup((ctx) => {
        ctx.timers.every('tick', 100, { type: 'tick' })
        return receive(() => {
          note(node, 'tick')
          return same
        })
      })
    const [mine, theirs] = [a!, b!].map((node) => {
      node.cluster!.singleton('clock', clock(node.node))
      return node.cluster!.sharded('register', register(node.node), { shards: 8 })
    }) as [Sharded<Register>, Sharded<Register>]
    await stage.until('all shards run', () => mine.active.length > 0 && mine.active.length + theirs.active.length === 8)
    await stage.until('the singleton ticks', () => begun.some(({ what }) => what === 'tick'))
    const ids = Array.from({ length: 40 }, (_, n) => `id-${n}`)
    for (const id of ids) mine.ref(id).tell({ type: 'set', to: 1 })
    await stage.wait(1_000)
    const ofA = ids.filter((id) => mine.active.includes(shardOf(id, 8)))
    expect(ofA.length).toBeGreaterThan(0)
    a!.suspend(9_000)
    await stage.until('b has all', () => theirs.active.length === 8, 8_500)
    for (const id of ids) theirs.ref(id).tell({ type: 'set', to: 2 })
    await stage.until('a is awake', () => a!.place.state === 'running')
    const awake = stage.world.sim.now
    const answers: unknown[] = []
    for (const id of ofA)
      mine
        .ref(id)
        .ask({ type: 'get' }, { timeout: 2_000 })
        .then(
          (value) => answers.push(value),
          () => {},
        )
    await stage.wait(4_000)
    expect(begun.filter(({ node, at }) => node === 'a' && at >= awake)).toEqual([])
    expect(answers.filter((value) => value !== 2)).toEqual([])
    expect(begun.some(({ node, what, at }) => node === 'b' && what === 'tick' && at >= awake)).toBe(true)
  }))
