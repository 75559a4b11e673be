// Hands over shards of a kind to other nodes, many at a time. Each shard settles, comes to rest, and gets its next owner by a compare-and-set.
// What the shards of a batch have in common is asked once: whether all nodes have found them (settling.ts), and whether the next owner still
// hosts the kind. So a batch takes three round trips, however many shards it has.
//
//   settled (one question per node) ─► at rest ─► is the next owner a host (one read per node) ─► one write per shard, all at once

import type { Session } from '../values/session.ts'
import { sameSession, sessionText } from '../values/session.ts'
import { handedOver, planHandOvers, type ShardSeen } from './claims.ts'
import type { Ownership } from './ownership.ts'

export interface HandOversHost {
  readonly self: Session
  /** How many shards may be on their way at a time. */
  readonly limit: number
  readonly held: boolean
  phase(): 'host' | 'leaving' | 'other'
  seen(shard: number): ShardSeen
  shards(): readonly ShardSeen[]
  desired(): (shard: number) => string | undefined
  sessionOf(node: string): Session | undefined
  /** Whether a session hosts the kind, by the registry itself. */
  isHost(session: Session): Promise<boolean>
  /** Reads a shard in the registry. */
  read(shard: number): Promise<void>
  /** Writes an owner; where another wrote meanwhile, that is known afterwards. */
  write(shard: number, owner: Ownership, expected: number | undefined): Promise<void>
  /** Says who owns a shard, as far as is known. */
  tell(shard: number): void
  settled(shard: number): Promise<boolean>
  rest(shard: number): Promise<number | undefined>
  goOn(shard: number): void
  journalEpoch(shard: number): Promise<number>
  after(ms: number, task: () => void): void
  /** None is under way any more, or there are doubts: the keeper looks again. */
  done(): void
  onTrouble(shard: number, cause: unknown): void
}

export class HandOvers {
  readonly #host: HandOversHost
  readonly #underWay = new Set<number>()
  /** Shards of which a write may or may not have been done. */
  readonly #doubtful = new Set<number>()
  /** Who is being named as the next owner of a shard. */
  readonly #naming = new Map<number, Session>()
  /** Reads that have not begun, by the session that they are about. */
  readonly #reads = new Map<string, Promise<boolean>>()
  #continuing = false

  constructor(host: HandOversHost) {
    this.#host = host
  }

  get idle(): boolean {
    return this.#underWay.size + this.#doubtful.size === 0
  }

  /** Whether a session is being named as the next owner of a shard. */
  isNaming(session: Session): boolean {
    for (const to of this.#naming.values()) if (sameSession(to, session)) return true
    return false
  }

  /** Begins as many as there may be. */
  begin(): void {
    const { self, limit } = this.#host
    const taken = new Set([...this.#underWay, ...this.#doubtful])
    const view = { self, shards: this.#host.shards(), desired: this.#host.desired() }
    for (const { shard } of planHandOvers(view, (node) => this.#host.sessionOf(node), taken, limit)) void this.#handOver(shard)
  }

  /** Makes sure of shards whose last write may or may not have been done. Fails with `RegistryUnavailable`. */
  async resolveDoubts(): Promise<void> {
    for (const shard of this.#doubtful) await this.#resolve(shard)
  }

  /** Lets a shard come to rest, and names its next owner; where that is not wanted any more, it goes on. */
  async #handOver(shard: number): Promise<void> {
    this.#underWay.add(shard)
    try {
      const epoch = (await this.#host.settled(shard)) ? await this.#host.rest(shard) : undefined
      if (!(await this.#name(shard, epoch))) {
        this.#underWay.delete(shard)
        // It is looked at again with the next round, and not at once: nothing has changed.
        if (this.#host.phase() !== 'leaving') this.#host.goOn(shard)
        return
      }
    } catch (cause) {
      // The write may be done, or may be done at any later time: until that is certain it rests.
      this.#doubtful.add(shard)
      this.#host.onTrouble(shard, cause)
    }
    this.#underWay.delete(shard)
    this.#continue()
  }

  /** Begins the next ones, after all that end at the same time: else each of them would be a batch of its own. */
  #continue(): void {
    if (this.#continuing) return
    this.#continuing = true
    this.#host.after(1, () => {
      this.#continuing = false
      if (this.#host.phase() !== 'other' && this.#host.held) this.begin()
      if (this.#underWay.size === 0 || this.#doubtful.size > 0) this.#host.done()
    })
  }

  /** Owns a shard once more, in the next epoch, so that a write of which nothing is known cannot come after it; or finds that it has. */
  async #resolve(shard: number): Promise<void> {
    await this.#host.read(shard)
    const { owner, revision } = this.#host.seen(shard)
    if (owner !== undefined && sameSession(owner.session, this.#host.self)) {
      if (!this.#host.held) return
      const epoch = Math.max(owner.epoch, await this.#host.journalEpoch(shard)) + 1
      await this.#host.write(shard, { session: this.#host.self, epoch }, revision)
    } else this.#host.tell(shard)
    this.#doubtful.delete(shard)
  }

  /** Names the next owner of a shard that rests in an epoch; whether it was tried. */
  async #name(shard: number, epoch: number | undefined): Promise<boolean> {
    const { self, held } = this.#host
    const { owner, revision } = this.#host.seen(shard)
    const node = this.#host.desired()(shard)
    const to = node === undefined ? undefined : this.#host.sessionOf(node)
    // One that this node has in another epoch does not rest.
    const mine = owner !== undefined && sameSession(owner.session, self) && owner.epoch === epoch
    if (!mine || to === undefined || sameSession(to, self) || !held || this.#host.phase() === 'other') return false
    // Before the read: a node that leaves removes its host key, and then waits for those who are naming it.
    this.#naming.set(shard, to)
    try {
      if (!(await this.#isHost(to))) return false
      await this.#host.write(shard, handedOver(owner, to, await this.#host.journalEpoch(shard)), revision)
    } finally {
      this.#naming.delete(shard)
    }
    return true
  }

  /** Whether a session hosts the kind, by one read for all shards that ask at the same time. */
  #isHost(to: Session): Promise<boolean> {
    const name = sessionText(to)
    let read = this.#reads.get(name)
    if (read === undefined) {
      read = Promise.resolve().then(() => {
        // Who asks from here on needs a read that begins later.
        this.#reads.delete(name)
        return this.#host.isHost(to)
      })
      this.#reads.set(name, read)
    }
    return read
  }
}
