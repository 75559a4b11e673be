// Sharded actors of a simulated cluster, and an account of them that is kept from the promises: who handles what, in which order, and whether the
// registry says at that moment that it may.

import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { eventSourced, type JournalSource, type Kind, memory as memoryJournal, persistence } from '@troupe/persistence'
import type { Sharded } from '@troupe/cluster'
import { ownKey, readOwnership, sessionText, shardOf } from '@troupe/cluster/internal'
import type { SimulatedCluster, SimulatedNode } from '@troupe/cluster/testing'

export const shardCount = 4
const ids = ['ann', 'bob', 'cat', 'dan', 'eve', 'fay'] as const

type Note = { readonly type: 'note'; readonly from: string; readonly n: number }
type Get = { readonly type: 'get'; readonly replyTo: ActorRef<number> }
type Cart = Note | Get

/** What happened in all runs. */
export const cartTally = { handled: 0, moved: 0, appended: 0, refused: 0, answers: 0, ledgers: 0 }

export interface CartOptions {
  readonly persistent: boolean
  /** Whether a message may be missing: some session ended without having left. */
  readonly lossy: boolean
  /** The journal has no fence: the control that must be caught. */
  readonly unfenced?: boolean
}

export class Carts {
  readonly world: SimulatedCluster
  readonly #options: CartOptions
  readonly #kinds = new Map<SimulatedNode, Sharded<Cart>>()
  readonly #sent = new Map<string, number>()
  readonly #got = new Map<string, number>()
  readonly #seen = new Map<string, string>()
  /** What was acknowledged to be stored, by id. */
  readonly #acknowledged = new Map<string, number>()
  readonly #writers = new Map<string, string>()
  readonly #epochs = new Map<string, number>()
  readonly #asked: { readonly by: SimulatedNode; settled: number }[] = []

  constructor(world: SimulatedCluster, options: CartOptions) {
    this.world = world
    this.#options = options
    if (options.persistent) {
      const journal = memoryJournal()
      world.nodeOptions = (name) => ({
        system: { extensions: [persistence({ journal: this.#watched(journal, name), scope: `node-${name}-${world.nodes.length}` })] },
      })
    }
    world.onJoin = (node) => this.#joined(node)
    world.sim.eventually('K9: every shard runs on one node that is up', () => this.#allRun())
    world.sim.eventually('K1: what nodes that are up sent was handled', () => this.#allHandled())
    world.sim.eventually('K5: every question was settled', () => this.#asked.every(({ by, settled }) => !by.isUp || settled === 1))
  }

  #joined(node: SimulatedNode): void {
    const make = (id: string): Behavior<Cart> => (this.#options.persistent ? this.#kept(node)(id) : this.#plain(node, id))
    const kind = node.cluster!.sharded<Cart>('cart', make, {
      shards: shardCount,
      persistent: this.#options.persistent,
      passivateAfter: this.world.sim.oneOf([120_000, 1_500]),
      stopTimeout: 500,
    })
    kind.ready.catch((cause: unknown) => {
      if (node.isUp) this.world.sim.violate('invariant', `the kind could not be registered: ${String(cause)}`)
    })
    this.#kinds.set(node, kind)
  }

  #plain(node: SimulatedNode, id: string): Behavior<Cart> {
    let count = 0
    return receive<Cart>((_ctx, message) => {
      this.#begins(node, id, message)
      count++
      if (message.type === 'get') message.replyTo.tell(count)
      // Some take their time, so that others wait behind them.
      const ms = this.world.sim.oneOf([0, 0, 0, 40])
      return ms === 0 ? same : new Promise<typeof same>((resolve) => void node.place.after(ms, () => resolve(same)))
    })
  }

  #kept(node: SimulatedNode): Kind<Cart> {
    return eventSourced('cart', {
      initial: () => 0,
      events: { noted: (n: number) => n + 1 },
      commands: {
        note: (ctx, m: Note) => {
          this.#begins(node, ctx.key, m)
          ctx.persist({ type: 'noted' })
        },
        get: (ctx, m) => {
          this.#begins(node, ctx.key, m)
          ctx.tell(m.replyTo, ctx.state)
        },
      },
    })
  }

  /** A handler begins. */
  #begins(node: SimulatedNode, id: string, message: Note | { readonly type: 'get' }): void {
    const { sim, hub } = this.world
    cartTally.handled++
    const entry = hub.store.read(ownKey('cart', shardOf(id, shardCount)))
    const owner = entry === undefined ? undefined : readOwnership(entry.value)
    if (owner === undefined || sessionText(owner.session) !== node.name)
      sim.violate(
        'invariant',
        `K8: ${node.name} starts a handler of ${id}, which is ${owner === undefined ? 'nobody' : sessionText(owner.session)}'s`,
      )
    if (this.#seen.has(id) && this.#seen.get(id) !== node.name) cartTally.moved++
    this.#seen.set(id, node.name)
    if (message.type !== 'note') return
    const key = `${message.from} ${id}`
    const last = this.#got.get(key) ?? 0
    const gap = message.n > last + 1
    if (message.n <= last) sim.violate('invariant', `K2: ${id} got ${message.n} of ${message.from} after ${last}`)
    if (gap && !this.#options.lossy) sim.violate('invariant', `K1: ${id} got ${message.n} of ${message.from} after ${last}`)
    this.#got.set(key, message.n)
  }

  act(): void {
    const { sim } = this.world
    const node = this.world.pick()
    const kind = node === undefined ? undefined : this.#kinds.get(node)
    if (node === undefined || kind === undefined || node.place.state !== 'running') return
    const id = sim.oneOf(ids)
    switch (sim.choose(5)) {
      case 0:
        return this.#ask(node, kind, id)
      case 1:
        return this.#count(node)
      default: {
        const key = `${node.name} ${id}`
        for (let i = sim.oneOf([1, 4, 10]); i > 0; i--) {
          const n = (this.#sent.get(key) ?? 0) + 1
          this.#sent.set(key, n)
          kind.ref(id).tell({ type: 'note', from: node.name, n })
        }
      }
    }
  }

  #ask(by: SimulatedNode, kind: Sharded<Cart>, id: string): void {
    const { sim } = this.world
    const before = this.#acknowledged.get(id) ?? 0
    const question = { by, settled: 0 }
    this.#asked.push(question)
    kind
      .ref(id)
      .ask({ type: 'get' }, { timeout: 20_000 })
      .then(
        (count) => {
          question.settled++
          cartTally.answers++
          if (!this.#options.persistent) return
          if (count < before) sim.violate('invariant', `P1: ${id} has ${count} events, and ${before} were acknowledged`)
          this.#acknowledged.set(id, Math.max(before, count))
        },
        () => question.settled++,
      )
  }

  #count(node: SimulatedNode): void {
    const { sim } = this.world
    node.cluster!.ledger().then(
      (l) => {
        cartTally.ledgers++
        const ended = l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.unknown
        const open = l.queued + l.stashed + l.inProgress
        if (l.sent !== ended + open)
          sim.violate('invariant', `K3: the ledger says ${l.sent} sent, and accounts for ${ended + open}: ${JSON.stringify(l)}`)
        if (l.unknown > 0 && this.world.over.size === 0) sim.violate('invariant', `K3: ${l.unknown} messages are unknown, and no session has ended`)
      },
      () => {},
    )
  }

  /** The journal, as one life of a node writes to it. */
  #watched(source: JournalSource, node: string): JournalSource {
    const { sim } = this.world
    const life = `${node}-${this.world.nodes.length}`
    return {
      name: source.name,
      open: async (environment) => {
        const journal = await source.open(environment)
        const append = journal.append.bind(journal)
        if (this.#options.unfenced === true) journal.raise = () => Promise.resolve()
        journal.append = async (group) => {
          const outcomes = await append(group)
          for (const [i, { scope, epoch }] of group.entries()) {
            if (!scope.startsWith('shard/')) continue
            const is = outcomes[i]!.is
            if (is === 'fenced') cartTally.refused++
            if (is !== 'stored') continue
            cartTally.appended++
            if (epoch < (this.#epochs.get(scope) ?? 0))
              sim.violate('invariant', `K7: ${life} wrote to ${scope} in epoch ${epoch}, after ${this.#epochs.get(scope)}`)
            this.#epochs.set(scope, epoch)
            const writer = this.#writers.get(`${scope} ${epoch}`) ?? life
            if (writer !== life) sim.violate('invariant', `K7: ${writer} and ${life} wrote to ${scope} in epoch ${epoch}`)
            this.#writers.set(`${scope} ${epoch}`, life)
          }
          return outcomes
        }
        return journal
      },
    }
  }

  #allRun(): boolean {
    const { up } = this.world
    const running = up.flatMap((node) => [...(this.#kinds.get(node)?.active ?? [])]).toSorted((a, b) => a - b)
    return up.length === 0 || running.join() === Array.from({ length: shardCount }, (_, i) => i).join()
  }

  #allHandled(): boolean {
    for (const [key, sent] of this.#sent) {
      const [from] = key.split(' ') as [string]
      if (this.world.life(from)?.isUp !== true) continue
      // What was with a session that ended is gone; where none ended without leaving nothing is.
      if (!this.#options.lossy && (this.#got.get(key) ?? 0) !== sent) return false
    }
    return true
  }
}
