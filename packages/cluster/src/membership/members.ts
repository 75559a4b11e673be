// Who lives, as one node knows it: from its mirror of the registry to members, and to what is told of each, once: that it joined, and that
// its session ended. An end is what the registry has recorded, never what this node guesses.

import { type Member, readMember, readSession, type SessionRecord } from '../values/member.ts'
import { sameSession } from '../values/session.ts'
import type { Sighting } from './decisions.ts'
import { memberKey, nodeIn, sessionKey } from './keys.ts'
import type { Mirror } from './mirror.ts'

/** A session that joined, or whose end was recorded; each is told once. */
export type MemberEvent = { readonly type: 'joined'; readonly member: Member } | { readonly type: 'ended'; readonly member: Member }

interface Watched extends Sighting {
  number: number
  up: boolean
  lastSeen: number
  wasUp: boolean
  lookedAt: number
  /** The beat of the renewal that was last seen. */
  beat: number
}

export class Members {
  readonly #mirror: Mirror
  /** Those of whom it was told that they joined. */
  readonly #joined = new Map<string, Member>()
  /** Sessions that have not ended, whether their lease was seen or not. */
  readonly #watched = new Map<string, Watched>()

  constructor(mirror: Mirror) {
    this.#mirror = mirror
  }

  /** Nodes whose session has not ended, in the order of their names. */
  get list(): readonly Member[] {
    return [...this.#joined.values()].sort((a, b) => (a.session.node < b.session.node ? -1 : 1))
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
  update(now: number): MemberEvent[] {
    const events: MemberEvent[] = []
    for (const [node, member] of this.#joined) {
      if (this.#livingNumber(node) === member.session.number) continue
      this.#joined.delete(node)
      events.push({ type: 'ended', member })
    }
    for (const node of this.#watched.keys()) if (this.#livingNumber(node) === undefined) this.#watched.delete(node)
    for (const key of this.#mirror.keys()) if (key.startsWith('session.')) this.#see(nodeIn(key), now, events)
    return events
  }

  #see(node: string, now: number, events: MemberEvent[]): void {
    const number = this.#livingNumber(node)
    if (number === undefined) return
    const text = this.#mirror.value(memberKey(node))
    const found = text === undefined ? undefined : readMember(node, text)
    const record = found?.session.number === number ? found : undefined
    let watched = this.#watched.get(node)
    if (watched?.number !== number) {
      watched = { number, up: false, lastSeen: now, wasUp: false, lookedAt: Number.NEGATIVE_INFINITY, beat: -1 }
      this.#watched.set(node, watched)
    }
    // A lease that has just gone is looked at at once.
    if (watched.up && record === undefined) watched.lookedAt = Number.NEGATIVE_INFINITY
    watched.up = record !== undefined
    if (record === undefined) return
    watched.wasUp = true
    if (record.beat !== watched.beat) watched.lastSeen = now
    watched.beat = record.beat
    const { session, roles, wire, maxMessageBytes } = record
    const known = this.#joined.get(node)
    if (known !== undefined && sameSession(known.session, session)) return
    const member = { session, roles, wire, maxMessageBytes }
    this.#joined.set(node, member)
    events.push({ type: 'joined', member })
  }

  /** The number of the node's session that has not ended; undefined where there is none. */
  #livingNumber(node: string): number | undefined {
    const text = this.#mirror.value(sessionKey(node))
    const record: SessionRecord | undefined = text === undefined ? undefined : readSession(text)
    return record === undefined || record.ended ? undefined : record.number
  }
}
