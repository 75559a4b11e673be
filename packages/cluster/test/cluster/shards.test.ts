// Sharded actors, step by step: where they live, how they move, and what is refused.

import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { eventSourced, type Kind, memory as memoryJournal, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import type { Cluster, Sharded, ShardedOptions } from '../../src/index.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Cart = { readonly type: 'add'; readonly n: number } | { readonly type: 'get'; readonly replyTo: ActorRef<string> }

/** Says where it is, and what it got. */
function cart(node: SimulatedNode, id: string): Behavior<Cart> {
  const got: number[] = []
  return receive<Cart>((_ctx, message) => {
    if (message.type === 'add') got.push(message.n)
    else message.replyTo.tell(`${id} on ${node.node}: ${got.join()}`)
    return same
  })
}

function carts(node: SimulatedNode, options: ShardedOptions<Cart> = {}): Sharded<Cart> {
  return node.cluster!.sharded<Cart>('cart', (id) => cart(node, id), { shards: 8, ...options })
}

async function allRun(stage: Stage, kinds: readonly Sharded<Cart>[], shards = 8): Promise<void> {
  await stage.until('all shards run', () => kinds.reduce((sum, kind) => sum + kind.active.length, 0) === shards)
}

test('an id lives on one node, and is told and asked from all', () =>
  onStage(async (stage) => {
    const nodes = await stage.nodes('a', 'b', 'c')
    const kinds = nodes.map((node) => carts(node))
    await allRun(stage, kinds)
    for (const kind of kinds) kind.ref('42').tell({ type: 'add', n: 1 })
    await stage.wait(1_000)
    const answers = await Promise.all(kinds.map((kind) => kind.ref('42').ask({ type: 'get' })))
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toBe(`42 on ${kinds[0]!.ownerOf('42')}: 1,1,1`)
    expect(kinds.reduce((sum, kind) => sum + kind.entities, 0)).toBe(1)
    // All nodes have some of them.
    expect(kinds.every((kind) => kind.active.length > 0)).toBe(true)
  }))

test('what waited for an owner, and for which no actor can be made, is a dead letter and counts no longer', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const kind = a!.cluster!.sharded<Cart>('cart', () => undefined as never, { shards: 8 })
    for (let n = 0; n < 3; n++) kind.ref('42').tell({ type: 'add', n })
    await allRun(stage, [kind])
    await stage.until('all were refused', () => a!.system.deadLetters.count === 3)
  }))

test('the ref of an id travels in messages, and is the same ref everywhere', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const kinds = [carts(a!), carts(b!)]
    await allRun(stage, kinds)
    let came: unknown
    b!.system.spawn(
      receive<{ readonly ref: ActorRef<Cart> }>((_ctx, { ref }) => {
        came = ref
        return same
      }),
      { name: 'taker' },
    )
    const taker = (await a!.cluster!.find('b', '/user/taker')) as ActorRef<{ ref: ActorRef<Cart> }>
    taker.tell({ ref: kinds[0]!.ref('7') })
    await stage.until('it came', () => came !== undefined)
    expect(came).toBe(kinds[1]!.ref('7'))
  }))

test('K9: what a killed node had runs elsewhere within the lease and 2 s', () =>
  onStage(async (stage) => {
    const nodes = await stage.nodes('a', 'b')
    const kinds = nodes.map((node) => carts(node))
    await allRun(stage, kinds)
    nodes[1]!.kill()
    const since = stage.world.sim.now
    await stage.until('a has all', () => kinds[0]!.active.length === 8)
    expect(stage.world.sim.now - since).toBeLessThanOrEqual(stage.world.lease + 2_000)
    for (const id of ['1', '2', '3', '4', '5']) expect(await kinds[0]!.ref(id).ask({ type: 'get' })).toBe(`${id} on a: `)
  }))

test('a node that joins is handed its share, and nothing is lost or overtaken meanwhile', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const kind = carts(a!)
    await allRun(stage, [kind])
    const ids = ['ann', 'bob', 'cat', 'dan', 'eve', 'fay', 'gus', 'hal', 'ivy']
    let n = 0
    const tellAll = (): void => {
      n++
      for (const id of ids) kind.ref(id).tell({ type: 'add', n })
    }
    tellAll()
    const b = stage.world.start('b')
    await stage.until('b has joined', () => b.isUp)
    carts(b)
    for (let i = 0; i < 400; i++) {
      tellAll()
      await stage.wait(5)
    }
    const answers = await Promise.all(ids.map((id) => kind.ref(id).ask({ type: 'get' })))
    const moved = answers.filter((answer) => answer.includes('on b'))
    expect(moved.length).toBeGreaterThan(0)
    // What was handled before the move is of the actor that was there: what came after is whole and in order.
    for (const answer of answers) {
      const got = answer
        .slice(answer.indexOf(': ') + 2)
        .split(',')
        .map(Number)
      expect(got).toEqual(Array.from({ length: got.length }, (_, i) => n - got.length + 1 + i))
    }
  }))

test('K12: a node that leaves hands over, and loses nothing', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const kinds = [carts(a!), carts(b!)]
    await allRun(stage, kinds)
    const handled = (): Promise<number> => a!.cluster!.ledger().then((l) => l.handled)
    const before = await handled()
    for (let n = 1; n <= 100; n++) for (const id of ['1', '2', '3', '4']) kinds[0]!.ref(id).tell({ type: 'add', n })
    b!.leave()
    for (let n = 101; n <= 200; n++) for (const id of ['1', '2', '3', '4']) kinds[0]!.ref(id).tell({ type: 'add', n })
    await stage.until('b left', () => b!.state === 'left')
    await stage.until('a has all', () => kinds[0]!.active.length === 8)
    const ledger = await a!.cluster!.ledger()
    expect(ledger).toMatchObject({ unknown: 0, deadLettered: 0, queued: 0 })
    expect(ledger.handled - before).toBeGreaterThanOrEqual(800)
  }))

test('an actor that nobody tells anything leaves, and comes back when it is needed', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const kind = carts(a!, { passivateAfter: 1_000 })
    await allRun(stage, [kind])
    kind.ref('1').tell({ type: 'add', n: 1 })
    await stage.until('it is there', () => kind.entities === 1)
    await stage.until('it has left', () => kind.entities === 0, 5_000)
    expect(await kind.ref('1').ask({ type: 'get' })).toBe('1 on a: ')
  }))

test('K10: cut off from the engine a node begins no handler past its lease, and goes on when it is back in time', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const kind = carts(a!)
    await allRun(stage, [kind])
    expect(await kind.ref('1').ask({ type: 'get' })).toBe('1 on a: ')
    stage.world.hub.outage(true)
    await stage.wait(stage.world.lease)
    kind.ref('1').tell({ type: 'add', n: 1 })
    await stage.wait(2_000)
    expect((await a!.system.ledger()).queued).toBe(1)
    stage.world.hub.outage(false)
    await stage.until('it was handled', () => a!.cluster!.held)
    expect(await kind.ref('1').ask({ type: 'get' })).toBe('1 on a: 1')
  }))

test('a node whose session ends while it is cut off loses its actors with ownership-lost', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const kinds = [carts(a!), carts(b!)]
    await allRun(stage, kinds)
    let lost: unknown
    b!.system.events.listen((event) => {
      const { type, cause } = event as { readonly type: string; readonly cause?: { readonly code?: string } }
      if (type === 'actor.terminated' && cause?.code !== undefined) lost = cause.code
    })
    const ids = Array.from({ length: 40 }, (_, i) => String(i))
    for (const id of ids) await kinds[0]!.ref(id).ask({ type: 'get' })
    b!.isolate(20_000)
    await stage.until('a has all', () => kinds[0]!.active.length === 8)
    await stage.until('b knows', () => b!.state === 'ended')
    await stage.until('its actors ended', () => lost !== undefined)
    expect(lost).toBe('ownership-lost')
    const watched = kinds[1]!.ref('1')
    watched.tell({ type: 'add', n: 1 })
    expect(b!.system.deadLetters.list().at(-1)!.reason).toBe('stopped')
  }))

test('messages of an earlier version are brought up to date, and what is not accepted is a dead letter', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const got: unknown[] = []
    const accepts = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: (value: unknown) => ((value as { type?: string }).type === 'put' ? { value } : { issues: [{ message: 'unknown' }] }),
      },
    }
    const put = (): Behavior<object> =>
      receive<object>((_ctx, message) => {
        got.push(message)
        return same
      })
    const old = a!.cluster!.sharded<object>('thing', put, { shards: 2, role: 'new' })
    const upcast = (message: unknown, version: number): object | undefined =>
      (message as { type?: string }).type === 'old' ? { type: 'put', was: version } : undefined
    const now = b!.cluster!.sharded<object>('thing', put, { shards: 2, version: 2, upcast, accepts })
    await stage.until('both run on b', () => now.active.length === 2)
    old.ref('1').tell({ type: 'old' })
    old.ref('1').tell({ type: 'older' })
    now.ref('1').tell({ type: 'put' })
    now.ref('1').tell({ type: 'future' })
    await stage.until('two came', () => got.length === 2)
    await stage.wait(100)
    expect(got).toEqual(expect.arrayContaining([{ type: 'put', was: 1 }, { type: 'put' }]))
    expect(b!.system.deadLetters.list().map(({ reason }) => reason)).toEqual(['not-accepted', 'not-accepted'])
  }))

test('a singleton runs once, from the start, and again elsewhere when its node is gone', () =>
  onStage(async (stage) => {
    const started: string[] = []
    const clock = (node: SimulatedNode): Behavior<Cart> =>
      receive<Cart>(
        (_ctx, message) => {
          if (message.type === 'get') message.replyTo.tell(node.node)
          return same
        },
        (_ctx, signal) => {
          if (signal.type === 'PreStart') started.push(node.node)
          return same
        },
      )
    const nodes = await stage.nodes('a', 'b')
    const refs = nodes.map((node) => node.cluster!.singleton('clock', clock(node)))
    await stage.until('it has started', () => started.length === 1)
    await stage.wait(3_000)
    expect(started).toHaveLength(1)
    expect(await refs[0]!.ask({ type: 'get' })).toBe(started[0])
    expect(await refs[1]!.ask({ type: 'get' })).toBe(started[0])
    const [had, other] = started[0] === 'a' ? [nodes[0]!, 1] : [nodes[1]!, 0]
    had.kill()
    await stage.until('it runs elsewhere', () => started.length === 2)
    expect(await refs[other]!.ask({ type: 'get' })).toBe(nodes[other]!.node)
  }))

const counter: Kind<Cart> = eventSourced('cart', {
  initial: () => '',
  events: { added: (state: string, event: { n: number }) => `${state}${event.n}` },
  commands: {
    add: (ctx, m: { n: number }) => ctx.persist({ type: 'added', n: m.n }),
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})

test('K7: persistent actors recover on another node, and the journal has a greater epoch', () =>
  onStage(async (stage) => {
    const journal = memoryJournal()
    stage.world.nodeOptions = (name) => ({ system: { extensions: [persistence({ journal, scope: name })] } })
    const nodes = await stage.nodes('a', 'b')
    const kinds = nodes.map((node) => node.cluster!.sharded<Cart>('cart', counter, { shards: 8, persistent: true }))
    await allRun(stage, kinds)
    for (const id of ['1', '2', '3', '4', '5', '6']) {
      kinds[0]!.ref(id).tell({ type: 'add', n: 7 })
      expect(await kinds[0]!.ref(id).ask({ type: 'get' })).toBe('7')
    }
    nodes[1]!.kill()
    for (const id of ['1', '2', '3', '4', '5', '6']) {
      expect(await kinds[0]!.ref(id).ask({ type: 'get' }, { timeout: 20_000 })).toBe('7')
      kinds[0]!.ref(id).tell({ type: 'add', n: 8 })
      expect(await kinds[0]!.ref(id).ask({ type: 'get' })).toBe('78')
    }
  }))

// Bad input: each refused by name.

async function refusal(act: () => unknown): Promise<unknown> {
  try {
    await act()
    return undefined
  } catch (cause) {
    return (cause as { readonly code?: string }).code
  }
}

test('kinds that cannot be are refused by name', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const cluster = a!.cluster as Cluster
    const make = (): Behavior<never> => receive<never>(() => same)
    expect(await refusal(() => cluster.sharded('a.b', make))).toBe('invalid-option')
    expect(await refusal(() => cluster.sharded('a', 5 as never))).toBe('invalid-option')
    for (const bad of [
      { shards: 0 },
      { shards: 1e9 },
      { passivateAfter: -1 },
      { role: 'x y' },
      { version: 0 },
      { upcast: 1 },
      { accepts: {} },
      { other: 1 },
    ])
      expect(await refusal(() => cluster.sharded('a', make, bad as never))).toBe('invalid-option')
    expect(await refusal(() => cluster.sharded('a', make, { persistent: true }))).toBe('not-allowed')
    const kind = cluster.sharded('a', make)
    expect(await refusal(() => cluster.sharded('a', make))).toBe('not-allowed')
    expect(await refusal(() => kind.ref(''))).toBe('invalid-option')
    expect(await refusal(() => cluster.leave({ deadline: Number.NaN }))).toBe('invalid-option')
  }))

test('a node with another number of shards is refused, and the others go on', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const kind = carts(a!)
    await allRun(stage, [kind])
    const other = carts(b!, { shards: 16 })
    expect(await refusal(() => other.ready)).toBe('kind-differs')
    expect(await kind.ref('1').ask({ type: 'get' })).toBe('1 on a: ')
  }))

test('a node with another journal is refused for a persistent kind', () =>
  onStage(async (stage) => {
    stage.world.nodeOptions = (name) => ({ system: { extensions: [persistence({ journal: memoryJournal(), scope: name })] } })
    const [a, b] = await stage.nodes('a', 'b')
    const make = { shards: 4, persistent: true } as const
    const kind = a!.cluster!.sharded<Cart>('cart', counter, make)
    await allRun(stage, [kind], 4)
    const other = b!.cluster!.sharded<Cart>('cart', counter, make)
    expect(await refusal(() => other.ready)).toBe('journal-differs')
    expect(await kind.ref('1').ask({ type: 'get' })).toBe('')
  }))

test('a persistent actor of a kind that is not said to be persistent does not start', () =>
  onStage(async (stage) => {
    stage.world.nodeOptions = (name) => ({ system: { extensions: [persistence({ journal: memoryJournal(), scope: name })] } })
    const [a] = await stage.nodes('a')
    const kind = a!.cluster!.sharded<Cart>('cart', counter, { shards: 4 })
    await allRun(stage, [kind], 4)
    await expect(kind.ref('1').ask({ type: 'get' }, { timeout: 1_000 })).rejects.toMatchObject({ code: expect.any(String) })
    expect(kind.entities).toBeLessThanOrEqual(1)
  }))

test('a ref of a kind that this node has not registered leads to dead letters unknown-kind', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const kind = carts(a!)
    await allRun(stage, [kind])
    b!.system.spawn(
      receive<{ readonly ref: ActorRef<Cart> }>((_ctx, { ref }) => {
        ref.tell({ type: 'add', n: 1 })
        return same
      }),
      { name: 'taker' },
    )
    const taker = (await a!.cluster!.find('b', '/user/taker')) as ActorRef<{ ref: ActorRef<Cart> }>
    taker.tell({ ref: kind.ref('7') })
    await stage.until('it was refused', () => b!.system.deadLetters.list().length === 1)
    expect(b!.system.deadLetters.list()[0]!.reason).toBe('unknown-kind')
  }))
