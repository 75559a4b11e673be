// Shards on a node of a simulated cluster: the real decisions about claims and hand-overs, and in place of actors a handler that appends to a
// journal with a fence. What is checked is what persistent actors rely on: K7 and K8.

import { decideActivations, decideClaims, handedOver, planHandOvers, type ShardSeen } from '../../src/sharding/claims.ts'
import { candidatesOf, desiredOwner } from '../../src/sharding/desired.ts'
import { ownKey, readOwnership, shardIn, writeOwnership } from '../../src/sharding/ownership.ts'
import { RegistryConflict, RegistryUnavailable } from '../../src/values/errors.ts'
import { type Session, sessionText } from '../../src/values/session.ts'
import type { ClusterWorld, SimNode } from './sim-node.ts'

export const shardCount = 4

/** A journal with a fence, that all nodes share; writes take a moment to get there. */
export class SimJournal {
  readonly fences = new Map<number, number>()
  readonly writers = new Map<string, string>()
  readonly latest = new Map<number, number>()
  readonly started = new Map<number, number>()
  appended = 0
  refused = 0
  readonly #world: ClusterWorld
  readonly #fenced: boolean

  constructor(world: ClusterWorld, fenced: boolean) {
    this.#world = world
    this.#fenced = fenced
  }

  raise(shard: number, epoch: number): boolean {
    if ((this.fences.get(shard) ?? 0) > epoch) return false
    if (this.#fenced) this.fences.set(shard, epoch)
    return true
  }

  append(shard: number, epoch: number, by: string): boolean {
    if ((this.fences.get(shard) ?? 0) > epoch) {
      this.refused++
      return false
    }
    const { sim } = this.#world
    if ((this.latest.get(shard) ?? 0) > epoch)
      sim.violate('invariant', `K7: ${by} wrote to shard ${shard} in epoch ${epoch}, after one of ${this.latest.get(shard)}`)
    this.latest.set(shard, epoch)
    const writer = this.writers.get(`${shard} ${epoch}`) ?? by
    if (writer !== by) sim.violate('invariant', `K7: ${writer} and ${by} wrote to shard ${shard} in epoch ${epoch}`)
    this.writers.set(`${shard} ${epoch}`, by)
    this.appended++
    return true
  }

  /** A handler starts: none of an earlier epoch may do so after it. */
  start(shard: number, epoch: number, by: string): void {
    const before = this.started.get(shard) ?? 0
    if (before > epoch) this.#world.sim.violate('invariant', `K8: ${by} starts a handler of shard ${shard} in epoch ${epoch}, after one of ${before}`)
    this.started.set(shard, epoch)
  }
}

interface Active {
  readonly epoch: number
  state: 'raising' | 'running' | 'resting'
  /** Writes under way. */
  writing: number
}

export class SimShards {
  readonly #node: SimNode
  readonly #journal: SimJournal
  readonly #active = new Map<number, Active>()
  #busy = false

  constructor(node: SimNode, journal: SimJournal) {
    this.#node = node
    this.#journal = journal
    node.place.every(250, () => void this.#round())
    node.place.every(100, () => this.#handle())
    node.onMembers.push(() => void this.#round())
  }

  get running(): readonly number[] {
    return [...this.#active].filter(([, { state }]) => state === 'running').map(([shard]) => shard)
  }

  async #round(): Promise<void> {
    const { membership } = this.#node
    if (this.#busy || membership === undefined || !this.#node.isUp) return
    this.#busy = true
    try {
      await this.#act(membership)
    } catch (cause) {
      if (!(cause instanceof RegistryUnavailable)) throw cause
    } finally {
      this.#busy = false
    }
  }

  async #act(membership: NonNullable<SimNode['membership']>): Promise<void> {
    const { registry } = this.#node.connection
    const self = membership.self.session
    const shards = await this.#look()
    const ended = new Set<string>()
    for (const { owner } of shards)
      if (owner !== undefined && sessionText(owner.session) !== sessionText(self) && (await membership.hasEnded(owner.session)))
        ended.add(sessionText(owner.session))
    const candidates = candidatesOf(membership.members)
    const desired = (shard: number): string | undefined => desiredOwner('cart', shard, candidates)
    const claims = decideClaims({
      self,
      shards,
      desired,
      ended: (session: Session) => ended.has(sessionText(session)),
      held: membership.held,
      journal: (shard) => this.#journal.fences.get(shard),
    })
    for (const { shard, expected, record } of claims) {
      const value = writeOwnership(record)
      await (expected === undefined ? registry.create(ownKey('cart', shard), value) : registry.update(ownKey('cart', shard), value, expected)).catch(
        ignoreConflict,
      )
    }
    const now = await this.#look()
    this.#activate(self, now)
    const underWay = new Set([...this.#active].filter(([, { state }]) => state === 'resting').map(([shard]) => shard))
    const sessionOf = (name: string): Session | undefined => membership.member(name)?.session
    for (const { shard } of planHandOvers({ self, shards: now, desired }, sessionOf, underWay, 2)) this.#rest(shard)
    for (const [shard, active] of this.#active) {
      const to = sessionOf(desired(shard) ?? '')
      const { owner, revision } = now[shard]!
      if (active.state !== 'resting' || active.writing > 0 || owner === undefined || sessionText(owner.session) !== sessionText(self)) continue
      // It came to rest, and is still to be another's; else it goes on.
      if (to === undefined || to.node === self.node) active.state = 'running'
      else await registry.update(ownKey('cart', shard), writeOwnership(handedOver(owner, to)), revision!).catch(ignoreConflict)
    }
  }

  #rest(shard: number): void {
    const active = this.#active.get(shard)
    if (active?.state === 'running') active.state = 'resting'
  }

  async #look(): Promise<ShardSeen[]> {
    const seen: ShardSeen[] = Array.from({ length: shardCount }, (_, shard) => ({ shard, owner: undefined, revision: undefined }))
    for (const { key, value, revision } of await this.#node.connection.registry.list('own.cart')) {
      const shard = shardIn('cart', key, shardCount)
      if (shard !== undefined) seen[shard] = { shard, owner: readOwnership(value), revision }
    }
    return seen
  }

  #activate(self: Session, shards: readonly ShardSeen[]): void {
    const { start, stop } = decideActivations(self, shards, new Map([...this.#active].map(([shard, { epoch }]) => [shard, epoch])))
    for (const shard of stop) this.#active.delete(shard)
    for (const { shard, epoch } of start) {
      const active: Active = { epoch, state: 'raising', writing: 0 }
      this.#active.set(shard, active)
      // First the fence, then all else.
      this.#node.place.after(this.#node.world.sim.oneOf([5, 50, 400]), () => {
        if (this.#active.get(shard) !== active) return
        if (this.#journal.raise(shard, epoch)) active.state = 'running'
        else this.#active.delete(shard)
      })
    }
  }

  #handle(): void {
    const { membership, place, name, world } = this.#node
    for (const [shard, active] of this.#active) {
      if (active.state !== 'running' || membership?.held !== true) continue
      this.#journal.start(shard, active.epoch, name)
      active.writing++
      const arrive = world.sim.oneOf([1, 20, 300])
      // The write is on its way whatever becomes of the node: its host sends what it was given.
      world.sim.after(arrive, () => {
        const taken = this.#journal.append(shard, active.epoch, name)
        place.soon(() => {
          active.writing--
          // Who was refused is not started again in that epoch.
          if (!taken) active.state = 'raising'
        })
      })
    }
  }
}

function ignoreConflict(cause: unknown): void {
  if (!(cause instanceof RegistryConflict)) throw cause
}
