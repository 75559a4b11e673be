// Who should own a shard: a pure function of who is there, by the same rendezvous hashing as the routers have. It says nothing about who does.

import { hashOf, highestBidder } from '@troupe/core/internal'
import type { Member } from '../values/member.ts'

/** A node that may own shards. Known by its name, so that one that comes back gets again what it had. */
export interface Candidate {
  readonly node: string
  readonly hash: number
}

/** Those who may own shards of a kind, in an order that is the same on every node. */
export function candidatesOf(members: readonly Member[], role?: string): readonly Candidate[] {
  return members
    .filter((member) => role === undefined || member.roles.includes(role))
    .map(({ session: { node } }) => ({ node, hash: hashOf(node) }))
    .sort((a, b) => (a.node < b.node ? -1 : 1))
}

/** The shard of an id. */
export function shardOf(id: string, shards: number): number {
  return hashOf(id) % shards
}

/** The node that should own a shard; undefined where nobody may. When a node comes or goes only its own share moves. */
export function desiredOwner(kind: string, shard: number, candidates: readonly Candidate[]): string | undefined {
  return candidates.length === 0 ? undefined : candidates[highestBidder(hashOf(`${kind}.${shard}`), candidates)]!.node
}
