// The lease of this node's own session: renewed every third of it by compare-and-set, taken anew where it ran out while the registry was
// away. It is trusted until 0.9 of it after a renewal was sent that was acknowledged; past that nothing may be done in its name.
//
// After its key was made, also the first time, the session's own record is written once more before the lease counts: whoever was about
// to record the end of the session saw no key, and now finds another revision than it expects.

import type { Registry, Revision } from '../ports/registry.ts'
import type { Timing } from '../ports/timing.ts'
import { RegistryConflict, RegistryUnavailable } from '../values/errors.ts'
import { type Member, type MemberRecord, readMember, readSession, writeMember, writeSession } from '../values/member.ts'
import { deadlineOf, steadyAfter } from './decisions.ts'
import { memberKey, sessionKey } from './keys.ts'

/** What became of an attempt: the lease is held, the session has ended, or it is not known yet and to be tried again. */
export type Renewal = 'held' | 'again' | { readonly ended: string }

export class Lease {
  readonly #registry: Registry
  readonly #timing: Timing
  readonly #member: Member
  readonly #lease: number
  /** Milliseconds that also pass while the machine is suspended. */
  readonly #clock: () => number
  /** When each of the last writes was sent, by its beat: an answer that was lost is found by reading. */
  readonly #sentAt = new Map<number, number>()
  #beat = 0
  /** Counts attempts: one that is still waited for when the next begins decides nothing any more. */
  #attempt = 0
  #revision: Revision | undefined
  /** The key was made, and the session's record not yet written after it. */
  #returning = true
  #deadline = Number.NEGATIVE_INFINITY
  #steadySince = Number.NEGATIVE_INFINITY
  #renewedAt = Number.NEGATIVE_INFINITY

  constructor(registry: Registry, timing: Timing, member: Member, lease: number, clock: () => number) {
    this.#registry = registry
    this.#timing = timing
    this.#member = member
    this.#lease = lease
    this.#clock = clock
  }

  /** Milliseconds for which this node may still act in the name of its session; 0 or less if it may not. */
  get heldFor(): number {
    return this.#deadline - this.#clock()
  }

  /** Milliseconds until it is to be renewed: a third of it after the last renewal was sent, however late the answer came. */
  get renewIn(): number {
    return Math.max(0, this.#deadline - deadlineOf(this.#clock(), this.#lease) + this.#lease / 3)
  }

  /** Milliseconds for which it has been renewed without a gap. */
  get steadyFor(): number {
    return this.#clock() - this.#steadySince
  }

  /**
   * Takes it for a node that joins. The node waits as long as the registry does for each answer: nothing depends on its lease yet. Returns
   * `again` if the lease had run out before the answers were there. Fails with `RegistryUnavailable`.
   */
  async take(): Promise<Renewal> {
    const attempt = ++this.#attempt
    const renewal = await (this.#returning ? this.#return(attempt) : this.#again(attempt))
    return renewal === 'held' && this.#clock() >= this.#deadline ? 'again' : renewal
  }

  /**
   * Renews it, or takes it again. An answer that takes longer than a sixth of the lease is not waited for: a request that was lost must not
   * cost the time in which others would get through. Fails with `RegistryUnavailable`.
   */
  renew(): Promise<Renewal> {
    const attempt = ++this.#attempt
    // Taking it again is four questions, and nothing is lost meanwhile that is not lost already.
    const patience = this.#returning ? this.#lease : this.#lease / 6
    return new Promise((resolve, reject) => {
      const cancel = this.#timing.timer(patience, () => reject(new RegistryUnavailable('renew the lease', `no answer within ${patience} ms`)))
      const tried = this.#returning ? this.#return(attempt) : this.#again(attempt)
      tried.then(resolve, reject).finally(cancel)
    })
  }

  async #again(attempt: number): Promise<Renewal> {
    const sentAt = this.#clock()
    let revision: Revision
    try {
      revision = await this.#registry.update(this.#key, this.#nextValue(sentAt), this.#revision!, { ttl: this.#lease })
    } catch (cause) {
      if (!(cause instanceof RegistryConflict)) throw cause
      return this.#afterConflict(attempt)
    }
    // Also where the next attempt has begun: what was written was written, and a slow registry is no lost one.
    if (!this.#returning && revision > this.#revision!) {
      this.#revision = revision
      this.#renewed(sentAt)
    }
    return 'held'
  }

  /** Gives it up: nothing is trusted from now on. Fails with `RegistryUnavailable`. */
  async release(): Promise<void> {
    this.#deadline = Number.NEGATIVE_INFINITY
    const there = await this.#read()
    if (there?.record.session.number === this.#member.session.number) await this.#registry.remove(this.#key, there.revision).catch(ignoreConflict)
  }

  get #key(): string {
    return memberKey(this.#member.session.node)
  }

  /** Another revision is there, or none. */
  async #afterConflict(attempt: number): Promise<Renewal> {
    const there = await this.#read()
    // An answer that came late has told of it.
    if (attempt !== this.#attempt || there?.revision === this.#revision) return 'again'
    if (there !== undefined && there.record.session.number > this.#member.session.number) return { ended: 'another session has its name' }
    const sentAt = there?.record.session.number === this.#member.session.number ? this.#sentAt.get(there.record.beat) : undefined
    // What is there was not written by a renewal since the last that was answered: the key was gone in between.
    if (there === undefined || sentAt === undefined) this.#returning = true
    else {
      // The answer was lost. It counts from when it was sent.
      this.#revision = there.revision
      this.#deadline = Math.max(this.#deadline, deadlineOf(sentAt, this.#lease))
    }
    return 'again'
  }

  /** Makes the key where it is gone, and then lets everybody who would record an end look again. */
  async #return(attempt: number): Promise<Renewal> {
    const there = await this.#read()
    if (attempt !== this.#attempt) return 'again'
    const { node, number } = this.#member.session
    if (there !== undefined && there.record.session.number > number) return { ended: 'another session has its name' }
    const sentAt = this.#clock()
    const value = this.#nextValue(sentAt)
    let revision: Revision
    try {
      const options = { ttl: this.#lease }
      revision = await (there === undefined
        ? this.#registry.create(this.#key, value, options)
        : this.#registry.update(this.#key, value, there.revision, options))
      const session = await this.#registry.read(sessionKey(node))
      const record = session === undefined ? undefined : readSession(session.value)
      if (session === undefined || record === undefined || record.ended || record.number !== number) {
        await this.#registry.remove(this.#key, revision).catch(ignoreConflict)
        return { ended: 'its end was recorded while its lease had run out' }
      }
      if (attempt !== this.#attempt) return 'again'
      await this.#registry.update(sessionKey(node), writeSession({ ...record, returns: record.returns + 1 }), session.revision)
    } catch (cause) {
      if (cause instanceof RegistryConflict) return 'again'
      throw cause
    }
    if (attempt !== this.#attempt) return 'again'
    this.#revision = revision
    this.#returning = false
    this.#renewed(sentAt)
    return 'held'
  }

  #renewed(sentAt: number): void {
    const now = this.#clock()
    this.#deadline = Math.max(this.#deadline, deadlineOf(sentAt, this.#lease))
    this.#steadySince = steadyAfter(this.#steadySince, this.#renewedAt, now, this.#lease)
    this.#renewedAt = now
    this.#sentAt.clear()
  }

  #nextValue(sentAt: number): string {
    const beat = ++this.#beat
    this.#sentAt.set(beat, sentAt)
    // Only the latest can have been written without our hearing of it, or one shortly before it.
    this.#sentAt.delete(beat - 16)
    return writeMember({ ...this.#member, lease: this.#lease, beat })
  }

  async #read(): Promise<{ readonly record: MemberRecord; readonly revision: Revision } | undefined> {
    const entry = await this.#registry.read(this.#key)
    if (entry === undefined) return undefined
    const record = readMember(this.#member.session.node, entry.value)
    // What nobody of ours wrote is written over.
    const nobody = { ...this.#member, session: { node: this.#member.session.node, number: 0 }, lease: this.#lease, beat: 0 }
    return { record: record ?? nobody, revision: entry.revision }
  }
}

export function ignoreConflict(cause: unknown): void {
  if (!(cause instanceof RegistryConflict)) throw cause
}
