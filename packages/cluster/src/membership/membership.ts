// One node's part in knowing who lives. It keeps its own lease, follows those of the others, and records the end of a session whose lease
// is gone: by compare-and-set, so that an end is one fact for all, and a session that came back in time has not ended for anybody.
//
//   beat    every third of the lease: renew, or take it again
//   look    at sessions that were not heard of for a lease; record the end of those whose lease is gone
//   sync    once a lease, and whenever a watch may have missed something: list

import type { Entry, Hint, Registry, Watch } from '../ports/registry.ts'
import type { Timing } from '../ports/timing.ts'
import { LeaseDiffers, MessageLimitDiffers, RegistryUnavailable, SessionEnded, VersionsApart } from '../values/errors.ts'
import { type Member, readMember, readSession, readVersions, writeSession } from '../values/member.ts'
import type { Session } from '../values/session.ts'
import { commonVersion, type Versions, versionsText } from '../values/versions.ts'
import { isSuspect, lookInterval, mayEnd, nextLook, type Sighting } from './decisions.ts'
import { type Applicant, takeSession } from './joining.ts'
import { endRemembered, memberKey, nodeIn, sessionKey } from './keys.ts'
import { ignoreConflict, Lease, type Renewal } from './lease.ts'
import { type MemberEvent, Members, type News } from './members.ts'
import { Mirror } from './mirror.ts'
import { retried } from './retry.ts'

export interface MembershipOptions extends Applicant {
  readonly roles: readonly string[]
  readonly wire: Versions
  /** The most bytes that a message may take. */
  readonly maxMessageBytes: number
  /** Milliseconds that also pass while the machine is suspended: this node's own lease is counted by it. `timing.now` if left out. */
  readonly clock?: (() => number) | undefined
  /** Told once of each session that joined, also of those that were there before, and once of its end. This node's own is not among them. */
  readonly onEvent: (event: MemberEvent) => void
  /** This node's session is over, without its having left. */
  readonly onEnded: (cause: SessionEnded) => void
}

/** Attempts of a joining node to take its lease for one session, and the number of sessions that it takes at most. */
const maxTries = 10
/** Of so many sessions each is read by itself; more are listed. */
const readAlone = 3

type Task = 'beat' | 'look' | 'sync'

export class Membership {
  readonly self: Member
  readonly #options: MembershipOptions
  readonly #registry: Registry
  readonly #timing: Timing
  readonly #lease: Lease
  readonly #mirror = new Mirror()
  readonly #members: Members
  readonly #watches: Watch[] = []
  readonly #looking = new Set<string>()
  readonly #timers = new Map<Task, () => void>()
  #phase: 'joining' | 'member' | 'left' | 'ended' = 'joining'
  /** Whether a list is under way, and whether another is to follow. */
  #syncing: 'no' | 'yes' | 'again' = 'no'
  /** How many lists there were. */
  #lists = 0

  private constructor(options: MembershipOptions, self: Member) {
    this.self = self
    this.#options = options
    this.#registry = options.registry
    this.#timing = options.timing
    const { registry, timing, lease, clock = () => timing.now() } = options
    this.#lease = new Lease(registry, timing, self, lease, clock)
    this.#members = new Members(this.#mirror, lease)
  }

  /**
   * Joins under a name. A session that ends before it was a member was too slow to take its lease: the node takes another one. Rejects with
   * `NodeNameTaken`, `VersionsApart`, `LeaseDiffers`, `MessageLimitDiffers`, or `RegistryUnavailable`.
   */
  static async join(options: MembershipOptions): Promise<Membership> {
    for (let tries = 1; ; tries++) {
      try {
        return await Membership.#joinOnce(options)
      } catch (cause) {
        if (!(cause instanceof SessionEnded)) throw cause
        if (tries === maxTries) throw tooSlow(tries)
        options.onTrouble('The session of this node ended while it joined; it takes another one', cause)
      }
    }
  }

  static async #joinOnce(options: MembershipOptions): Promise<Membership> {
    const session = await takeSession(options)
    const { roles, wire, maxMessageBytes } = options
    const membership = new Membership(options, { session, roles, wire, maxMessageBytes })
    try {
      await membership.#begin()
    } catch (cause) {
      // What it began would keep the name for a lease.
      await membership.leave().catch(() => {})
      throw cause
    }
    return membership
  }

  /** All whose session has not ended, this node among them. */
  get members(): readonly Member[] {
    return this.#members.list
  }

  /** The member with that name; undefined where there is none. */
  member(node: string): Member | undefined {
    return this.#members.member(node)
  }

  /** Milliseconds for which this node may still act in the name of its session; 0 if it may not. */
  get heldFor(): number {
    return this.#phase === 'member' ? Math.max(0, this.#lease.heldFor) : 0
  }

  /** What is known of the lease of a session that has not ended. */
  sighting(node: string): Sighting | undefined {
    return this.#members.sightings.get(node)
  }

  /** Whether this node may act in the name of its session now. After a pause it may not until its lease has been renewed. */
  get held(): boolean {
    return this.#phase === 'member' && this.#lease.heldFor > 0
  }

  /** Milliseconds for which this node has been connected without a gap. */
  get steadyFor(): number {
    return this.#lease.steadyFor
  }

  /**
   * Whether the end of a session is recorded, asked of the registry itself: what this node knows may be of the past, and a session that it
   * has not heard of may only have begun. Rejects with `RegistryUnavailable`.
   */
  async hasEnded({ node, number }: Session): Promise<boolean> {
    const session = await this.#registry.read(sessionKey(node))
    const record = session === undefined ? undefined : readSession(session.value)
    return record === undefined || record.number > number || (record.number === number && record.ended)
  }

  /** Resolves when this node knows everybody who had joined when it was asked, by the registry itself; also where its session is over. */
  async refresh(): Promise<void> {
    const pause = (ms: number): Promise<void> => new Promise((resolve) => void this.#timing.timer(ms, resolve))
    while (!this.#over) {
      // A list that is under way may have begun too early.
      while (this.#syncing !== 'no') await pause(10)
      const before = this.#lists
      await this.#sync()
      if (this.#lists > before) return
      await pause(this.#options.lease / 12)
    }
  }

  /** Records the end of this session. Where the registry does not answer, others will, when its lease has run out: rejects then. */
  async leave(): Promise<void> {
    if (this.#over) return
    this.#stop('left')
    await this.#lease.release()
    await this.#recordEnd(this.self.session.node, this.self.session.number)
  }

  get #over(): boolean {
    return this.#phase === 'left' || this.#phase === 'ended'
  }

  async #begin(): Promise<void> {
    for (const prefix of ['session', 'member']) this.#watches.push(this.#registry.watch(prefix, (hint) => this.#hint(hint)))
    const take = (): Promise<Renewal> => retried(this.#options, () => this.#lease.take())
    let renewal = await take()
    for (let tries = 1; renewal === 'again'; tries++) {
      if (tries === maxTries) throw tooSlow(tries)
      renewal = await take()
    }
    if (renewal !== 'held') throw new SessionEnded(this.self.session, renewal.ended)
    // From here on, however long the rest of joining takes.
    this.#set('beat', this.#lease.renewIn)
    let since = this.#timing.now()
    await retried(this.#options, () => {
      since = this.#timing.now()
      return this.#mirror.refresh(() => this.#list())
    })
    this.#checkOthers()
    if (this.#over || this.#isEndListed()) throw new SessionEnded(this.self.session, 'its end was recorded while it joined')
    this.#phase = 'member'
    this.#changed({ type: 'read', since, node: undefined })
    const { lease } = this.#options
    this.#set('look', lookInterval(lease))
    this.#set('sync', lease)
  }

  /** Returns if the last list has the end of this session. */
  #isEndListed(): boolean {
    const { node, number } = this.self.session
    const text = this.#mirror.value(sessionKey(node))
    const record = text === undefined ? undefined : readSession(text)
    return record !== undefined && (record.number > number || (record.number === number && record.ended))
  }

  #checkOthers(): void {
    const { cluster, node, wire, lease, maxMessageBytes } = this.#options
    for (const key of this.#mirror.keys()) {
      if (!key.startsWith('member.')) continue
      const value = this.#mirror.value(key)!
      const speaks = readVersions(nodeIn(key), value)
      if (speaks !== undefined && commonVersion(wire, speaks.wire) === undefined)
        throw new VersionsApart(cluster, node, versionsText(wire), speaks.session, versionsText(speaks.wire))
      const other = readMember(nodeIn(key), value)
      if (other === undefined) continue
      if (other.lease !== lease) throw new LeaseDiffers(cluster, node, lease, other.session, other.lease)
      if (other.maxMessageBytes !== maxMessageBytes)
        throw new MessageLimitDiffers(cluster, node, maxMessageBytes, other.session, other.maxMessageBytes)
    }
  }

  /** Runs a task after `ms`, instead of when it was to run. */
  #set(name: Task, ms: number): void {
    this.#timers.get(name)?.()
    if (this.#over) return
    const run = { beat: () => void this.#beat(), look: () => this.#look(), sync: () => void this.#sync() }
    this.#timers.set(name, this.#timing.timer(ms, run[name]))
  }

  async #beat(): Promise<void> {
    const { lease } = this.#options
    let next: number
    try {
      const renewal = await this.#lease.renew()
      if (renewal === 'again') next = 0
      else if (renewal !== 'held') return this.#end(renewal.ended)
      else next = this.#lease.renewIn
    } catch (cause) {
      this.#trouble('The lease could not be renewed', cause)
      next = lease / 12
    }
    if (!this.#over) this.#set('beat', next)
  }

  #hint(hint: Hint): void {
    if (this.#over) return
    if (hint === 'anything') {
      if (this.#phase === 'member') void this.#sync()
    } else if (this.#mirror.change(hint) && this.#phase === 'member') this.#changed({ type: 'hint', key: hint.key })
  }

  async #sync(): Promise<void> {
    if (this.#syncing !== 'no') {
      this.#syncing = 'again'
      return
    }
    let next = this.#options.lease
    do {
      this.#syncing = 'yes'
      const since = this.#timing.now()
      try {
        await this.#mirror.refresh(() => this.#list())
        this.#lists++
        if (!this.#over) this.#changed({ type: 'read', since, node: undefined })
      } catch (cause) {
        this.#trouble('The members could not be listed', cause)
        next = this.#options.lease / 12
      }
      // Typed anew: a hint may have asked for another one meanwhile.
    } while ((this.#syncing as string) === 'again' && !this.#over && next === this.#options.lease)
    this.#syncing = 'no'
    if (!this.#over) this.#set('sync', next)
  }

  async #list(): Promise<Entry[]> {
    return [...(await this.#registry.list('session')), ...(await this.#registry.list('member'))]
  }

  #changed(news: News): void {
    for (const event of this.#members.update(this.#timing.now(), news)) {
      if (this.#over) return
      const { node, number } = event.member.session
      if (node !== this.self.session.node) this.#options.onEvent(event)
      else if (event.type === 'ended' && number === this.self.session.number) return this.#end('its end was recorded')
    }
    if (!this.#over) this.#look()
  }

  /** Looks at those who were not heard of. */
  #look(): void {
    const { lease } = this.#options
    const now = this.#timing.now()
    const suspects: Session[] = []
    for (const [node, sighting] of this.#members.sightings)
      if (node !== this.self.session.node && !this.#looking.has(node) && isSuspect(sighting, now, lease))
        suspects.push({ node, number: sighting.number })
    for (const { node } of suspects) {
      this.#members.looked(node, now)
      this.#looking.add(node)
    }
    // One list for many: where all are late, each node would read all the others one by one, when there is least time for it.
    if (suspects.length > readAlone) this.#lookWith(suspects, this.#lookAtAll(suspects))
    else for (const suspect of suspects) this.#lookWith([suspect], this.#lookAt(suspect))
    this.#set('look', nextLook(this.#members.sightings.values(), now, lease))
  }

  #lookWith(suspects: readonly Session[], look: Promise<void>): void {
    look
      .catch((cause: unknown) => this.#trouble(`${suspects.map(({ node }) => node).join(', ')} could not be looked at`, cause))
      .finally(() => {
        for (const { node } of suspects) this.#looking.delete(node)
      })
  }

  /** Looks at a session in the registry itself, and records its end where its lease is gone. */
  async #lookAt(suspect: Session): Promise<void> {
    const { node } = suspect
    const since = this.#timing.now()
    // The session first, then its lease: who comes back does it the other way round.
    const [sessionKnown, memberKnown] = [this.#mirror.revision(sessionKey(node)), this.#mirror.revision(memberKey(node))]
    const session = await this.#registry.read(sessionKey(node))
    const member = await this.#registry.read(memberKey(node))
    if (this.#over) return
    this.#mirror.read(sessionKey(node), session, sessionKnown)
    this.#mirror.read(memberKey(node), member, memberKnown)
    this.#changed({ type: 'read', since, node })
    await this.#endIfGone(suspect, session)
  }

  /** The same for many, in the same order: all sessions first, then all leases. */
  async #lookAtAll(suspects: readonly Session[]): Promise<void> {
    const since = this.#timing.now()
    let sessions: readonly Entry[] = []
    await this.#mirror.refresh(async () => {
      sessions = await this.#registry.list('session')
      return [...sessions, ...(await this.#registry.list('member'))]
    })
    if (this.#over) return
    this.#changed({ type: 'read', since, node: undefined })
    const byKey = new Map(sessions.map((entry) => [entry.key, entry]))
    await Promise.all(suspects.map((suspect) => this.#endIfGone(suspect, byKey.get(sessionKey(suspect.node)))))
  }

  /** Records the end of a session whose lease is gone. It stands as `session` has it, which was read before its lease was. */
  async #endIfGone({ node, number }: Session, session: Entry | undefined): Promise<void> {
    const record = session === undefined ? undefined : readSession(session.value)
    const sighting = this.#members.sightings.get(node)
    if (session === undefined || record === undefined || record.number !== number || sighting?.number !== number || !this.held) return
    // By what is known now: a lease that was not there when it was read may have been taken since, by one who is only joining.
    if (sighting.up || !mayEnd(sighting, this.#timing.now(), this.#lease.steadyFor, this.#options.lease)) return
    const value = writeSession({ ...record, ended: true })
    const revision = await this.#registry.update(sessionKey(node), value, session.revision, { ttl: endRemembered }).catch(ignoreConflict)
    if (revision !== undefined && !this.#over && this.#mirror.change({ key: sessionKey(node), revision, value })) this.#changed({ type: 'write' })
  }

  async #recordEnd(node: string, number: number): Promise<void> {
    const session = await this.#registry.read(sessionKey(node))
    const record = session === undefined ? undefined : readSession(session.value)
    if (session === undefined || record === undefined || record.ended || record.number !== number) return
    const value = writeSession({ ...record, ended: true })
    await this.#registry.update(sessionKey(node), value, session.revision, { ttl: endRemembered }).catch(ignoreConflict)
  }

  #end(why: string): void {
    if (this.#over) return
    const joining = this.#phase === 'joining'
    this.#stop('ended')
    // Who is joining hears of it by the rejection of that.
    if (!joining) this.#options.onEnded(new SessionEnded(this.self.session, why))
  }

  #stop(phase: 'left' | 'ended'): void {
    this.#phase = phase
    for (const cancel of this.#timers.values()) cancel()
    for (const watch of this.#watches) watch.stop()
  }

  #trouble(text: string, cause: unknown): void {
    if (!this.#over) this.#options.onTrouble(text, cause)
  }
}

function tooSlow(tries: number): RegistryUnavailable {
  return new RegistryUnavailable('take the lease', `its answers took longer than the lease, ${tries} times`)
}
