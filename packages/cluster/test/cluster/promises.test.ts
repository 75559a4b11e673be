// What the design promises of shards in words, where nothing else says it: outages move nothing, and the last of a kind waits for a successor.

import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { eventSourced, type Kind, memory as memoryJournal, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import { readOwnership } from '../../src/sharding/ownership.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage } from './stage.ts'

type Count = { readonly type: 'add' } | { readonly type: 'get'; readonly replyTo: ActorRef<string> }

function counters(node: SimulatedNode): Sharded<Count> {
  const counter = (): Behavior<Count> => {
    let n = 0
    return receive<Count>((_ctx, message) => {
      if (message.type === 'add') n++
      else message.replyTo.tell(`${n} on ${node.node}`)
      return same
    })
  }
  return node.cluster!.sharded<Count>('counter', counter, { shards: 8, passivateAfter: false })
}

const sums: Kind<Count> = eventSourced('counter', {
  initial: () => 0,
  events: { added: (n: number) => n + 1 },
  commands: {
    add: (ctx) => ctx.persist({ type: 'added' }),
    get: (ctx, m) => ctx.tell(m.replyTo, `${ctx.state}`),
  },
})

test('K7: an append that the journal refuses stops that activation, which is not restarted; the next one is of a later epoch', () =>
  onStage(async (stage) => {
    const journal = memoryJournal()
    stage.world.nodeOptions = (name) => ({ system: { extensions: [persistence({ journal, scope: name })] } })
    const [a] = await stage.nodes('a')
    const kind = a!.cluster!.sharded<Count>('counter', sums, { shards: 1, persistent: true })
    await stage.until('it runs', () => kind.active.length === 1)
    kind.ref('x').tell({ type: 'add' })
    expect(await kind.ref('x').ask({ type: 'get' })).toBe('1')
    const phases: string[] = []
    let lives = 0
    a!.system.events.listen((event) => {
      const { type, ref, to } = event as { readonly type: string; readonly ref?: { readonly path: string }; readonly to?: string }
      if (ref?.path !== '/user/sharded-counter/x') return
      if (type === 'actor.spawned') lives++
      else if (type === 'actor.phase') phases.push(to!)
    })
    // As another owner does, of whom this node has not heard.
    const other = await journal.open({} as never)
    await other.raise('shard/counter/0', 40)
    kind.ref('x').tell({ type: 'add' })
    await stage.until('it ended', () => phases.includes('terminated'))
    expect(phases).not.toContain('restarting')
    expect(await kind.ref('x').ask({ type: 'get' }, { timeout: 20_000 })).toBe('1')
    expect(lives).toBe(1)
    const [entry] = stage.world.hub.store.list('own.counter')
    expect(readOwnership(entry!.value)!.epoch).toBeGreaterThan(40)
  }))

test('K11: an engine that is away for ten leases moves no shard and ends no session, and actors have what they had', () =>
  onStage(async (stage) => {
    const { hub, lease } = stage.world
    const nodes = await stage.nodes('a', 'b')
    const kinds = nodes.map(counters)
    await stage.until('all run', () => kinds[0]!.active.length + kinds[1]!.active.length === 8 && kinds.every(({ active }) => active.length > 0))
    const ids = Array.from({ length: 20 }, (_, i) => `${i}`)
    for (const id of ids) kinds[0]!.ref(id).tell({ type: 'add' })
    const answers = (): Promise<string[]> => Promise.all(ids.map((id) => kinds[0]!.ref(id).ask({ type: 'get' }, { timeout: 5_000 })))
    const before = await answers()
    const owners = (): unknown => hub.store.list('own.counter').map(({ key, value }) => [key, value])
    const owned = owners()
    expect(owned).toHaveLength(8)
    const ended: unknown[] = []
    for (const { cluster } of nodes) void cluster!.ended.then((cause) => ended.push(cause))
    hub.outage(true)
    await stage.wait(10 * lease)
    expect(nodes.map(({ cluster }) => cluster!.held)).toEqual([false, false])
    hub.outage(false)
    await stage.until('both act again', () => nodes.every(({ cluster }) => cluster!.held), 2 * lease)
    await stage.wait(3 * lease)
    expect(owners()).toEqual(owned)
    expect(ended).toEqual([])
    expect(await answers()).toEqual(before)
  }))

test('the last of a kind that leaves waits a lease for somebody to come, and hands over to whoever does; nothing is lost', () =>
  onStage(async (stage) => {
    const { lease, sim } = stage.world
    const [a, b] = await stage.nodes('a', 'b')
    const last = counters(a!)
    await stage.until('a has all', () => last.active.length === 8)
    const leaving = a!.cluster!.leave()
    await stage.wait(lease / 2)
    for (let n = 0; n < 10; n++) last.ref(`${n}`).tell({ type: 'add' })
    const next = counters(b!)
    await leaving
    await stage.until('b has all', () => next.active.length === 8)
    expect(await next.ref('1').ask({ type: 'get' }, { timeout: 5_000 })).toMatch(/ on b$/)
    const owners = stage.world.hub.store.list('own.counter').map(({ value }) => readOwnership(value)!)
    // Handed over, and not claimed for want of an owner.
    expect(owners.map(({ session, epoch }) => `${session.node} ${epoch}`)).toEqual(Array(8).fill('b 2'))
    expect(await b!.cluster!.ledger()).toMatchObject({ deadLettered: 0, unknown: 0, queued: 0 })

    // Of another that never has the kind no more than that is waited for; and where there is no other, nothing is.
    const c = stage.world.start('c')
    await stage.until('c has joined', () => c.isUp && b!.cluster!.members.length === 2)
    const since = sim.now
    await b!.cluster!.leave()
    expect(sim.now - since).toBeGreaterThan(lease * 0.9)
    expect(sim.now - since).toBeLessThan(lease + 3_000)
    const alone = counters(c)
    await stage.until('c has all', () => alone.active.length === 8)
    const then = sim.now
    await c.cluster!.leave()
    expect(sim.now - then).toBeLessThan(lease / 2)
  }))
