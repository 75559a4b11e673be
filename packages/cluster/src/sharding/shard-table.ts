// What is known of who owns the shards of a kind: a mirror of the registry, with what its values say. Each value is read once, and not at every
// look at the shards.

import { Mirror } from '../membership/mirror.ts'
import type { ShardSeen } from './claims.ts'
import { ownKey, readOwnership } from './ownership.ts'

interface Read {
  readonly value: string | undefined
  readonly seen: ShardSeen
}

export class ShardTable {
  readonly mirror: Mirror = new Mirror()
  readonly #keys: readonly string[]
  readonly #read: Read[]

  constructor(kind: string, shards: number) {
    this.#keys = Array.from({ length: shards }, (_, shard) => ownKey(kind, shard))
    this.#read = this.#keys.map((_, shard) => ({ value: undefined, seen: { shard, owner: undefined, revision: undefined } }))
  }

  key(shard: number): string {
    return this.#keys[shard]!
  }

  at(shard: number): ShardSeen {
    const key = this.#keys[shard]!
    const value = this.mirror.value(key)
    const revision = value === undefined ? undefined : this.mirror.revision(key)
    const before = this.#read[shard]!
    if (before.value === value && before.seen.revision === revision) return before.seen
    const seen: ShardSeen = { shard, owner: value === undefined ? undefined : readOwnership(value), revision }
    this.#read[shard] = { value, seen }
    return seen
  }

  all(): readonly ShardSeen[] {
    return this.#keys.map((_, shard) => this.at(shard))
  }
}
