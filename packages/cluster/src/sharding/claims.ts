// What a node does about shards, as functions of what it sees: which it claims, which it hands over and to whom, which it starts and stops.
// Whatever it decides is written by compare-and-set against the revision it saw, so that a view of the past decides nothing.

import { sameSession, type Session } from '../values/session.ts'
import { nextEpoch, type Ownership } from './ownership.ts'

/** A shard as it was seen in the registry: who owns it, if anybody ever did, and at which revision that was. */
export interface ShardSeen {
  readonly shard: number
  readonly owner: Ownership | undefined
  /** Undefined where the key is not there. What is no ownership is there, and owned by nobody. */
  readonly revision: number | undefined
}

/** A write to try: `record` where the shard is still at `expected`. */
export interface Claim {
  readonly shard: number
  readonly expected: number | undefined
  readonly record: Ownership
}

export interface ClaimView {
  readonly self: Session
  readonly shards: readonly ShardSeen[]
  /** Who should own a shard. */
  readonly desired: (shard: number) => string | undefined
  /** Whether the end of a session is *recorded*. One that is merely not known has not ended. */
  readonly ended: (session: Session) => boolean
  /** Whether this node may act in the name of its session. */
  readonly held: boolean
  /** The greatest epoch that the journal has for a shard. */
  readonly journal?: (shard: number) => number | undefined
}

/** The shards to claim: those that this node should own and nobody owns, or one whose session has ended. Never from one that lives. */
export function decideClaims({ self, shards, desired, ended, held, journal }: ClaimView): readonly Claim[] {
  if (!held) return []
  const claims: Claim[] = []
  for (const { shard, owner, revision } of shards) {
    if (desired(shard) !== self.node || (owner !== undefined && (sameSession(owner.session, self) || !ended(owner.session)))) continue
    claims.push({ shard, expected: revision, record: { session: self, epoch: nextEpoch(owner?.epoch, journal?.(shard)) } })
  }
  return claims
}

export interface HandOver {
  readonly shard: number
  readonly to: Session
}

/**
 * The shards to hand over next: those that this node owns and another that lives should, so many that at most `limit` are under way.
 * `sessionOf` gives the session of a node that is a member.
 */
export function planHandOvers(
  { self, shards, desired }: Pick<ClaimView, 'self' | 'shards' | 'desired'>,
  sessionOf: (node: string) => Session | undefined,
  underWay: ReadonlySet<number>,
  limit: number,
): readonly HandOver[] {
  const plan: HandOver[] = []
  for (const { shard, owner } of shards) {
    if (plan.length + underWay.size >= limit) break
    if (owner === undefined || !sameSession(owner.session, self) || underWay.has(shard)) continue
    const node = desired(shard)
    const to = node === undefined || node === self.node ? undefined : sessionOf(node)
    if (to !== undefined) plan.push({ shard, to })
  }
  return plan
}

/** What an owner writes when a shard has come to rest: the other owns it, in the next epoch. */
export function handedOver(owner: Ownership, to: Session, journal?: number): Ownership {
  return { session: to, epoch: nextEpoch(owner.epoch, journal) }
}

/** What to start and what to stop. A shard whose epoch changed is both: what runs is of the past. */
export interface Activations {
  readonly start: readonly { readonly shard: number; readonly epoch: number }[]
  readonly stop: readonly number[]
}

/** `active` has the epoch in which each shard runs here. */
export function decideActivations(self: Session, shards: readonly ShardSeen[], active: ReadonlyMap<number, number>): Activations {
  const mine = new Map<number, number>()
  for (const { shard, owner } of shards) if (owner !== undefined && sameSession(owner.session, self)) mine.set(shard, owner.epoch)
  return {
    start: [...mine].filter(([shard, epoch]) => active.get(shard) !== epoch).map(([shard, epoch]) => ({ shard, epoch })),
    stop: [...active].filter(([shard, epoch]) => mine.get(shard) !== epoch).map(([shard]) => shard),
  }
}
