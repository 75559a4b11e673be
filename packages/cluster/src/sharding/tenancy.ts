// What a cluster asks of the journal of its system, if it has one: a writer for each shard, in the epoch in which the shard is owned, and whether
// two nodes mean the same journal. Persistence joins a system under its name and knows nothing of clusters; here is all that is asked of it.

import { type Cell, extensionOf, Keyed, type Meta } from '@troupe/core/internal'
import type { SystemView } from '@troupe/core'

/** Writes for the actors of one shard, in one epoch. */
export interface Tenant {
  /** Raises the fence. Resolves when no write of an earlier epoch can be stored any more; rejects where there is a later one. */
  raise(): Promise<void>
  close(): void
}

/** A word of persistence to one of its actors: a delivery, or what follows from one; a timer. */
export interface Unpacked {
  readonly message: unknown
  readonly meta: Meta
}

/** What persistence offers to those who have several owners for parts of one journal. */
interface TenantSource {
  identity(): Promise<string>
  epochOf(scope: string): Promise<number>
  tenant(scope: string, epoch: number, onLost: () => void): Tenant
  assign(cell: Cell, tenant: Tenant | undefined): void
  pack(message: unknown): unknown
  unpack(packed: unknown, current: (message: unknown) => unknown): Unpacked | undefined
}

export class Tenancy {
  readonly #source: TenantSource
  readonly #kind: string

  private constructor(source: TenantSource, kind: string) {
    this.#source = source
    this.#kind = kind
  }

  /** Undefined where the system has no journal. */
  static of(system: SystemView, kind: string): Tenancy | undefined {
    const source = extensionOf(system, 'persistence') as TenantSource | undefined
    return source === undefined ? undefined : new Tenancy(source, kind)
  }

  /** Random, and the same for all who have the same journal. */
  identity(): Promise<string> {
    return this.#source.identity()
  }
  /** The greatest epoch that the journal has for a shard. */
  epochOf(shard: number): Promise<number> {
    return this.#source.epochOf(this.#scope(shard))
  }
  tenant(shard: number, epoch: number, onLost: () => void): Tenant {
    return this.#source.tenant(this.#scope(shard), epoch, onLost)
  }
  /** The actor of a cell, and all below it, write as this tenant; undefined: they must not write at all. */
  assign(cell: Cell, tenant: Tenant | undefined): void {
    this.#source.assign(cell, tenant)
  }

  /** A word of persistence as plain data, which may cross to another node; undefined for every other message. */
  pack(message: unknown): unknown {
    return message instanceof Keyed ? this.#source.pack(message) : undefined
  }
  /** Undefined for what nobody packs, and for what `current` makes nothing of. */
  unpack(packed: unknown, current: (message: unknown) => unknown): Unpacked | undefined {
    return this.#source.unpack(packed, current)
  }

  #scope(shard: number): string {
    return `shard/${this.#kind}/${shard}`
  }
}
