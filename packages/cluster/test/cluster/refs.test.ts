// Refs of actors of other nodes: told, asked, offered, watched and passed on as those of this one are.

import { ActorError, type ActorRef, ActorSystem, type AnyRef, bounded, receive, reject, same, type Signal } from '@troupe/core'
import { homeOf, type ProxyCell } from '@troupe/border'
import { cellOf, coreOf } from '@troupe/core/internal'
import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { Cluster, memory } from '../../src/index.ts'
import type { ClusterNode } from '../../src/node/cluster-node.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage } from './stage.ts'

type Echo =
  | { readonly type: 'echo'; readonly text: string; readonly replyTo: ActorRef<string> }
  | { readonly type: 'note'; readonly value: unknown }
  | { readonly type: 'fail' }
  | { readonly type: 'bad'; readonly replyTo: ActorRef<never> }
  | { readonly type: 'reject'; readonly replyTo: ActorRef<string> }
  | { readonly type: 'hold'; readonly until: Promise<void> }

/** An actor that keeps what it is told; and its ref on another node. */
async function echo(on: SimulatedNode, from: SimulatedNode): Promise<{ ref: ActorRef<Echo>; own: AnyRef; got: unknown[] }> {
  const got: unknown[] = []
  const own = on.system.spawn(
    receive<Echo>((_ctx, message) => {
      if (message.type === 'echo') message.replyTo.tell(message.text)
      else if (message.type === 'reject') reject(message.replyTo, Object.assign(new Error('not today'), { code: 'closed' }))
      else if (message.type === 'bad') throw new ActorError('no such cart', { labels: { cart: '42' } })
      else if (message.type === 'fail') throw new Error('boom')
      else if (message.type === 'note') got.push(message.value)
      return same
    }),
    { name: 'echo', supervision: 'resume' },
  )
  const ref = (await from.cluster!.find(on.node, '/user/echo')) as ActorRef<Echo>
  return { ref, own, got }
}

test('an actor of another node is told, asked and offered', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref, got } = await echo(b!, a!)
    expect(ref.path).toBe('//b/user/echo')
    ref.tell({ type: 'note', value: { at: new Date(7), list: [1, 'x', null], map: new Map([[1, 2n]]) } })
    expect(await ref.ask({ type: 'echo', text: 'hello' })).toBe('hello')
    expect(got).toEqual([{ at: new Date(7), list: [1, 'x', null], map: new Map([[1, 2n]]) }])
    await ref.offer({ type: 'note', value: 2 })
    await stage.until('the offer came', () => got.length === 2)
  }))

test('an ask fails with the code and the fields that its handler threw', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref } = await echo(b!, a!)
    await expect(ref.ask({ type: 'bad' } as never)).rejects.toMatchObject({ code: 'actor-error', message: 'no such cart', labels: { cart: '42' } })
    await expect(ref.ask({ type: 'unknown' } as never, { timeout: 500 })).rejects.toMatchObject({ code: 'ask-timeout' })
  }))

test('an ask that is rejected carries the error with its code, and the actor has not failed', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref } = await echo(b!, a!)
    await expect(ref.ask({ type: 'reject' })).rejects.toMatchObject({ code: 'ask-rejected', cause: { code: 'closed', message: 'not today' } })
    expect(b!.system.failures.list()).toEqual([])
    expect(await ref.ask({ type: 'echo', text: 'still here' })).toBe('still here')
  }))

test('what cannot go to another machine is a dead letter not-transferable, and its ask is refused', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref, got } = await echo(b!, a!)
    ref.tell({ type: 'note', value: () => 1 })
    ref.tell({ type: 'note', value: new SharedArrayBuffer(8) })
    ref.tell({ type: 'note', value: 'x'.repeat(5_000_000) })
    await expect(ref.ask({ type: 'note', value: Symbol('s') } as never)).rejects.toMatchObject({ code: 'ask-refused' })
    ref.tell({ type: 'note', value: 'y'.repeat(900_000) })
    await stage.until('the large one came', () => got.length === 1)
    expect(a!.system.deadLetters.list().map(({ reason }) => reason)).toEqual(Array.from({ length: 4 }, () => 'not-transferable'))
  }))

test('a ref that goes from node to node leads home, and is itself there', () =>
  onStage(async (stage) => {
    const [a, b, c] = await stage.nodes('a', 'b', 'c')
    const { ref: bFromA, got: atB } = await echo(b!, a!)
    const { own, got: atC } = await echo(c!, a!)
    const cFromA = (await a!.cluster!.find('c', '/user/echo')) as ActorRef<Echo>
    bFromA.tell({ type: 'note', value: cFromA })
    await stage.until('the ref came to b', () => atB.length === 1)
    const cFromB = atB[0] as ActorRef<Echo>
    expect(await cFromB.ask({ type: 'echo', text: 'by b' })).toBe('by b')
    cFromB.tell({ type: 'note', value: cFromB })
    await stage.until('it came home', () => atC.length === 1)
    expect(atC[0]).toBe(own)
    expect(await a!.cluster!.find('c', '/user/echo')).toBe(cFromA)
  }))

test('a watch of an actor that stops, of one that is gone and of one whose node is killed yields one Terminated each', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref, own } = await echo(b!, a!)
    const heard: (Signal & { readonly type: 'Terminated' })[] = []
    const watcher = a!.system.spawn(
      receive<never>(
        () => same,
        (_ctx, signal) => {
          if (signal.type === 'Terminated') heard.push(signal)
          return same
        },
      ),
    )
    const other = b!.system.spawn(
      receive<never>(() => same),
      { name: 'other' },
    )
    const otherRef = (await a!.cluster!.find('b', '/user/other'))!
    a!.system.watch(ref, watcher)
    b!.system.stop(own)
    await stage.until('its end was told', () => heard.length === 1)
    expect(heard[0]).toMatchObject({ reason: 'normal', ref })
    a!.system.unwatch(ref, watcher)
    a!.system.watch(ref, watcher)
    await stage.until('the end of one that is gone was told', () => heard.length === 2)
    a!.system.watch(otherRef, watcher)
    const since = stage.world.sim.now
    b!.kill()
    await stage.until('the loss was told', () => heard.length === 3)
    expect(stage.world.sim.now - since).toBeLessThanOrEqual(stage.world.lease + 2_000)
    expect(heard[2]).toMatchObject({ reason: 'failure', cause: { code: 'node-lost', session: { node: 'b' } } })
    a!.system.unwatch(otherRef, watcher)
    a!.system.watch(otherRef, watcher)
    await stage.until('the end of a node that is gone was told', () => heard.length === 4)
    expect(heard[3]).toMatchObject({ reason: 'failure', cause: { code: 'node-lost' } })
    expect(other.path).toBe('/user/other')
  }))

test('the loss of a node rejects what it was asked, at once when its end is recorded', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    b!.system.spawn(
      receive<never>(() => same),
      { name: 'mute' },
    )
    const mute = (await a!.cluster!.find('b', '/user/mute')) as ActorRef<Echo>
    const asked = mute.ask({ type: 'echo', text: '' }, { timeout: 100_000 })
    const rejected = asked.then(
      () => 0,
      (cause: unknown) => ({ at: stage.world.sim.now, cause }),
    )
    await stage.wait(1_000)
    b!.kill()
    const how = await rejected
    expect(how).toMatchObject({ cause: { code: 'node-lost' } })
    expect((how as { at: number }).at - stage.world.over.get(b!.name)!).toBeLessThanOrEqual(2_000)
    mute.tell({ type: 'fail' })
    expect(a!.system.deadLetters.list().at(-1)).toMatchObject({ reason: 'stopped' })
  }))

test('toward a node that is cut off at most 64 MiB wait, and more are dead letters node-behind; they arrive when it is back', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref, got } = await echo(b!, a!)
    const text = 'x'.repeat(500_000)
    stage.world.hub.cut('a', 'b', true)
    for (let i = 0; i < 200; i++) ref.tell({ type: 'note', value: text })
    await stage.wait(100)
    const behind = a!.system.deadLetters.list().filter(({ reason }) => reason === 'node-behind').length
    expect(behind).toBeGreaterThan(50)
    expect(behind).toBeLessThan(80)
    // An offer waits for credit, and is no dead letter.
    let offered = false
    void ref.offer({ type: 'note', value: 'offered' }).then(() => (offered = true))
    await stage.wait(100)
    expect(offered).toBe(false)
    stage.world.hub.cut('a', 'b', false)
    await stage.until('what waited arrived', () => got.length === 200 - behind + 1)
    expect(offered).toBe(true)
    expect(await a!.cluster!.ledger()).toMatchObject({ queued: 0, unknown: 0, deadLettered: behind })
  }))

test('what waits for an actor of another node that has ended is a dead letter, and its bytes are free for others', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref, own } = await echo(b!, a!)
    const watcher = a!.system.spawn(receive<never>(() => same))
    a!.system.watch(watcher, ref)
    // Takes nothing, so that what follows waits for credit.
    ref.tell({ type: 'echo', text: 'first' } as never)
    b!.system.suspend(own, 'a test')
    await stage.wait(100)
    for (let i = 0; i < 100; i++) ref.tell({ type: 'note', value: 'x'.repeat(50_000) })
    await stage.wait(1_000)
    const { exchange } = (coreOf(a!.system).otherPlaces as ClusterNode).border
    const place = homeOf((cellOf(ref) as ProxyCell).far)
    expect(exchange.waitingFor(place)).toBeGreaterThan(1_000_000)
    b!.system.kill(own)
    await stage.until('all that waited was dropped', () => exchange.unsent === 0)
    expect(exchange.waitingFor(place)).toBe(0)
  }))

test('a node whose session has ended refuses mail for others, those included that it hears of later', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const node = coreOf(a!.system).otherPlaces as ClusterNode
    const [other] = node.others()
    a!.isolate(20_000)
    await stage.until('its session has ended', () => a!.state === 'ended')
    for (const session of [other!, { node: 'c', number: 7 }]) expect(node.post.send(session, ['ping', '', 1])).toBe(false)
    expect(await node.post.flushed([other!], 1_000)).toBe(true)
    expect(node.border.exchange.unsent).toBe(0)
    expect(b!.state).toBe('alive')
  }))

test('offers and questions to a node that is cut off are not kept when they were given up', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref, got } = await echo(b!, a!)
    stage.world.hub.cut('a', 'b', true)
    const text = 'x'.repeat(100_000)
    // Fills the way.
    for (let i = 0; i < 30; i++) ref.tell({ type: 'note', value: text })
    const abort = new AbortController()
    let cancelled = 0
    for (let i = 0; i < 100; i++) void ref.offer({ type: 'note', value: text }, { signal: abort.signal }).catch(() => cancelled++)
    const { exchange } = (coreOf(a!.system).otherPlaces as ClusterNode).border
    const { wire, far } = cellOf(ref) as ProxyCell
    const place = homeOf(far)
    expect(wire.waitingOffers).toBe(100)
    const before = exchange.waitingFor(place)
    let expired = 0
    for (let i = 0; i < 100; i++) void ref.ask({ type: 'echo', text }, { timeout: 200 }).catch(() => expired++)
    expect(exchange.waitingFor(place)).toBeGreaterThan(before + 9_000_000)
    abort.abort()
    await stage.until('all were given up', () => cancelled === 100 && expired === 100)
    await stage.wait(2_000)
    expect(exchange.waitingFor(place)).toBe(before)
    expect(wire.waitingOffers).toBe(0)
    stage.world.hub.cut('a', 'b', false)
    await stage.until('the notes came', () => got.length === 30)
    expect(await a!.cluster!.ledger()).toMatchObject({ queued: 0, unknown: 0, dropped: 100 })
  }))

test('bytes count as all else does: at most 64 MiB of them wait, and those that fit a frame cross it whole', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref, got } = await echo(b!, a!)
    const bytes = Uint8Array.from({ length: 700_000 }, (_, i) => i % 251)
    ref.tell({ type: 'note', value: bytes })
    ref.tell({ type: 'note', value: { views: [bytes.subarray(0, 5), bytes] } })
    await stage.until('both came', () => got.length === 2)
    expect(Buffer.compare(got[0] as Uint8Array, bytes)).toBe(0)
    const { views } = got[1] as { views: [Uint8Array, Uint8Array] }
    expect(Buffer.compare(views[1], bytes)).toBe(0)
    expect(views[0].buffer).toBe(views[1].buffer)
    stage.world.hub.cut('a', 'b', true)
    for (let i = 0; i < 150; i++) ref.tell({ type: 'note', value: bytes })
    await stage.wait(100)
    const behind = a!.system.deadLetters.list().filter(({ reason }) => reason === 'node-behind').length
    expect(behind).toBeGreaterThan(45)
    expect(behind).toBeLessThan(60)
    stage.world.hub.cut('a', 'b', false)
    await stage.until('what waited arrived', () => got.length === 152 - behind)
    // What does not fit is refused where it is sent, and says why.
    ref.tell({ type: 'note', value: new Uint8Array(4_194_304) })
    ref.tell({ type: 'note', value: 'still here' })
    await stage.until('the next came', () => got.at(-1) === 'still here')
    expect(a!.system.deadLetters.list().at(-1)!.reason).toBe('not-transferable')
  }))

test('an actor that takes nothing holds back 1 MiB, and its sender the rest', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    let go = (): void => {}
    const held = new Promise<void>((resolve) => (go = resolve))
    let handled = 0
    const slow = b!.system.spawn(
      receive<Echo>(async () => {
        handled++
        await held
        return same
      }),
      { name: 'slow' },
    )
    const ref = (await a!.cluster!.find('b', '/user/slow')) as ActorRef<Echo>
    for (let i = 0; i < 400; i++) ref.tell({ type: 'note', value: 'x'.repeat(10_000) })
    await stage.wait(5_000)
    const [local] = (await b!.system.inspect(slow)).queued === 0 ? [0] : [(await b!.system.inspect(slow)).queued]
    expect(local).toBeLessThanOrEqual(115)
    expect(handled).toBe(1)
    go()
    await stage.until('all were handled', () => handled === 400)
  }))

test('a bounded mailbox of another node keeps its policy', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    b!.system.spawn(
      receive<Echo>(() => stage.wait(100_000).then(() => same)),
      { name: 'full', mailbox: bounded(10, 'drop-newest') },
    )
    const ref = (await a!.cluster!.find('b', '/user/full')) as ActorRef<Echo>
    for (let i = 0; i < 50; i++) ref.tell({ type: 'note', value: i })
    await stage.wait(1_000)
    const { sent, dropped, queued, inProgress } = await a!.cluster!.ledger()
    expect({ sent, lost: dropped + queued + inProgress, queued: queued <= 10 }).toEqual({ sent: 50, lost: 50, queued: true })
  }))

test('the ledger of a node adds up by itself, and that of the cluster names a node that is silent', () =>
  onStage(
    async (stage) => {
      const [a, b] = await stage.nodes('a', 'b')
      const { ref } = await echo(b!, a!)
      for (let i = 0; i < 10; i++) ref.tell({ type: 'note', value: i })
      await stage.wait(1_000)
      expect(await a!.system.ledger()).toMatchObject({ sent: 0, handled: 0 })
      expect(await b!.system.ledger()).toMatchObject({ sent: 10, handled: 10 })
      expect(await a!.cluster!.ledger()).toMatchObject({ sent: 10, handled: 10, unknown: 0 })
      b!.place.hang()
      stage.world.sim.after(8_000, () => b!.place.goOn())
      await expect(a!.cluster!.ledger()).rejects.toMatchObject({ code: 'ledger-incomplete', silent: [b!.name] })
    },
    { lease: 30_000 },
  ))

test('the trees of all nodes are had from one', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    await echo(b!, a!)
    const trees = await a!.cluster!.inspect()
    expect(trees.map(({ node }) => node)).toEqual(['a', 'b'])
    expect(trees[1]!.tree!.children.map(({ name }) => name)).toEqual(['echo'])
  }))

test('a node that leaves is gone at once, and what it had sent arrives', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { ref, got } = await echo(b!, a!)
    for (let i = 0; i < 1_000; i++) ref.tell({ type: 'note', value: i })
    const since = stage.world.sim.now
    a!.leave()
    await stage.until('it left', () => b!.cluster!.members.length === 1)
    expect(stage.world.sim.now - since).toBeLessThan(1_000)
    expect(got).toHaveLength(1_000)
    expect(await b!.cluster!.ledger()).toMatchObject({ unknown: 0, deadLettered: 0, queued: 0 })
    // The one that left can join again, with the same system.
    await stage.until('it has left', () => a!.state === 'left')
    ref.tell({ type: 'fail' })
    expect(a!.system.deadLetters.list().at(-1)).toMatchObject({ reason: 'stopped' })
  }))

test('bad input to join is refused by name', async () => {
  const kit = createTestKit()
  const { system } = kit
  const engine = memory()
  const good = { name: 'shop', node: 'a', engine }
  await expect(Cluster.join({} as never, good)).rejects.toMatchObject({ code: 'invalid-option' })
  for (const bad of [{ name: 'a.b' }, { node: '' }, { engine: {} }, { roles: ['x y'] }, { lease: 10 }, { lease: Number.NaN }, { unknown: 1 }])
    await expect(Cluster.join(system, { ...good, ...bad } as never)).rejects.toMatchObject({ code: 'invalid-option' })
  const joining = Cluster.join(system, good)
  await expect(Cluster.join(system, good)).rejects.toMatchObject({ code: 'not-allowed' })
  await kit.advance(1_000)
  const cluster = await joining
  const other = ActorSystem.create('other', { runtime: 'manual' })
  expect(cluster.members).toHaveLength(1)
  void cluster.leave()
  await kit.advance(10_000)
  await kit.end()
  await other.shutdown()
})

test('a name that a living node has is refused', () =>
  onStage(async (stage) => {
    await stage.nodes('a', 'b')
    const again = stage.world.start('b')
    await stage.until('it was refused', () => again.state === 'refused')
    expect(again.refusal).toMatchObject({ code: 'node-name-taken' })
  }))
