// K6, C10 for sharded actors that are slower than what is sent to them from other nodes: their mailboxes hold what they may, offers wait for room, the
// rest waits where it was sent, and no other actor waits with it.

import { type ActorRef, type ActorSystem, type Behavior, bounded, type MailboxKind, receive, same, withOptions } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import type { ClusterNode } from '../../src/node/cluster-node.ts'
import { shardOf } from '../../src/sharding/desired.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Job =
  | { readonly type: 'job'; readonly n: number; readonly bytes?: Uint8Array }
  | { readonly type: 'fail' }
  | { readonly type: 'get'; readonly replyTo: ActorRef<number> }

/** Jobs begin while the gate is open; each that finds it closed waits for it. */
class Gate {
  #open: (() => void)[] | undefined = []
  pass(): Promise<void> | undefined {
    const waiting = this.#open
    return waiting === undefined ? undefined : new Promise((resolve) => void waiting.push(resolve))
  }
  open(): void {
    const waiting = this.#open ?? []
    this.#open = undefined
    for (const go of waiting) go()
  }
}

interface Works {
  readonly kinds: Map<string, Sharded<Job>>
  /** Jobs that began, in order, by id. */
  readonly begun: Map<string, number[]>
  readonly gate: Gate
}

const nodeOf = (system: ActorSystem): ClusterNode => coreOf(system).otherPlaces as ClusterNode
const accountsOf = ({ system }: SimulatedNode): { readonly count: number; readonly waiting: number; readonly offers: number } =>
  nodeOf(system).regions.get('works')!.accounts
const nothing = { count: 0, waiting: 0, offers: 0 }

/** Messages that a node has in mailboxes of the kind, and in front of them. */
async function heldBy(node: SimulatedNode): Promise<number> {
  const { queued } = await node.system.ledger()
  return queued - accountsOf(node).waiting
}

/** A kind whose actors wait at the gate, unless their id begins with `quick`. Only nodes with the role have it. */
function works(stage: Stage, hosts: readonly string[], mailbox?: MailboxKind): Works {
  const { world } = stage
  const all: Works = { kinds: new Map(), begun: new Map(), gate: new Gate() }
  world.nodeOptions = (name) => ({ roles: hosts.includes(name) ? ['works'] : [] })
  const make = (id: string): Behavior<Job> => {
    const behavior = receive<Job>((_ctx, message) => {
      if (message.type === 'fail') throw new Error('asked to fail')
      if (message.type === 'get') message.replyTo.tell(all.begun.get(id)?.length ?? 0)
      else {
        const list = all.begun.get(id)
        if (list === undefined) all.begun.set(id, [message.n])
        else list.push(message.n)
      }
      const wait = id.startsWith('quick') ? undefined : all.gate.pass()
      return wait === undefined ? same : wait.then(() => same)
    })
    return mailbox === undefined ? behavior : withOptions(behavior, { mailbox })
  }
  world.onJoin = (node) => {
    const kind = node.cluster!.sharded<Job>('works', make, { shards: 4, role: 'works', stopTimeout: 200, passivateAfter: false })
    all.kinds.set(node.node, kind)
  }
  return all
}

async function owned(stage: Stage, { kinds }: Works, from: string, ids: readonly string[], by: readonly string[]): Promise<Sharded<Job>> {
  const kind = kinds.get(from)!
  await stage.until('all have owners', () => ids.every((id) => by.includes(kind.ownerOf(id) ?? '')))
  return kind
}

/** Offers so many, one by one without waiting; counts those that were taken and refused. */
function offers(ref: ActorRef<Job>, count: number, from = 0): { taken: number; refused: unknown[] } {
  const outcome = { taken: 0, refused: [] as unknown[] }
  for (let n = from; n < from + count; n++)
    void ref.offer({ type: 'job', n }).then(
      () => outcome.taken++,
      (cause: unknown) => outcome.refused.push(cause),
    )
  return outcome
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

test('an offer to an actor of another node waits for room in its mailbox', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b'], bounded(100, 'block'))
    const [a, b] = await stage.nodes('a', 'b')
    const kind = await owned(stage, all, 'a', ['slow'], ['b'])
    const outcome = offers(kind.ref('slow'), 1_000)
    await stage.wait(5_000)
    // One is being handled, 100 are in the mailbox; an eighth of it may be on the way.
    expect(outcome.taken).toBeGreaterThanOrEqual(101)
    expect(outcome.taken).toBeLessThanOrEqual(101 + 12)
    expect(await heldBy(b!)).toBeLessThanOrEqual(101 + 12)
    all.gate.open()
    await stage.until('all were taken', () => outcome.taken === 1_000)
    await stage.until('all were handled', () => all.begun.get('slow')!.length === 1_000)
    expect(all.begun.get('slow')).toEqual(numbers(1_000))
    for (const node of [a!, b!]) expect(node.system.deadLetters.list()).toEqual([])
    await stage.wait(100)
    expect([accountsOf(a!), accountsOf(b!), nodeOf(a!.system).credits.size]).toEqual([nothing, nothing, 0])
  }))

test('an offer on the node of its actor waits for room, too, and for its successor', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b'], bounded(10, 'block'))
    const [, b] = await stage.nodes('a', 'b')
    const kind = await owned(stage, all, 'b', ['slow'], ['b'])
    const outcome = offers(kind.ref('slow'), 50)
    await stage.wait(1_000)
    expect(outcome.taken).toBe(11)
    all.gate.open()
    await stage.until('all were handled', () => all.begun.get('slow')!.length === 50)
    expect([outcome.taken, all.begun.get('slow')]).toEqual([50, numbers(50)])
    expect(b!.system.deadLetters.list()).toEqual([])
  }))

test('a mailbox that rejects refuses an offer of its own node, and what others offer ends by its policy', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b'], bounded(10, 'reject'))
    const [a, b] = await stage.nodes('a', 'b')
    const far = await owned(stage, all, 'a', ['slow'], ['b'])
    const near = all.kinds.get('b')!
    expect(offers(near.ref('slow'), 1)).toEqual({ taken: 0, refused: [] })
    await stage.wait(100)
    offers(near.ref('slow'), 10, 1)
    await stage.wait(100)
    await expect(near.ref('slow').offer({ type: 'job', n: 11 })).rejects.toMatchObject({ code: 'offer-refused' })
    await far.ref('slow').offer({ type: 'job', n: 12 })
    await stage.until('it is a dead letter', () => b!.system.deadLetters.list().length === 1)
    expect(b!.system.deadLetters.list()[0]).toMatchObject({ reason: 'mailbox-full' })
    expect(a!.system.deadLetters.list()).toEqual([])
    all.gate.open()
    await stage.until('the rest was handled', () => all.begun.get('slow')!.length === 11)
  }))

test('a flood of tells from another node stays there; one actor that takes nothing keeps no other waiting', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b'])
    const [a, b] = await stage.nodes('a', 'b')
    const kind = await owned(stage, all, 'a', ['slow', 'quick'], ['b'])
    const count = 20_000
    for (let n = 0; n < count; n++) kind.ref('slow').tell({ type: 'job', n })
    await stage.wait(5_000)
    expect(await heldBy(b!)).toBeLessThanOrEqual(4_096)
    expect(accountsOf(a!).waiting).toBeGreaterThanOrEqual(count - 4_097)
    // Others of the same node and of the same shards answer as if nothing were.
    for (let n = 0; n < 20; n++) {
      kind.ref(`quick-${n}`).tell({ type: 'job', n })
      expect(await kind.ref(`quick-${n}`).ask({ type: 'get' }, { timeout: 1_000 })).toBe(1)
    }
    all.gate.open()
    await stage.until('all were handled', () => all.begun.get('slow')!.length === count)
    expect(all.begun.get('slow')).toEqual(numbers(count))
    await stage.wait(100)
    expect(accountsOf(a!)).toEqual(nothing)
    expect(await a!.cluster!.ledger()).toMatchObject({ queued: 0, deadLettered: 0, unknown: 0 })
  }))

test('at most 256 KiB are under way to one actor, 64 MiB wait where they were sent, and more are dead letters node-behind', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b'])
    const [a, b] = await stage.nodes('a', 'b')
    const kind = await owned(stage, all, 'a', ['slow'], ['b'])
    for (let n = 0; n < 800; n++) kind.ref('slow').tell({ type: 'job', n, bytes: new Uint8Array(100_000) })
    await stage.wait(5_000)
    // Three are under way when the fourth finds no credit; one of them is being handled.
    expect(await heldBy(b!)).toBeLessThanOrEqual(3)
    const refused = a!.system.deadLetters.list().map(({ reason }) => reason)
    expect(new Set(refused)).toEqual(new Set(['node-behind']))
    expect(accountsOf(a!).waiting).toBeLessThanOrEqual(671)
    expect(accountsOf(a!).waiting).toBeGreaterThan(650)
    all.gate.open()
    await stage.until('the rest was handled', () => all.begun.get('slow')!.length === 800 - refused.length)
    expect(b!.system.deadLetters.list()).toEqual([])
  }))

test('offers and tells to a slow actor arrive in order, and within its bound, when its shard is handed over', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b', 'c'], bounded(16, 'block'))
    const [a, b, c] = await stage.nodes('a', 'b', 'c')
    const ids = numbers(8).map((n) => `slow-${n}`)
    const kind = await owned(stage, all, 'a', ids, ['b', 'c'])
    const leaving = kind.ownerOf(ids[0]!) === 'b' ? b! : c!
    const other = leaving === b ? c! : b!
    const outcomes = ids.map((id) => offers(kind.ref(id), 60))
    await stage.wait(1_000)
    leaving.leave()
    await stage.until('it has left', () => leaving.state === 'left' && ids.every((id) => kind.ownerOf(id) === other.node))
    await stage.wait(3_000)
    const held = await heldBy(other)
    // 16 in each mailbox, one that is handled, and what was on its way: what its node had and what has its credit since.
    expect(held).toBeLessThanOrEqual(ids.length * (17 + 2 * 8))
    all.gate.open()
    await stage.until('all were taken', () => outcomes.every(({ taken }) => taken === 60))
    await stage.until('all were handled', () => ids.every((id) => all.begun.get(id)!.at(-1) === 59))
    // What was being handled when its actor had to stop is not handled again.
    for (const id of ids) expect(all.begun.get(id)).toEqual(numbers(60))
    expect([a!, other].flatMap(({ system }) => system.deadLetters.list())).toEqual([])
    await stage.wait(100)
    expect(accountsOf(a!)).toEqual(nothing)
  }))

test('offers that wait go to the next owner when theirs is killed, and what it had taken up is free again', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b', 'c'], bounded(16, 'block'))
    const [a, b, c] = await stage.nodes('a', 'b', 'c')
    const kind = await owned(stage, all, 'a', ['slow'], ['b', 'c'])
    const owner = kind.ownerOf('slow') === 'b' ? b! : c!
    const outcome = offers(kind.ref('slow'), 100)
    await stage.wait(1_000)
    const before = outcome.taken
    expect(before).toBeLessThanOrEqual(17 + 8)
    owner.kill()
    await stage.until('another has it', () => ![owner.node, undefined].includes(kind.ownerOf('slow')))
    await stage.until('it takes as many', () => outcome.taken >= before + 17)
    await stage.wait(1_000)
    expect(outcome.taken).toBeLessThanOrEqual(2 * (17 + 8))
    all.gate.open()
    await stage.until('all were taken', () => outcome.taken === 100)
    await stage.until('the last was handled', () => all.begun.get('slow')!.at(-1) === 99)
    expect(outcome.refused).toEqual([])
    await stage.wait(100)
    expect(accountsOf(a!)).toEqual(nothing)
  }))

test('offers that wait for room are not taken at once because something else waited for the next owner', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b', 'c'], bounded(16, 'block'))
    const [a, b, c] = await stage.nodes('a', 'b', 'c')
    const kind = await owned(stage, all, 'a', ['slow'], ['b', 'c'])
    const owner = kind.ownerOf('slow') === 'b' ? b! : c!
    const neighbor = numbers(100)
      .map((n) => `quick-${n}`)
      .find((id) => shardOf(id, 4) === shardOf('slow', 4))!
    const outcome = offers(kind.ref('slow'), 100)
    await stage.wait(1_000)
    const before = outcome.taken
    owner.kill()
    await stage.until('its end is known', () => a!.cluster!.members.length === 2)
    expect(kind.ownerOf('slow')).toBe(owner.node)
    kind.ref(neighbor).tell({ type: 'job', n: 0 })
    await stage.until('the neighbor has got it', () => all.begun.has(neighbor))
    await stage.wait(1_000)
    // What the lost owner had, and as much for the next one.
    expect(outcome.taken).toBeGreaterThanOrEqual(before + 17)
    expect(outcome.taken).toBeLessThanOrEqual(2 * (17 + 8))
    all.gate.open()
    await stage.until('all were taken', () => outcome.taken === 100)
    await stage.until('the last was handled', () => all.begun.get('slow')!.at(-1) === 99)
  }))

test('offers that were taken while no owner was known leave as the mailbox has room, before what was told later', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b'], bounded(16, 'block'))
    const [a] = await stage.nodes('a')
    const ref = all.kinds.get('a')!.ref('slow')
    const outcome = offers(ref, 60)
    await stage.wait(100)
    expect(outcome).toEqual({ taken: 60, refused: [] })
    ref.tell({ type: 'job', n: 60 })
    const [b] = await stage.nodes('b')
    await stage.until('it has begun', () => all.begun.has('slow'))
    const later = offers(ref, 10, 61)
    await stage.wait(3_000)
    // One is being handled, 16 are in the mailbox, 8 may be on the way; the rest waits where it was sent.
    expect(await heldBy(b!)).toBeLessThanOrEqual(17 + 8)
    expect(accountsOf(a!).waiting).toBeGreaterThanOrEqual(61 - 17 - 8)
    expect(later.taken).toBe(0)
    all.gate.open()
    await stage.until('all were handled', () => all.begun.get('slow')!.length === 71)
    expect(all.begun.get('slow')).toEqual(numbers(71))
    for (const node of [a!, b!]) expect(node.system.deadLetters.list()).toEqual([])
    await stage.wait(100)
    expect([accountsOf(a!), nodeOf(a!.system).credits.size]).toEqual([nothing, 0])
  }))

test('offers that wait outlast restarts and stops of their actor', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b'], bounded(16, 'block'))
    const [a, b] = await stage.nodes('a', 'b')
    const kind = await owned(stage, all, 'a', ['quick-1', 'slow'], ['b'])
    const far = kind.ref('slow')
    const near = all.kinds.get('b')!.ref('slow')
    far.tell({ type: 'job', n: -1 })
    await stage.wait(100)
    far.tell({ type: 'fail' })
    await stage.wait(100)
    const outcomes = [offers(far, 60), offers(near, 60, 100)]
    await stage.wait(1_000)
    // The actor is stopped while its mailbox is full; its successor gets that, and then what waits.
    const entity = coreOf(b!.system).guardian.children!.find('sharded-works')!.children!.find('slow')!
    entity.ref.stop()
    await stage.wait(2_000)
    all.gate.open()
    await stage.until('all were taken', () => outcomes.every(({ taken }) => taken === 60))
    await stage.until('all were handled', () => all.begun.get('slow')!.length === 121)
    const begun = all.begun.get('slow')!
    expect(begun.filter((n) => n >= 0 && n < 100)).toEqual(numbers(60))
    expect(begun.filter((n) => n >= 100)).toEqual(numbers(60).map((n) => n + 100))
    for (const node of [a!, b!]) expect(node.system.deadLetters.list()).toEqual([])
  }))

test('offers and questions that were given up are not kept, and count no more', () =>
  onStage(async (stage) => {
    const all = works(stage, ['b'], bounded(4, 'block'))
    const [a] = await stage.nodes('a', 'b')
    const kind = await owned(stage, all, 'a', ['slow'], ['b'])
    offers(kind.ref('slow'), 20)
    await stage.wait(500)
    const abort = new AbortController()
    let cancelled = 0
    for (let n = 0; n < 500; n++)
      void kind
        .ref('slow')
        .offer({ type: 'job', n }, { signal: abort.signal })
        .catch(() => cancelled++)
    abort.abort()
    for (let n = 0; n < 5_000; n++) kind.ref('slow').tell({ type: 'job', n })
    let expired = 0
    for (let n = 0; n < 500; n++)
      void kind
        .ref('slow')
        .ask({ type: 'get' }, { timeout: 500 })
        .catch(() => expired++)
    await stage.until('all were given up', () => cancelled === 500 && expired === 500)
    await stage.wait(2 * stage.world.lease)
    // What is left are the tells.
    expect(accountsOf(a!).waiting).toBeLessThan(1_000)
    expect(accountsOf(a!).offers).toBeLessThanOrEqual(20)
  }))

test('after a connection broke what is offered and told arrives, though credit may be lost with it', () =>
  onStage(async (stage) => {
    const { world } = stage
    world.expectsBreaks = true
    const all = works(stage, ['b'], bounded(16, 'block'))
    const [a, b] = await stage.nodes('a', 'b')
    const kind = await owned(stage, all, 'a', ['slow'], ['b'])
    const outcome = offers(kind.ref('slow'), 60)
    await stage.wait(500)
    let broken = 0
    for (const node of [a!, b!]) node.system.events.listen(() => void broken++, 'connection.lost')
    // Credit is on its way when the connection breaks.
    all.gate.open()
    world.hub.frame(b!.cluster!.self.session, a!.cluster!.self.session, Uint8Array.of(1, 2, 3))
    await stage.until('both know', () => broken >= 2)
    await stage.until('all were taken', () => outcome.taken === 60)
    const last = kind.ref('slow').ask({ type: 'get' }, { timeout: 5_000 })
    expect(await last).toBeGreaterThan(0)
    await stage.wait(100)
    expect(accountsOf(a!)).toEqual(nothing)
  }))
