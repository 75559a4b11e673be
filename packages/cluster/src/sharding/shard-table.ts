// What the registry has about a kind, as far as this node knows: who owns its shards, and which nodes host it. Each value is read once, and not at
// every look at the shards; and all of it is listed only where something has changed since the last time.

import { Mirror } from '../membership/mirror.ts'
import type { Registry } from '../ports/registry.ts'
import type { ShardSeen } from './claims.ts'
import { ownKey, readOwnership } from './ownership.ts'

interface Read {
  readonly value: string | undefined
  readonly seen: ShardSeen
}

export class ShardTable {
  /** Who owns which shard. */
  readonly owners: Mirror = new Mirror()
  /** Who hosts the kind. */
  readonly hosts: Mirror = new Mirror()
  readonly #registry: Registry
  readonly #kind: string
  readonly #keys: readonly string[]
  readonly #read: Read[]
  /** What the registry had before the last list that `refresh` made. */
  #fingerprint: string | undefined

  constructor(registry: Registry, kind: string, shards: number) {
    this.#registry = registry
    this.#kind = kind
    this.#keys = Array.from({ length: shards }, (_, shard) => ownKey(kind, shard))
    this.#read = this.#keys.map((_, shard) => ({ value: undefined, seen: { shard, owner: undefined, revision: undefined } }))
  }

  key(shard: number): string {
    return this.#keys[shard]!
  }

  at(shard: number): ShardSeen {
    const key = this.#keys[shard]!
    const value = this.owners.value(key)
    const revision = value === undefined ? undefined : this.owners.revision(key)
    const before = this.#read[shard]!
    if (before.value === value && before.seen.revision === revision) return before.seen
    const seen: ShardSeen = { shard, owner: value === undefined ? undefined : readOwnership(value), revision }
    this.#read[shard] = { value, seen }
    return seen
  }

  all(): readonly ShardSeen[] {
    return this.#keys.map((_, shard) => this.at(shard))
  }

  /** Reads a shard in the registry. */
  async read(shard: number): Promise<void> {
    const key = this.#keys[shard]!
    const known = this.owners.revision(key)
    this.owners.read(key, await this.#registry.read(key), known)
  }

  /** Lists everything. */
  async list(): Promise<void> {
    await this.owners.refresh(() => this.#registry.list(`own.${this.#kind}`))
    await this.hosts.refresh(() => this.#registry.list(`host.${this.#kind}`))
  }

  /** Lists everything if something has changed since it last did: hints are no promise. Otherwise it costs the same for every number of shards. */
  async refresh(): Promise<void> {
    const prints = [`own.${this.#kind}`, `host.${this.#kind}`].map((prefix) => this.#registry.fingerprint(prefix))
    const fingerprint = (await Promise.all(prints)).join()
    if (fingerprint === this.#fingerprint) return
    await this.list()
    this.#fingerprint = fingerprint
  }
}
