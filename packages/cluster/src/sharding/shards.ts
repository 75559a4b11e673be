// The shards that this node owns, from when it does until another does. A shard starts when its fence is raised, and only then are its actors made; it
// rests when it is to be handed over: its actors end, and whatever is for them waits, in order, for the next owner.
//
//   starting ─ fence ─► active ─ rest ─► resting ─ all gone ─► handed over, or active again
//
// One that is starting is brought to rest as well: its fence may be up any moment, and it must not begin while another is being named.

import type { Cell, SystemCore } from '@troupe/core/internal'
import { OfferRefused } from '@troupe/core'
import type { EntityOffer } from './accounts.ts'
import type { Backlog } from './backlog.ts'
import type { Credits } from './credits.ts'
import { Entities } from './entities.ts'
import type { KindSpec } from './kind.ts'
import type { LeaseGate } from './leased-mailbox.ts'
import type { Barrier, Item, Letter } from './letter.ts'
import type { Refuse } from './refusal.ts'
import type { Tenancy, Tenant } from './tenancy.ts'
import type { EntityWatchers } from './watchers.ts'

interface Shard {
  readonly epoch: number
  readonly tenant: Tenant | undefined
  /** `fenced`: the journal has a later owner, and nothing begins in this epoch any more. */
  state: 'starting' | 'active' | 'resting' | 'fenced'
  /** Whether its fence is up. */
  raised: boolean
  /** What waits until it is active, or goes along when it is handed over. */
  items: Item[]
  /** How often it was brought to rest. */
  rests: number
  /** Those who wait until it rests. */
  readonly rested: ((epoch: number | undefined) => void)[]
}

export interface ShardsHost {
  readonly core: SystemCore
  readonly gate: LeaseGate
  readonly tenancy: Tenancy | undefined
  readonly backlog: Backlog
  readonly credits: Credits
  readonly watchers: EntityWatchers
  readonly refuse: Refuse
  offerAgain(id: string, offer: EntityOffer): void
  barrier(shard: number, barrier: Barrier): void
  /** The journal has a later owner of a shard: this node must look again. */
  fenced(shard: number, epoch: number): void
  /** What a shard that is no longer this node's still had. */
  leave(shard: number, items: readonly Item[]): void
}

export class Shards {
  readonly #spec: KindSpec
  readonly #host: ShardsHost
  readonly #shards = new Map<number, Shard>()
  readonly #entities: Entities

  constructor(spec: KindSpec, host: ShardsHost) {
    this.#spec = spec
    this.#host = host
    this.#entities = new Entities(spec, {
      core: host.core,
      gate: host.gate,
      tenancy: host.tenancy,
      backlog: host.backlog,
      credits: host.credits,
      watchers: host.watchers,
      refuse: host.refuse,
      offerAgain: (id, offer) => host.offerAgain(id, offer),
      made: (shard, cell) => this.#made(shard, cell),
      gone: (shard, id, letters) => this.#gone(shard, id, letters),
    })
  }

  /** In which epoch each shard runs here. */
  get epochs(): ReadonlyMap<number, number> {
    return new Map([...this.#shards].map(([shard, { epoch }]) => [shard, epoch]))
  }
  /** In which epoch a shard runs here; undefined where it does not. */
  epochOf(shard: number): number | undefined {
    return this.#shards.get(shard)?.epoch
  }
  get active(): readonly number[] {
    return [...this.#shards].filter(([, { state }]) => state === 'active').map(([shard]) => shard)
  }
  get entities(): number {
    return this.#entities.size
  }
  /** Messages that wait in shards and for successors. */
  get waiting(): number {
    let count = this.#entities.waiting
    for (const { items } of this.#shards.values()) for (const item of items) if (item.is === 'letter') count++
    return count
  }

  /** This node owns a shard in an epoch: first the fence, then all else. */
  start(shard: number, epoch: number): void {
    const before = this.#shards.get(shard)
    if (before?.epoch === epoch) return
    // What ran in an earlier epoch is of the past, and what it had is for this one.
    const items = before?.items ?? []
    if (before !== undefined) this.#end(shard, before, undefined)
    const tenant = this.#spec.persistent ? this.#host.tenancy?.tenant(shard, epoch, () => this.#fenced(shard, started)) : undefined
    const started: Shard = { epoch, tenant, state: 'starting', raised: tenant === undefined, items, rests: 0, rested: [] }
    this.#shards.set(shard, started)
    if (tenant === undefined) return this.#run(shard, started)
    tenant.raise().then(
      () => {
        started.raised = true
        if (started.state === 'starting') this.#run(shard, started)
      },
      () => this.#fenced(shard, started),
    )
  }

  deliver(shard: number, item: Item): void {
    const there = this.#shards.get(shard)
    if (there === undefined) return this.#host.leave(shard, [item])
    if (there.state !== 'active' || there.items.length > 0) this.#keep(there, item)
    // An actor that is made begins: not while this node may not act.
    else if (item.is !== 'barrier' && !this.#host.gate.held && !this.#entities.has(item.id)) this.#hold(shard, there, [item])
    else this.#give(shard, item)
  }

  /** An offer to an actor of a shard of this node: it waits for room in the mailbox; while there is no actor, its message waits for one. */
  offer(shard: number, id: string, offer: EntityOffer): void {
    const there = this.#shards.get(shard)
    if (there?.state === 'active' && there.items.length === 0 && this.#entities.offer(id, offer)) return
    if (this.#host.backlog.hasRoom) offer.send()
    else offer.waiting.fail(new OfferRefused(offer.path, `too much waits for actors of ${this.#spec.kind} that are not there yet`))
  }

  /** Lets it wait behind all else, as far as there is room. */
  #keep(there: Shard, item: Item): void {
    if (this.#mayWait(item)) there.items.push(item)
  }
  /** Whether it may; what may not is a dead letter. */
  #mayWait(item: Item): boolean {
    const { backlog, refuse } = this.#host
    if (item.is !== 'letter' || backlog.admit(item)) return true
    refuse(item, 'no-owner')
    return false
  }

  /** Keeps what is for actors that are not there, in front of all else, until this node may act. */
  #hold(shard: number, there: Shard, items: readonly Item[]): void {
    there.items = [...items.filter((item) => this.#mayWait(item)), ...there.items]
    this.#host.gate.whenHeld(() => {
      if (this.#shards.get(shard) !== there || there.state !== 'active') return
      const held = there.items
      there.items = []
      for (const item of held) this.deliver(shard, item)
    })
  }

  /**
   * Lets its actors end; resolves when all are gone, with the epoch in which it rests, or undefined where it is not this node's in that epoch any
   * more. It stays at rest until it is handed over, or goes on.
   */
  rest(shard: number): Promise<number | undefined> {
    const there = this.#shards.get(shard)
    if (there === undefined) return Promise.resolve(undefined)
    if (there.state !== 'fenced') there.state = 'resting'
    there.rests++
    this.#entities.stop(shard)
    if (this.#entities.in(shard) === 0) return Promise.resolve(there.epoch)
    return new Promise((resolve) => there.rested.push(resolve))
  }
  goOn(shard: number): void {
    const there = this.#shards.get(shard)
    if (there?.state !== 'resting') return
    if (there.raised) this.#run(shard, there)
    else there.state = 'starting'
  }

  /** Another owns it: what it had goes there. */
  release(shard: number): readonly Item[] {
    const there = this.#shards.get(shard)
    if (there === undefined) return []
    const { items } = there
    this.#end(shard, there, undefined)
    return items
  }

  /** This node is no member any more. */
  close(cause: unknown): void {
    for (const [shard, there] of this.#shards) {
      const { items } = there
      this.#end(shard, there, cause)
      this.#host.leave(shard, items)
    }
    this.#entities.close()
  }

  #end(shard: number, there: Shard, cause: unknown): void {
    this.#shards.delete(shard)
    there.items = []
    for (const resolve of there.rested.splice(0)) resolve(undefined)
    this.#entities.kill(shard, cause)
    there.tenant?.close()
  }

  #run(shard: number, there: Shard): void {
    if (this.#shards.get(shard) !== there || there.state === 'fenced') return
    if (!this.#host.gate.held) {
      const { rests } = there
      // It may have been brought to rest once more by then.
      return this.#host.gate.whenHeld(() => void (there.rests === rests && this.#run(shard, there)))
    }
    there.state = 'active'
    const { items } = there
    there.items = []
    for (const item of items) this.#give(shard, item)
    for (const id of this.#spec.eager) this.#eager(shard, id)
  }

  #eager(shard: number, id: string): void {
    try {
      this.#entities.start(shard, id)
    } catch (cause) {
      // A system that is closing makes no more actors; anything else is the user's to hear of.
      const { phase, logger } = this.#host.core
      if (phase === 'open') logger.error({ kind: this.#spec.kind, id, cause }, 'a singleton could not be started')
    }
  }

  #give(shard: number, item: Item): void {
    if (item.is === 'letter') this.#entities.deliver(shard, item)
    else if (item.is === 'watch') this.#entities.watch(item)
    else this.#host.barrier(shard, item)
  }

  #fenced(shard: number, there: Shard): void {
    if (this.#shards.get(shard) !== there) return
    // Nothing is made anew in an epoch that is over.
    there.state = 'fenced'
    this.#host.fenced(shard, there.epoch)
  }

  #made(shard: number, cell: Cell): void {
    this.#host.tenancy?.assign(cell, this.#shards.get(shard)?.tenant)
  }

  #gone(shard: number, _id: string, letters: readonly Letter[]): void {
    const there = this.#shards.get(shard)
    if (there === undefined) {
      if (letters.length > 0) this.#host.leave(shard, letters)
      return
    }
    if (there.state === 'active' && letters.length > 0 && !this.#host.gate.held) this.#hold(shard, there, letters)
    else if (there.state === 'active') for (const letter of letters) this.#entities.deliver(shard, letter)
    // What was here before all that waits is in front of it.
    else there.items = [...letters, ...there.items]
    if (this.#entities.in(shard) > 0) return
    for (const resolve of there.rested.splice(0)) resolve(there.epoch)
  }
}
