// What membership decides, as functions of what was seen and when: how long a lease is trusted, which number a session gets, who may be
// declared ended, and when to look. Times are milliseconds of the deciding node's own clock.

import type { MemberRecord, SessionRecord } from '../values/member.ts'

/** A node trusts its lease for this share of it, so that clocks may differ by a tenth in rate. */
const trusted = 0.9

/** Until when a node may act on a lease whose renewal it *sent* at that time: the registry's own count began later. */
export function deadlineOf(sentAt: number, lease: number): number {
  return sentAt + trusted * lease
}

/** The number of a node's next session. Not below the wall clock: a registry that lost its data must not repeat one. */
export function nextNumber(last: number | undefined, wall: number): number {
  return Math.max((last ?? 0) + 1, Math.floor(wall))
}

/** How a name looks to a node that wants it. */
export interface NameSeen {
  readonly session: SessionRecord | undefined
  /** The latest write of the lease of that name, and the first that this node saw. */
  readonly member: { readonly record: MemberRecord; readonly revision: number } | undefined
  readonly firstRevision: number | undefined
  /** How long it has been looking. */
  readonly waited: number
  /** How long the lease has been missing at every look; 0 if it is there. */
  readonly missingFor: number
}

/**
 * Decides whether a name may be taken. If the last session of it has not ended, its node may have crashed, or come back from an outage: it gets
 * one lease to show itself. That lease begins when its key is first seen to be missing: a key that vanished early may have been renewed right
 * before, and then its node acts for a full lease.
 */
export function decideName({ session, member, firstRevision, waited, missingFor }: NameSeen, lease: number): 'take' | 'wait' | 'taken' {
  if (session === undefined || session.ended) return 'take'
  if (member !== undefined && member.record.session.number === session.number) {
    if (member.revision !== firstRevision) return 'taken'
    // A lease that nobody renews is gone by then, and a second later at the latest.
    return waited < lease + 2_000 ? 'wait' : 'taken'
  }
  return missingFor < lease ? 'wait' : 'take'
}

/** When a node's own lease began to be renewed without a gap: a longer one may have been an outage, in which all leases ran out. */
export function steadyAfter(steadySince: number, lastRenewal: number, now: number, lease: number): number {
  return now - lastRenewal > lease / 2 ? now : steadySince
}

/** What a node knows of another session that has not ended. */
export interface Sighting {
  /** Whether its lease is in the registry, as far as is known here. */
  readonly up: boolean
  /** The time at which a renewal of it was last seen, by a hint, a list or a look; at first the time at which this node heard of it. */
  readonly lastSeen: number
  /** The time of the last hint of a renewal. Without hints it is looked at again and again, so that `lastSeen` is not much later than the renewal. */
  readonly lastHint: number
  /** The time before which it is not ended while its lease is not in the registry. */
  readonly endsAt: number
  /** When it was last looked at in the registry itself. */
  readonly lookedAt: number
}

/** How often a session that is not heard of is looked at. */
export function lookInterval(lease: number): number {
  return Math.min(lease / 3, 1_000)
}

/** Whether to look at a session in the registry: hints of its renewals, one every third, are missing, or one said that its lease is gone. */
export function isSuspect({ up, lastHint, lookedAt, endsAt }: Sighting, now: number, lease: number): boolean {
  // The look by which its end can be recorded is not late because of one shortly before it.
  if (!up && now >= endsAt && lookedAt < endsAt) return true
  return (!up || now - lastHint >= lease / 2) && now - lookedAt >= lookInterval(lease)
}

/** Milliseconds until sessions have to be looked at again. */
export function nextLook(sightings: Iterable<Sighting>, now: number, lease: number): number {
  let next = lookInterval(lease)
  for (const { up, endsAt } of sightings) if (!up && endsAt > now) next = Math.min(next, endsAt - now)
  return next
}

/**
 * Decides if this node may record the end of a session whose lease is not in the registry. After an outage all leases may be gone and all
 * nodes alive: a node that has not itself been steady for a lease leaves the others time to come back.
 */
export function mayEnd({ endsAt }: Sighting, now: number, steadyFor: number, lease: number): boolean {
  return steadyFor >= lease && now >= endsAt
}

/**
 * Decides when a session ends whose lease key is not in the registry at `goneAt`. A key runs out a full lease after the last renewal. One that
 * is gone earlier was purged, or the clock of the server was stepped, or another replica leads: its node is alive, and may have renewed it
 * after the renewal that was seen last. So a full lease has to pass since the key was gone. In that time its node puts the key back.
 *
 * `lastSeen` is the time at which the last renewal was seen, and `seenAfter` a time before it was written.
 */
export function endsAfter(lastSeen: number, seenAfter: number, goneAt: number, lease: number): number {
  return goneAt < seenAfter + trusted * lease ? goneAt + lease : lastSeen + lease
}
