// Who owns the shards of a kind, and this node's part in it: it claims what it should own and nobody does, and hands over what another should. It
// follows the registry by hints and lists, and decides by the pure functions of claims; every write is a compare-and-set against what it saw.

import type { SystemCore } from '@troupe/core/internal'
import type { Hint, Registry, Watch } from '../ports/registry.ts'
import { RegistryConflict, RegistryUnavailable } from '../values/errors.ts'
import type { Member } from '../values/member.ts'
import { sameSession, type Session, sessionText } from '../values/session.ts'
import { type ClaimView, decideClaims, type ShardSeen } from './claims.ts'
import { candidatesOf, desiredOwner } from './desired.ts'
import { HandOvers } from './hand-overs.ts'
import type { HostKeys, HostSeen } from './host-keys.ts'
import { hostKey, hostNumbers, hostsAmong, nodeOfHost, readHost } from './hosts.ts'
import type { KindSpec } from './kind.ts'
import { type Ownership, shardIn, writeOwnership } from './ownership.ts'
import { ShardTable } from './shard-table.ts'

/** So many writes are under way at a time. */
const batch = 64

export interface KeeperHost {
  readonly core: SystemCore
  readonly registry: Registry
  readonly self: Session
  readonly lease: number
  readonly held: boolean
  members(): readonly Member[]
  /** The session of a node that is a member. */
  sessionOf(node: string): Session | undefined
  hasEnded(session: Session): Promise<boolean>
  /** The greatest epoch that the journal has for a shard; in the second 0 if the journal is out of reach. */
  journalEpoch(shard: number): Promise<number>
  journalEpochIfKnown(shard: number): Promise<number>
  /** A shard has an owner; told again and again, in no order. */
  owned(shard: number, owner: Ownership): void
  /** Whether all have found a shard here, so that it may move on. */
  settled(shard: number): Promise<boolean>
  /** Lets a shard come to rest; resolves with the epoch in which it does, undefined where that is over. */
  rest(shard: number): Promise<number | undefined>
  goOn(shard: number): void
  /** Tells all other members that this node is to have no more shards of the kind; resolves when they know. */
  announce(): Promise<unknown>
  onTrouble(text: string, cause: unknown): void
}

export class Keeper {
  readonly #spec: KindSpec
  readonly #host: KeeperHost
  readonly #keys: HostKeys
  readonly #table: ShardTable
  readonly #handOvers: HandOvers
  readonly #watches: Watch[] = []
  /** `departing`: it is to have no more shards, and not everybody can know that yet. */
  #phase: 'opening' | 'host' | 'suspended' | 'withdrawn' | 'guest' | 'departing' | 'leaving' | 'over' = 'opening'
  /** Those that are leaving. */
  readonly #excluded = new Set<string>()
  #round: 'no' | 'yes' | 'again' = 'no'
  #cancel: (() => void) | undefined
  #listedAt = Number.NEGATIVE_INFINITY
  #sweptAt = Number.NEGATIVE_INFINITY
  /** A list is wanted, for something may have been missed. */
  #stale = true
  #left: (() => void) | undefined
  #leavingSince = 0
  /** Who should own each shard, while these are the candidates. */
  #placed: { readonly among: string; readonly owners: readonly (string | undefined)[] } | undefined

  constructor(spec: KindSpec, host: KeeperHost, keys: HostKeys) {
    this.#spec = spec
    this.#host = host
    this.#keys = keys
    this.#table = new ShardTable(host.registry, spec.kind, spec.shards)
    this.#handOvers = new HandOvers(this.#handOversHost())
  }

  /** Follows the owners of the kind, of which this node may be one. */
  open(hosts: boolean): void {
    const { registry } = this.#host
    const { kind } = this.#spec
    this.#watches.push(registry.watch(`own.${kind}`, (hint) => this.#hintOfOwner(hint)))
    this.#watches.push(registry.watch(`host.${kind}`, (hint) => this.#hintOfHost(hint)))
    if (this.#isOver) return
    this.#phase = hosts ? 'host' : 'guest'
    this.look()
  }

  /** Looks soon at who owns what. */
  look(): void {
    if (this.#phase === 'opening' || this.#isOver) return
    if (this.#round !== 'no') this.#round = 'again'
    else void this.#rounds()
  }
  /** The same, and believes nothing that it has. */
  lookAgain(): void {
    this.#stale = true
    this.look()
  }

  /** Takes part, takes no more shards, or hands over all that another node can have. */
  participate(as: 'host' | 'suspended' | 'withdrawn'): void {
    if (!this.#takesPart) return
    this.#phase = as
    this.look()
  }

  /** Hands over all that it owns, as far as there is somebody to; resolves when that is done. */
  async leave(): Promise<void> {
    if (!this.#takesPart) return
    this.#phase = 'departing'
    const { core, lease } = this.#host
    // Before it hands over anything: whoever names a next owner looks at the registry first, and would give back what it got.
    while (!(await this.#keys.remove()) && !this.#isOver) await new Promise<void>((resolve) => void core.runtime.timer(lease / 12, resolve))
    // Somebody may be about to hand over a shard to this node.
    await this.#host.announce()
    if (this.#isOver) return
    this.#phase = 'leaving'
    this.#leavingSince = core.runtime.now()
    await new Promise<void>((resolve) => {
      this.#left = resolve
      this.look()
    })
  }

  /** A node is to have no more shards; resolves when what is on its way to it has got there. */
  async exclude(session: Session): Promise<void> {
    this.#excluded.add(sessionText(session))
    while (this.#handOvers.isNaming(session) && !this.#isOver) await new Promise<void>((resolve) => void this.#host.core.runtime.timer(10, resolve))
  }

  /** A session has ended: it is nobody's candidate any more. */
  ended(session: Session): void {
    this.#excluded.delete(sessionText(session))
    this.look()
  }

  /** Resolves when this node knows that another has no shard any more: nothing more is sent to it. */
  async knowsLeft(session: Session): Promise<void> {
    for (let tries = 0; tries < 20 && !this.#isOver; tries++) {
      await this.#list().catch(() => {})
      let owns = false
      for (let shard = 0; shard < this.#spec.shards; shard++) {
        this.#tell(shard)
        const { owner } = this.#table.at(shard)
        if (owner !== undefined && sameSession(owner.session, session)) owns = true
      }
      if (!owns) return
      await new Promise<void>((resolve) => void this.#host.core.runtime.timer(this.#host.lease / 30, resolve))
    }
  }

  close(): void {
    this.#phase = 'over'
    this.#cancel?.()
    for (const watch of this.#watches) watch.stop()
    this.#left?.()
  }

  /** The journal has a later owner than this node is, and the registry may not know: this node owns it once more, in the next epoch. */
  async fenced(shard: number, epoch: number): Promise<void> {
    try {
      await this.#table.read(shard)
      const { owner, revision } = this.#table.at(shard)
      if (owner === undefined || !sameSession(owner.session, this.#host.self) || owner.epoch !== epoch || !this.#host.held) return this.look()
      await this.#claim(shard, { session: this.#host.self, epoch: Math.max(epoch, await this.#host.journalEpoch(shard)) + 1 }, revision)
    } catch (cause) {
      this.#host.onTrouble(`Shard ${shard} of ${this.#spec.kind} could not be claimed again`, cause)
      this.#host.core.runtime.timer(this.#host.lease / 6, () => void (this.#isOver || this.fenced(shard, epoch)))
    }
  }

  get #takesPart(): boolean {
    return this.#phase === 'host' || this.#phase === 'suspended' || this.#phase === 'withdrawn'
  }
  get #handsOver(): 'host' | 'leaving' | 'other' {
    return this.#phase === 'host' || this.#phase === 'withdrawn' ? 'host' : this.#phase === 'leaving' ? 'leaving' : 'other'
  }
  get #isOver(): boolean {
    return this.#phase === 'over'
  }

  async #rounds(): Promise<void> {
    this.#cancel?.()
    let wait = this.#host.lease / 3
    do {
      this.#round = 'yes'
      try {
        await this.#act()
      } catch (cause) {
        if (!(cause instanceof RegistryConflict)) this.#host.onTrouble(`The shards of ${this.#spec.kind} could not be looked at`, cause)
        this.#stale = true
        wait = this.#host.lease / 12
      }
      // Typed anew: somebody may have asked for another one meanwhile.
    } while ((this.#round as string) === 'again' && !this.#isOver && wait === this.#host.lease / 3)
    this.#round = 'no'
    if (!this.#isOver) this.#cancel = this.#host.core.runtime.timer(wait, () => this.look())
  }

  async #act(): Promise<void> {
    const { core, lease } = this.#host
    if (this.#stale) await this.#list()
    else if (core.runtime.now() - this.#listedAt >= lease) {
      await this.#table.refresh()
      this.#listedAt = core.runtime.now()
    }
    if (this.#isOver) return
    if (this.#phase === 'host' && core.runtime.now() - this.#sweptAt >= lease) this.#sweep()
    for (const { shard, owner } of this.#table.all()) if (owner !== undefined) this.#host.owned(shard, owner)
    await this.#handOvers.resolveDoubts()
    if (this.#takesPart) await this.#keys.declare(this.#phase === 'host')
    if (this.#phase === 'host') await this.#claimAll(this.#table.all())
    if (this.#handsOver !== 'other' && this.#host.held) this.#handOverSome()
  }

  async #claimAll(shards: readonly ShardSeen[]): Promise<void> {
    const { self, held } = this.#host
    const desired = this.#desired()
    const wanted = shards.filter(({ shard, owner }) => desired(shard) === self.node && (owner === undefined || !sameSession(owner.session, self)))
    if (wanted.length === 0 || !held) return
    const ended = new Set<string>()
    const owners = new Map(wanted.flatMap(({ owner }) => (owner === undefined ? [] : [[sessionText(owner.session), owner.session] as const])))
    for (const [name, session] of owners) if (await this.#host.hasEnded(session)) ended.add(name)
    const free = wanted.filter(({ owner }) => owner === undefined || ended.has(sessionText(owner.session)))
    for (let at = 0; at < free.length && !this.#isOver; at += batch) {
      const some = free.slice(at, at + batch)
      const epochs = new Map(await Promise.all(some.map(async ({ shard }) => [shard, await this.#host.journalEpoch(shard)] as const)))
      const view: ClaimView = {
        self,
        shards: some,
        desired,
        ended: (session) => ended.has(sessionText(session)),
        held: this.#host.held,
        journal: (shard) => epochs.get(shard),
      }
      await Promise.all(decideClaims(view).map(({ shard, expected, record }) => this.#claim(shard, record, expected)))
    }
  }

  #handOverSome(): void {
    const { self, core, lease } = this.#host
    this.#handOvers.begin()
    if (this.#phase !== 'leaving' || !this.#handOvers.idle) return
    const mine = this.#table.all().filter(({ owner }) => owner !== undefined && sameSession(owner.session, self))
    // Others are there, and none of them has the kind: one that has only joined gets a lease to say so.
    if (mine.length > 0 && this.#host.members().length > 1 && core.runtime.now() - this.#leavingSince < lease)
      return void core.runtime.timer(lease / 30, () => this.look())
    // Nobody is there to take them: their actors end here, and whoever comes claims them.
    const desired = this.#desired()
    if (mine.some(({ shard }) => desired(shard) !== undefined)) return
    void Promise.all(mine.map(({ shard }) => this.#host.rest(shard))).then(() => this.#left?.())
  }

  #handOversHost(): ConstructorParameters<typeof HandOvers>[0] {
    const host = this.#host
    return {
      phase: () => this.#handsOver,
      self: host.self,
      limit: this.#spec.concurrentHandOvers,
      get held() {
        return host.held
      },
      settled: (shard) => host.settled(shard),
      rest: (shard) => host.rest(shard),
      goOn: (shard) => host.goOn(shard),
      journalEpoch: (shard) => host.journalEpochIfKnown(shard),
      seen: (shard) => this.#table.at(shard),
      shards: () => this.#table.all(),
      desired: () => this.#desired(),
      sessionOf: (node) => host.sessionOf(node),
      isHost: (session) => this.#isHost(session),
      read: (shard) => this.#table.read(shard),
      write: (shard, owner, expected) => this.#claim(shard, owner, expected),
      tell: (shard) => this.#tell(shard),
      after: (ms, task) => void host.core.runtime.timer(ms, task),
      done: () => this.look(),
      onTrouble: (shard, cause) => host.onTrouble(`Shard ${shard} of ${this.#spec.kind} could not be handed over`, cause),
    }
  }

  /** Whether a session has the kind, by the registry itself: what is known here may be of the past, and who leaves would hand it back. */
  async #isHost({ node, number }: Session): Promise<boolean> {
    const key = hostKey(this.#spec.kind, node)
    const { hosts } = this.#table
    const known = hosts.revision(key)
    try {
      const entry = await this.#host.registry.read(key)
      hosts.read(key, entry, known)
      if (entry !== undefined && readHost(entry.value) === number) return true
      this.look()
    } catch (cause) {
      // Nothing was written, so nothing is in doubt.
      if (!(cause instanceof RegistryUnavailable)) throw cause
    }
    return false
  }

  /** Writes an owner; what another wrote meanwhile is read. */
  async #claim(shard: number, owner: Ownership, expected: number | undefined): Promise<void> {
    const { registry } = this.#host
    const key = this.#table.key(shard)
    const value = writeOwnership(owner)
    try {
      const revision = await (expected === undefined ? registry.create(key, value) : registry.update(key, value, expected))
      this.#table.owners.change({ key, revision, value })
    } catch (cause) {
      if (!(cause instanceof RegistryConflict)) throw cause
      await this.#table.read(shard)
    }
    if (!this.#isOver) this.#tell(shard)
  }

  #tell(shard: number): void {
    const { owner } = this.#table.at(shard)
    if (owner !== undefined) this.#host.owned(shard, owner)
  }

  async #list(): Promise<void> {
    try {
      this.#stale = false
      await this.#table.list()
      this.#listedAt = this.#host.core.runtime.now()
    } catch (cause) {
      this.#stale = true
      throw cause
    }
  }

  #hintOfOwner(hint: Hint): void {
    if (this.#isOver) return
    if (hint === 'anything') return this.lookAgain()
    if (!this.#table.owners.change(hint)) return
    const shard = shardIn(this.#spec.kind, hint.key, this.#spec.shards)
    if (shard === undefined || this.#phase === 'opening') return
    this.#tell(shard)
    if (this.#isToDo(shard)) this.look()
  }
  #hintOfHost(hint: Hint): void {
    if (this.#isOver) return
    if (hint === 'anything') this.lookAgain()
    else if (this.#table.hosts.change(hint)) this.look()
  }

  /** Whether there is something to do about a shard here: most changes of an owner concern two nodes, and all hear of them. */
  #isToDo(shard: number): boolean {
    if (this.#phase === 'guest') return false
    if (this.#placed === undefined) return true
    const { self } = this.#host
    const { owner } = this.#table.at(shard)
    const mine = owner !== undefined && sameSession(owner.session, self)
    return mine !== (this.#placed.owners[shard] === self.node)
  }

  #sweep(): void {
    this.#sweptAt = this.#host.core.runtime.now()
    const members = new Set(this.#host.members().map(({ session }) => sessionText(session)))
    const left: HostSeen[] = []
    const { hosts } = this.#table
    for (const key of hosts.keys()) {
      const node = nodeOfHost(this.#spec.kind, key)
      const number = node === undefined ? undefined : readHost(hosts.value(key)!)
      if (node === undefined || number === undefined || members.has(sessionText({ node, number }))) continue
      left.push({ session: { node, number }, key, revision: hosts.revision(key)! })
    }
    // Another time, where the registry is away.
    if (left.length > 0) this.#keys.sweep(left, (session) => this.#host.hasEnded(session)).catch(() => {})
  }

  /** Whether any node has the kind, as far as is known; undefined before the first list. */
  get hosted(): boolean | undefined {
    return this.#listedAt < 0 ? undefined : this.#candidates().length > 0
  }

  #desired(): (shard: number) => string | undefined {
    const candidates = this.#candidates()
    const among = candidates.map(({ node }) => node).join()
    if (this.#placed?.among !== among) {
      const { kind, shards } = this.#spec
      this.#placed = { among, owners: Array.from({ length: shards }, (_, shard) => desiredOwner(kind, shard, candidates)) }
    }
    const { owners } = this.#placed
    return (shard) => owners[shard]
  }

  #candidates(): ReturnType<typeof candidatesOf> {
    const { kind, role } = this.#spec
    const { hosts: known } = this.#table
    const numbers = hostNumbers(kind, known.keys(), (key) => known.value(key)!)
    if (this.#phase === 'leaving' || this.#phase === 'withdrawn') numbers.delete(this.#host.self.node)
    const hosts = hostsAmong(this.#host.members(), (node) => numbers.get(node))
    return candidatesOf(
      hosts.filter(({ session }) => !this.#excluded.has(sessionText(session))),
      role,
    )
  }
}
