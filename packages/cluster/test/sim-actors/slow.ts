// Sharded actors that are slower than what is offered to them, and an account of it that is kept from K6: how much was taken that they have not begun.

import { type Behavior, bounded, receive, same, withOptions } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import type { Sharded } from '@troupe/cluster'
import type { SimulatedCluster, SimulatedNode } from '@troupe/cluster/testing'

const ids = ['ann', 'bob', 'cat'] as const
const capacity = 4
const shards = 2
/** Offers of one node that may be on their way to a mailbox of which it knows nothing yet. */
const window = 8
/** Longer than any move, and shorter than the grace of a run. */
const slowest = 200

interface Job {
  readonly from: string
  readonly n: number
  readonly bytes: Uint8Array
}

interface Offered {
  readonly by: SimulatedNode
  readonly id: string
  state: 'waits' | 'taken' | 'begun' | 'refused'
}

/** What happened in all runs. */
export const slowTally = { begun: 0, waited: 0 }

export interface SlowOptions {
  /** Whether a message may be missing: some session ended without having left, or a connection broke. */
  readonly lossy: boolean
  /** Whether nodes stay: then what was taken is bounded at every moment. */
  readonly steady: boolean
}

export class SlowActors {
  readonly world: SimulatedCluster
  readonly #options: SlowOptions
  readonly #kinds = new Map<SimulatedNode, Sharded<Job>>()
  readonly #offers = new Map<string, Offered>()
  readonly #sent = new Map<string, number>()
  readonly #begun = new Map<string, number>()
  /** Where the shards were at the last look, and since when. */
  #settled = { text: '', since: 0 }

  constructor(world: SimulatedCluster, options: SlowOptions) {
    this.world = world
    this.#options = options
    world.onJoin = (node) => {
      const kind = node.cluster!.sharded<Job>('work', (id) => this.#make(node, id), { shards, passivateAfter: 1_500, stopTimeout: 500 })
      kind.ready.catch(() => {})
      this.#kinds.set(node, kind)
    }
    if (options.steady) world.sim.always(() => this.#checkBound())
    world.sim.eventually('K6: every offer of a node that is up was taken', () => this.#each(({ state }) => state === 'taken' || state === 'begun'))
    if (!options.lossy) world.sim.eventually('K1: what was taken was handled', () => this.#each(({ state }) => state === 'begun'))
    world.sim.eventually('K6: credit is back when all is done', () => world.up.every((node) => this.#accounts(node) === 0))
  }

  #make(node: SimulatedNode, id: string): Behavior<Job> {
    const behavior = receive<Job>((_ctx, { from, n }) => {
      slowTally.begun++
      const key = `${from} ${id}`
      const last = this.#begun.get(key) ?? 0
      if (n <= last) this.world.sim.violate('invariant', `K2: ${id} got ${n} of ${from} after ${last}`)
      if (n > last + 1 && !this.#options.lossy) this.world.sim.violate('invariant', `K1: ${id} got ${n} of ${from} after ${last}`)
      this.#begun.set(key, n)
      const offered = this.#offers.get(`${key} ${n}`)
      if (offered !== undefined) offered.state = 'begun'
      const ms = this.world.sim.oneOf([20, 0, slowest])
      return ms === 0 ? same : new Promise<typeof same>((resolve) => void node.place.after(ms, () => resolve(same)))
    })
    return withOptions(behavior, { mailbox: bounded(capacity, 'block') })
  }

  act(): void {
    const { sim } = this.world
    const node = this.world.pick()
    const kind = node === undefined ? undefined : this.#kinds.get(node)
    if (node === undefined || kind === undefined || node.place.state !== 'running') return
    if (this.#options.steady && !this.#hasSettled()) return
    const id = sim.oneOf(ids)
    const key = `${node.name} ${id}`
    // Three large ones take up all that may be under way.
    const isLarge = sim.oneOf([false, false, false, true])
    const bytes = new Uint8Array(isLarge ? 100_000 : 1)
    for (let left = isLarge ? 5 : sim.oneOf([4, 1, 20]); left > 0; left--) {
      const n = (this.#sent.get(key) ?? 0) + 1
      this.#sent.set(key, n)
      const offered: Offered = { by: node, id, state: 'waits' }
      this.#offers.set(`${key} ${n}`, offered)
      kind
        .ref(id)
        .offer({ from: node.name, n, bytes })
        .then(
          () => {
            if (offered.state === 'waits') offered.state = 'taken'
          },
          () => (offered.state = 'refused'),
        )
      if (offered.state === 'waits') slowTally.waited++
    }
  }

  /**
   * Whether all shards have been with the same nodes for a lease, and all nodes know that: while one moves or starts, or its owner is not known, what is
   * offered waits with all else of its kind, and no mailbox bounds it.
   */
  #hasSettled(): boolean {
    const { sim, up, lease } = this.world
    const where = up.map(
      (node) => `${this.#kinds.get(node)?.active.join()} ${ids.map((id) => this.#kinds.get(node)?.ownerOf(id) ?? 'nobody').join()}`,
    )
    const runs = up.length === 3 && up.reduce((sum, node) => sum + (this.#kinds.get(node)?.active.length ?? 0), 0) === shards
    const text = runs ? where.join(';') : ''
    if (text !== this.#settled.text) this.#settled = { text, since: sim.now }
    return text !== '' && !text.includes('nobody') && sim.now - this.#settled.since >= lease
  }

  #each(holds: (offered: Offered) => boolean): boolean {
    for (const offered of this.#offers.values()) if (offered.by.isUp && !holds(offered)) return false
    return true
  }

  #checkBound(): void {
    const taken = new Map<string, number>()
    for (const { id, state } of this.#offers.values()) if (state === 'taken') taken.set(id, (taken.get(id) ?? 0) + 1)
    const most = capacity + this.world.nodes.length * window
    for (const [id, count] of taken)
      if (count > most) this.world.sim.violate('invariant', `K6: ${count} offers to ${id} were taken and have not begun, and at most ${most} may`)
  }

  #accounts({ system }: SimulatedNode): number {
    const { regions } = coreOf(system).otherPlaces as unknown as {
      readonly regions: ReadonlyMap<string, { readonly accounts: { readonly count: number } }>
    }
    return regions.get('work')?.accounts.count ?? 0
  }
}
