// Who lives, as one node knows it: from its mirror of the registry to members, and to what is told of each, once: that it joined, and that
// its session ended. An end is what the registry has recorded, never what this node guesses.

import { type Member, readMember, readSession, type SessionRecord } from '../values/member.ts'
import { sameSession } from '../values/session.ts'
import { endsAfter, type Sighting } from './decisions.ts'
import { memberKey, nodeIn, sessionKey } from './keys.ts'
import type { Mirror } from './mirror.ts'

/** A session that joined, or whose end was recorded; each is told once. */
export type MemberEvent = { readonly type: 'joined'; readonly member: Member } | { readonly type: 'ended'; readonly member: Member }

interface Watched extends Sighting {
  number: number
  up: boolean
  lastSeen: number
  lastHint: number
  lookedAt: number
  endsAt: number
  /** The renewal that was last seen was written after this. */
  seenAfter: number
  /** The beginning of the last read that found it. */
  readAt: number
  /** The revision at which its key was gone; undefined while it is there. */
  goneRevision: number | undefined
  /** The beat of the renewal that was last seen. */
  beat: number
}

/** The news that the mirror has: a hint about a key, or a read that began at `since`, of one node or of all. */
export type News =
  | { readonly type: 'hint'; readonly key: string }
  | { readonly type: 'read'; readonly since: number; readonly node: string | undefined }
  | { readonly type: 'write' }

export class Members {
  readonly #mirror: Mirror
  readonly #lease: number
  /** Those of whom it was told that they joined. */
  readonly #joined = new Map<string, Member>()
  /** Sessions that have not ended, whether their lease was seen or not. */
  readonly #watched = new Map<string, Watched>()
  /** Those who joined by name, until that changes. */
  #sorted: readonly Member[] | undefined

  constructor(mirror: Mirror, lease: number) {
    this.#mirror = mirror
    this.#lease = lease
  }

  /** Nodes whose session has not ended, in the order of their names. */
  get list(): readonly Member[] {
    return (this.#sorted ??= [...this.#joined.values()].sort((a, b) => (a.session.node < b.session.node ? -1 : 1)))
  }

  member(node: string): Member | undefined {
    return this.#joined.get(node)
  }

  /** Sessions that have not ended, with what is known of their leases. */
  get sightings(): ReadonlyMap<string, Sighting & { readonly number: number }> {
    return this.#watched
  }

  /** A session was looked at in the registry itself. */
  looked(node: string, now: number): void {
    const watched = this.#watched.get(node)
    if (watched !== undefined) watched.lookedAt = now
  }

  /** Brings this up to what the mirror has, and says what is new. */
  update(now: number, news: News): MemberEvent[] {
    const events: MemberEvent[] = []
    // A hint is about one node: in a large cluster there are many of them, and most are renewals.
    const nodes = news.type === 'hint' ? [nodeIn(news.key)] : this.#nodes()
    for (const node of nodes) this.#dropEnded(node, events)
    for (const node of nodes) this.#see(node, now, news, events)
    if (events.length > 0) this.#sorted = undefined
    return events
  }

  /** All nodes of which anything is known. */
  #nodes(): Iterable<string> {
    const nodes = new Set([...this.#joined.keys(), ...this.#watched.keys()])
    for (const key of this.#mirror.keys()) if (key.startsWith('session.')) nodes.add(nodeIn(key))
    return nodes
  }

  #dropEnded(node: string, events: MemberEvent[]): void {
    const number = this.#livingNumber(node)
    if (number === undefined) this.#watched.delete(node)
    const member = this.#joined.get(node)
    if (member === undefined || member.session.number === number) return
    this.#joined.delete(node)
    events.push({ type: 'ended', member })
  }

  #see(node: string, now: number, news: News, events: MemberEvent[]): void {
    const number = this.#livingNumber(node)
    if (number === undefined) return
    const text = this.#mirror.value(memberKey(node))
    const found = text === undefined ? undefined : readMember(node, text)
    const record = found?.session.number === number ? found : undefined
    let watched = this.#watched.get(node)
    if (watched?.number !== number) {
      watched = newlyWatched(number, now, this.#lease)
      this.#watched.set(node, watched)
    }
    if (record === undefined) return this.#isGone(watched, this.#mirror.revision(memberKey(node)), now)
    watched.up = true
    watched.goneRevision = undefined
    const readSince = news.type === 'read' && (news.node ?? node) === node ? news.since : undefined
    if (record.beat !== watched.beat) {
      watched.lastSeen = now
      if (news.type === 'hint' && news.key === memberKey(node)) watched.lastHint = now
      watched.seenAfter = readSince === undefined ? now : watched.readAt
    }
    if (readSince !== undefined) watched.readAt = readSince
    watched.beat = record.beat
    const { session, roles, wire, maxMessageBytes } = record
    const known = this.#joined.get(node)
    if (known !== undefined && sameSession(known.session, session)) return
    const member = { session, roles, wire, maxMessageBytes }
    this.#joined.set(node, member)
    events.push({ type: 'joined', member })
  }

  /** Notes that the key of a lease is gone. */
  #isGone(watched: Watched, revision: number | undefined, now: number): void {
    const ends = endsAfter(watched.lastSeen, watched.seenAfter, now, this.#lease)
    if (watched.up) {
      watched.endsAt = ends
      // It is looked at at once.
      watched.lookedAt = Number.NEGATIVE_INFINITY
    } else if (revision !== undefined && watched.goneRevision !== undefined && revision > watched.goneRevision) {
      // Removed once more: it was there in between. After an early removal the node is likely to live, so it gets another lease.
      const early = watched.endsAt > watched.lastSeen + this.#lease
      watched.endsAt = Math.max(watched.endsAt, early ? now + this.#lease : ends)
    }
    watched.up = false
    watched.goneRevision = revision ?? watched.goneRevision
  }

  /** The number of the node's session that has not ended; undefined where there is none. */
  #livingNumber(node: string): number | undefined {
    const text = this.#mirror.value(sessionKey(node))
    const record: SessionRecord | undefined = text === undefined ? undefined : readSession(text)
    return record === undefined || record.ended ? undefined : record.number
  }
}

function newlyWatched(number: number, now: number, lease: number): Watched {
  // A session that only begins has no lease yet: it is not looked at before it had time to take one.
  const ends = now + lease
  return {
    number,
    up: false,
    lastSeen: now,
    lastHint: now,
    lookedAt: now,
    endsAt: ends,
    seenAfter: now,
    readAt: now,
    goneRevision: undefined,
    beat: -1,
  }
}
