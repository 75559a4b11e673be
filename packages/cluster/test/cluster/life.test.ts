// The life of a node from its owner's side: joining, leaving and joining again, callbacks that throw, what an observer sees, and what is refused.

import { ActorSystem, type Behavior, receive, same, serviceKey } from '@troupe/core'
import { coreOf, extensionOf } from '@troupe/core/internal'
import { memory as memoryJournal, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { connectTo } from '../../src/engines/memory/memory.ts'
import { Cluster, type ClusterReport, type Engine, type Sharded } from '../../src/index.ts'
import { ClusterNode } from '../../src/node/cluster-node.ts'
import { kindKey, readKind } from '../../src/sharding/hosts.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, isLevelEnabled: () => false }

const echo = (): Behavior<{ readonly n: number }> => receive(() => same)

function engineOf(stage: Stage): Engine {
  return { name: 'simulated', connect: (joining) => Promise.resolve(connectTo(stage.world.hub, joining)) }
}

/** A system on the stage that has not joined. */
function loner(stage: Stage, name: string): ActorSystem {
  const { runtime } = stage.world.sim.place(name)
  return ActorSystem.create(name, { logger: silent, keepAlive: false, runtime })
}

function join(stage: Stage, system: ActorSystem, node: string, engine: Engine = engineOf(stage)): Promise<Cluster> {
  return Cluster.join(system, { name: 'sim', node, engine, lease: stage.world.lease })
}

test('K15: a system that leaves can join again and have its kinds again, as often as it likes, and keeps nothing of its earlier lives', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const theirs = a!.cluster!.sharded('cart', echo, { shards: 4 })
    const system = loner(stage, 'b')
    const core = coreOf(system)
    const counts: string[] = []
    for (let life = 0; life < 6; life++) {
      const cluster = await join(stage, system, 'b')
      const kind = cluster.sharded('cart', echo, { shards: 4 })
      cluster.receptionist.subscribe(serviceKey('k'), system.spawn(receive<unknown>(() => same)))
      await stage.until('b has its share', () => kind.active.length > 0 && kind.active.length + theirs.active.length === 4)
      for (let id = 0; id < 20; id++) kind.ref(`id-${id}`).tell({ n: life })
      await stage.wait(500)
      expect(kind.entities).toBeGreaterThan(0)
      await cluster.leave()
      await stage.until('a has all', () => theirs.active.length === 4)
      await stage.wait(1_000)
      const l = await system.ledger()
      expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress + l.unknown)
      const inner = core.otherPlaces as ClusterNode
      counts.push(
        [core.guardian.children!.size - life, core.extensions.size, inner.channels.size, inner.border.exchange.residents.exportedCount].join(),
      )
      expect(Cluster.of(system)).toBeUndefined()
    }
    expect(new Set(counts).size).toBe(1)
    expect(a!.cluster!.members.length).toBe(1)
    // A life that is over is not reached through the next one.
    expect(chainOf(core.otherPlaces)).toBe(1)
  }))

/** How many lives hang on each other. */
function chainOf(place: unknown): number {
  const seen = new Set<unknown>()
  const open = [place]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (!(at instanceof ClusterNode) || seen.has(at)) continue
    seen.add(at)
    open.push(at.before)
  }
  return seen.size
}

test('names of nodes that never come back leave nothing in the registry but notes of their ends', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const kind = a!.cluster!.sharded('cart', echo, { shards: 2 })
    for (let n = 0; n < 4; n++) {
      const [other] = await stage.nodes(`pod-${n}`)
      const theirs = other!.cluster!.sharded('cart', echo, { shards: 2 })
      await theirs.ready
      if (n % 2 === 0) other!.kill()
      else other!.leave()
      await stage.until('it is gone', () => a!.cluster!.members.length === 1)
    }
    await stage.until('a has all', () => kind.active.length === 2)
    await stage.wait(10_000)
    expect(stage.world.hub.store.list('host').map(({ key }) => key)).toEqual(['host.cart.a'])
  }))

test('a listener that throws keeps nobody from hearing', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const heard: string[] = []
    a!.cluster!.events.listen(() => {
      throw new Error('of the user')
    })
    a!.cluster!.events.listen(({ type, member }) => heard.push(`${member.session.node} ${type}`))
    const [b, c] = await stage.nodes('b', 'c')
    b!.kill()
    c!.kill()
    await stage.until('both are gone', () => a!.cluster!.members.length === 1)
    expect(heard.toSorted()).toEqual(['b ended', 'b joined', 'c ended', 'c joined'])
  }))

test('leaving twice is leaving once: all is handed over', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const order: number[] = []
    const note = (): Behavior<{ readonly n: number }> =>
      receive((_ctx, { n }) => {
        order.push(n)
        return same
      })
    const kinds = [a!, b!].map((node) => node.cluster!.sharded('cart', note, { shards: 16 }))
    await stage.until('all run', () => kinds[0]!.active.length + kinds[1]!.active.length === 16 && kinds[1]!.active.length > 0)
    for (let n = 0; n < 200; n++) kinds[0]!.ref(`id-${n % 40}`).tell({ n })
    const first = b!.cluster!.leave()
    const second = b!.cluster!.leave()
    expect(second).toBe(first)
    await first
    await stage.wait(2_000)
    expect(order.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 200 }, (_, n) => n))
    // It said so itself: nobody waited for its lease.
    expect(kinds[0]!.active.length).toBe(16)
  }))

test('where joining fails half way the session ends, and the system can join another time', () =>
  onStage(async (stage) => {
    await stage.nodes('a')
    const system = loner(stage, 'b')
    const failing: Engine = {
      name: 'failing',
      connect: (joining) => {
        const connection = connectTo(stage.world.hub, joining)
        connection.wire.open = () => Promise.reject(new Error('the wire cannot be opened'))
        return Promise.resolve(connection)
      },
    }
    await expect(join(stage, system, 'b', failing)).rejects.toThrow('the wire cannot be opened')
    expect(stage.world.hub.store.read('member.b')).toBeUndefined()
    const before = stage.world.sim.now
    const cluster = await join(stage, system, 'b')
    expect(stage.world.sim.now - before).toBeLessThan(stage.world.lease / 2)
    expect(cluster.members.map(({ session }) => session.node)).toEqual(['a', 'b'])
  }))

test('a system that is shut down while it joins is no member afterwards, and one that has left knows of none', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const system = loner(stage, 'b')
    const joining = join(stage, system, 'b')
    joining.catch(() => {})
    await stage.wait(1)
    const ending = system.shutdown()
    await expect(joining).rejects.toMatchObject({ code: 'not-allowed' })
    await ending
    await stage.until('a knows', () => a!.cluster!.members.length === 1)
    expect(stage.world.hub.store.read('member.b')).toBeUndefined()
    const cluster = await join(stage, loner(stage, 'c'), 'c')
    expect(cluster.members.length).toBe(2)
    await cluster.leave()
    expect(cluster.members).toEqual([])
  }))

test('a node with another lease is refused with both named', () =>
  onStage(async (stage) => {
    await stage.nodes('a')
    const refused = Cluster.join(loner(stage, 'b'), { name: 'sim', node: 'b', engine: engineOf(stage), lease: stage.world.lease + 1_000 })
    await expect(refused).rejects.toMatchObject({ code: 'lease-differs' })
    await expect(refused).rejects.toThrow(/4000 ms.*a#\d+ 3000 ms/)
  }))

test('an observer sees members, leases, shards and channels, by the cluster and by the name that its system has', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const kinds = [a!, b!].map((node) => node.cluster!.sharded('cart', echo, { shards: 8 }))
    await stage.until('all run', () => kinds[0]!.active.length + kinds[1]!.active.length === 8)
    for (let id = 0; id < 50; id++) kinds[0]!.ref(`id-${id}`).tell({ n: id })
    await stage.wait(1_000)
    const report = a!.cluster!.report()
    expect(Cluster.of(a!.system)).toBe(a!.cluster)
    const door = extensionOf(a!.system, 'cluster') as { report(): ClusterReport }
    expect(door.report()).toEqual(report)
    const [self, other] = report.nodes
    expect(report).toMatchObject({ name: 'sim', lease: stage.world.lease, refusedFrames: { late: 0, bad: 0, strangers: 0 } })
    expect(report.heldFor).toBeGreaterThan(0)
    expect(report.heldFor).toBeLessThanOrEqual(0.9 * stage.world.lease)
    expect(self).toMatchObject({ self: true, up: true, channel: undefined, shards: { cart: kinds[0]!.active.length } })
    expect(other).toMatchObject({ self: false, up: true, waiting: 0, shards: { cart: kinds[1]!.active.length } })
    expect(other!.unheard).toBeLessThan(stage.world.lease)
    expect(other!.channel).toMatchObject({ connection: 1, underWay: 0, queued: 0, held: 0, resent: 0 })
    expect(other!.channel!.frames).toBeGreaterThan(0)
    expect(other!.channel!.roundTrip).toBeGreaterThanOrEqual(0)
    expect(report.kinds).toEqual([{ kind: 'cart', shards: 8, unowned: 0, active: kinds[0]!.active.length, entities: kinds[0]!.entities, waiting: 0 }])
    stage.world.hub.isolate('a', true)
    await stage.until('a may not act', () => !a!.cluster!.held)
    kinds[0]!.ref('id-1').tell({ n: 1 })
    for (let id = 0; id < 50; id++) kinds[0]!.ref(`id-${id}`).tell({ n: id })
    await stage.wait(400)
    const away = a!.cluster!.report()
    expect(away.heldFor).toBe(0)
    expect(away.nodes[1]!.channel!.underWay).toBeGreaterThan(0)
    stage.world.hub.isolate('a', false)
    await stage.wait(3_000)
  }))

test('of two nodes with different journals that register a kind at the same time one has it, and the other is refused', () =>
  onStage(async (stage) => {
    // The registry answers at chance: which read comes before which write is different each time.
    stage.world.hub.registryFaults = { drop: 0, double: 0, delay: [1, 30], late: 0, latest: 0 }
    const outcomes = new Set<string>()
    for (let round = 0; round < 12; round++) {
      const names = [`a${round}`, `b${round}`]
      const nodes = names.map((name) => stage.world.start(name, { system: { extensions: [persistence({ journal: memoryJournal(), scope: name })] } }))
      await stage.until('both have joined', () => nodes.every((node) => node.isUp))
      const kind = `cart${round}`
      const register = (node: SimulatedNode): Promise<string> =>
        node.cluster!.sharded(kind, echo, { shards: 2, persistent: true }).ready.then(
          () => 'has it',
          (cause: { readonly code: string }) => cause.code,
        )
      const both = await Promise.all(nodes.map(register))
      outcomes.add(both.toSorted().join())
      expect(readKind(stage.world.hub.store.read(kindKey(kind))!.value)!.journal).toBeDefined()
      for (const node of nodes) node.leave()
      await stage.until('both have left', () => stage.world.up.length === 0)
    }
    expect([...outcomes]).toEqual(['has it,journal-differs'])
  }))

test('a kind that is persistent here and not there is refused', () =>
  onStage(async (stage) => {
    const journal = memoryJournal()
    const [a] = [stage.world.start('a', { system: { extensions: [persistence({ journal, scope: 'a' })] } })]
    const [b] = await stage.nodes('b')
    await a.cluster!.sharded('cart', echo, { shards: 2, persistent: true }).ready
    await expect(b!.cluster!.sharded('cart', echo, { shards: 2 }).ready).rejects.toMatchObject({ code: 'journal-differs' })
    await b!.cluster!.sharded('plain', echo, { shards: 2 }).ready
    await expect(a.cluster!.sharded('plain', echo, { shards: 2, persistent: true }).ready).rejects.toMatchObject({ code: 'journal-differs' })
  }))

test('K12: a node that leaves while its kind is only being registered, or while another joins, loses nothing', () =>
  onStage(
    async (stage) => {
      const got: string[] = []
      const note = (): Behavior<{ readonly n: string }> =>
        receive((_ctx, { n }) => {
          got.push(n)
          return same
        })
      const register = (node: SimulatedNode): Sharded<{ readonly n: string }> => node.cluster!.sharded('cart', note, { shards: 8 })
      const [a] = await stage.nodes('a')
      const kind = register(a!)
      await stage.until('a has all', () => kind.active.length === 8)
      const sent: string[] = []
      for (let round = 0; round < 6; round++) {
        // Writes are seen late, and hints come late or never.
        stage.world.hub.registryFaults = { drop: 0, double: 0, delay: [20, 120], late: 0.3, latest: 900 }
        const [b] = await stage.nodes(`b${round}`)
        const theirs = register(b!)
        const leaving = stage.wait(round * 60).then(() => b!.cluster!.leave())
        // Until it is gone: what is under way to it at last is what would be lost.
        for (let i = 0; b!.state !== 'left' || i < 40; i++) {
          for (const [from, at] of [['a', kind] as const, [`b${round}`, theirs] as const]) {
            const n = `${from} ${round} ${i}`
            if (from !== 'a' && !b!.isUp) continue
            sent.push(n)
            at.ref(`id-${i % 10}`).tell({ n })
          }
          await stage.wait(15)
        }
        stage.world.hub.registryFaults = { drop: 0, double: 0, delay: [1, 5], late: 0, latest: 0 }
        await leaving
        await stage.until('a has all again', () => kind.active.length === 8)
        await stage.wait(2_000)
      }
      expect(got.filter((n) => n.startsWith('a')).toSorted()).toEqual(sent.filter((n) => n.startsWith('a')).toSorted())
    },
    // With seed 158 the answers come so late that a node loses its session while it joins.
    { seeds: [1, 158] },
  ))
