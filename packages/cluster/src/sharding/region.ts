// One kind of sharded actors on one node: the refs that are told something, the way that takes, the shards that are this node's, and who keeps
// book of whose they are. Everything that happens to a kind goes through here.

import { Envelope, type Meta, PendingAsk, type SystemCore } from '@troupe/core/internal'
import type { ClusterNode } from '../node/cluster-node.ts'
import { JournalDiffers, KindDiffers, KindNotHosted, OwnershipLost, RegistryConflict, RegistryUnavailable } from '../values/errors.ts'
import { sameSession, type Session, sessionText } from '../values/session.ts'
import type { EntityOffer } from './accounts.ts'
import { Backlog } from './backlog.ts'
import { shardOf } from './desired.ts'
import { HostKeys } from './host-keys.ts'
import { kindKey, type KindRecord, nodeOfHost, readHost, readKind, settingsText, writeKind } from './hosts.ts'
import type { Reach } from './journal-watch.ts'
import { Keeper, type KeeperHost } from './keeper.ts'
import type { KindSpec } from './kind.ts'
import { type Came, type Entry, letterFor } from './letter.ts'
import type { Ownership } from './ownership.ts'
import { type Refuse, refuseFor } from './refusal.ts'
import { answerBarrier, Routes } from './routes.ts'
import type { RoutesHost } from './routes-host.ts'
import { Settling, type ShardEpoch } from './settling.ts'
import { Shards } from './shards.ts'
import { Tenancy } from './tenancy.ts'
import { WaitingWatches } from './waiting-watches.ts'
import type { EntityEnd, EntityWatch } from './watches.ts'

/** Between two tries to register while the registry is away. */
const registerEvery = 500
/** Between two looks whether shards have settled. */
const settleEvery = 20
/** After this many looks the registry is asked for an owner that no hint has named. */
const looksBeforeAsking = 3

export class Region {
  readonly spec: KindSpec
  /** Rejects where the kind cannot be had on this node as it is. */
  readonly ready: Promise<void>
  readonly #node: ClusterNode
  readonly #core: SystemCore
  readonly #self: Session
  readonly #tenancy: Tenancy | undefined
  readonly #backlog: Backlog
  readonly #routesHost: RoutesHost
  readonly #routes: Routes
  readonly #watches: WaitingWatches
  readonly #shards: Shards
  readonly #keeper: Keeper
  readonly #keys: HostKeys
  readonly #settling: Settling
  /** When it began to leave. */
  #leavingSince = Number.POSITIVE_INFINITY
  #over = false
  /** The kind cannot be had on this node: nothing that is sent from here ever goes anywhere. */
  #refused = false
  #cancel: (() => void) | undefined

  constructor(spec: KindSpec, node: ClusterNode) {
    this.spec = spec
    this.#node = node
    this.#core = node.core
    this.#backlog = new Backlog(node.core)
    this.#self = node.self.session
    this.#tenancy = Tenancy.of(node.core.view, spec.kind)
    const refuse: Refuse = (letter, reason, cause) =>
      refuseFor(node.core, node.credits, node.entities.ref(spec.kind, letter.id), letter, reason, cause)
    this.#routesHost = {
      core: node.core,
      post: node.post,
      self: this.#self,
      lease: node.lease,
      backlog: this.#backlog,
      credits: node.credits,
      watchers: node.watchers,
      refuse,
      isMember: (session) => node.isMember(session),
      endKnown: (session, to) => node.post.asked([to], 'ended', [sessionText(session)], node.lease + 2_000),
      deliver: (shard, item) => this.#shards.deliver(shard, item),
      offerHere: (shard, id, offer) => this.#shards.offer(shard, id, offer),
      lookAt: () => this.#keeper.lookAgain(),
      flushed: (shard) => this.#watches.flush(shard),
    }
    this.#watches = new WaitingWatches({
      runtime: node.core.runtime,
      patience: node.lease + 2_000,
      watchers: node.watchers,
      notHosted: () => (this.#keeper.hosted === false ? new KindNotHosted(node.name, spec.kind, spec.role) : undefined),
      openTo: (shard) => this.#routes.openTo(shard),
      deliver: (shard, item) => this.#shards.deliver(shard, item),
      lookAt: () => this.#keeper.lookAgain(),
    })
    this.#routes = new Routes(spec.kind, spec.shards, this.#routesHost)
    this.#shards = new Shards(spec, {
      core: node.core,
      gate: node.gate,
      tenancy: this.#tenancy,
      backlog: this.#backlog,
      credits: node.credits,
      watchers: node.watchers,
      refuse,
      offerAgain: (id, offer) => this.offer(id, offer),
      barrier: (shard, barrier) => answerBarrier(this.#routesHost, this.#routes, spec.kind, shard, barrier),
      fenced: (shard, epoch) => void this.#keeper.fenced(shard, epoch),
      leave: (shard, items) => this.#routes.leave(shard, items),
    })
    this.#keys = new HostKeys(node.connection.registry, spec.kind, this.#self)
    this.#settling = new Settling({
      timing: node.core.runtime,
      lease: node.lease,
      epochOf: (shard) => this.#shards.epochOf(shard),
      epochs: () => this.#shards.epochs,
      others: () => node.others(),
      refresh: () => node.membership.refresh(),
      ask: (sessions, shards) => this.#askUnsettled(sessions, shards),
    })
    const keeperHost: KeeperHost = {
      core: node.core,
      registry: node.connection.registry,
      self: this.#self,
      lease: node.lease,
      get held() {
        return node.held
      },
      members: () => node.membership.members,
      sessionOf: (name) => node.sessionOf(name),
      hasEnded: (session) => node.membership.hasEnded(session),
      journalEpoch: (shard) => (spec.persistent ? this.#tenancy!.epochOf(shard) : Promise.resolve(0)),
      journalEpochIfKnown: (shard) => this.#epochIfKnown(shard),
      owned: (shard, owner) => this.#owned(shard, owner),
      settled: (shard) => this.#settled(shard),
      rest: (shard) => this.#shards.rest(shard),
      goOn: (shard) => this.#shards.goOn(shard),
      announce: () => node.post.asked(node.others(), 'leaving', [spec.kind, sessionText(this.#self)], node.lease / 2),
      onTrouble: (text, cause) => node.core.logger.warn({ cluster: node.name, cause }, text),
    }
    this.#keeper = new Keeper(spec, keeperHost, this.#keys)
    this.ready = this.#open()
    this.ready.catch((cause: unknown) => {
      this.#refused = true
      if (!this.#over) this.#routes.close('unknown-kind', cause)
      if (!this.#over) this.#watches.close(cause)
      if (!this.#over) node.core.logger.error({ cluster: node.name, kind: spec.kind, cause }, 'a kind of sharded actors could not be registered')
    })
    this.#tick()
  }

  /** Shards that run here. */
  get active(): readonly number[] {
    return this.#shards.active
  }
  /** Actors of the kind that live here. */
  get entities(): number {
    return this.#shards.entities
  }
  /** Messages that wait here, in no mailbox. */
  get waiting(): number {
    return this.#routes.waiting + this.#shards.waiting
  }
  /** Actors to which something is under way from here, and what waits until theirs has taken others. */
  get accounts(): Routes['accounts'] {
    return this.#routes.accounts
  }
  ownerOf(id: string): Ownership | undefined {
    return this.#routes.ownerOf(shardOf(id, this.spec.shards))
  }

  /** Those of all shards that are known. */
  owners(): readonly Ownership[] {
    return this.#routes.owners()
  }

  /** An actor of this node has told one of the kind something. */
  take(id: string, message: unknown, meta: Meta, how: Entry): void {
    const letter = letterFor(id, message, meta, this.spec.version, this.#tenancy, how)
    if (this.#routes.take(shardOf(id, this.spec.shards), letter) === 'waits') this.#mayFail(meta)
  }
  /** An actor of this node offers something to one of the kind. */
  offer(id: string, offer: EntityOffer): void {
    this.#routes.offer(shardOf(id, this.spec.shards), id, offer)
  }
  /** An actor of the kind is watched on this node; returns what ends that. */
  watch(id: string, onEnd: (end: EntityEnd) => void): () => void {
    const watch: EntityWatch = { kind: this.spec.kind, id, shard: shardOf(id, this.spec.shards), onEnd, token: 0, after: 0, to: undefined }
    this.#watches.add(watch)
    return () => this.#watches.remove(watch)
  }
  /** The shard of a watched actor has to be found. */
  watchAgain(watch: EntityWatch): void {
    this.#watches.add(watch)
  }
  /** A host may be starting: who asks waits as long as a failover takes, but hears before its time is over that there is none. */
  #mayFail(meta: Meta): void {
    const ask = meta instanceof Envelope ? meta.asked() : undefined
    if (!(ask instanceof PendingAsk) || ask.settled) return
    const { runtime } = this.#core
    // The deadline of an ask that was just made is not set yet: its whole time is left.
    const left = ask.at === undefined ? ask.timeout : ask.at - runtime.now()
    runtime.timer(Math.max(1, Math.min(this.#node.lease + 2_000, 0.9 * left)), () => {
      if (!ask.settled && !this.#over && this.#keeper.hosted === false) ask.fail(new KindNotHosted(this.#node.name, this.spec.kind, this.spec.role))
    })
  }
  came({ shard, epoch, item }: Came): void {
    this.#routes.came(shard, epoch, item)
  }
  returned({ shard, item }: Came): void {
    this.#routes.returned(shard, item)
  }
  passed(shard: number, token: number): void {
    this.#routes.ready(shard, token)
  }

  /** This node does not reach its journal, or does again. */
  journalIs(reach: Reach): void {
    if (this.spec.persistent) this.#keeper.participate(({ reached: 'host', away: 'suspended', lost: 'withdrawn' } as const)[reach])
  }
  /**
   * A shard can be handed over without the journal: the registry knows an epoch, and the next owner, which raises the fence, finds out if the journal has a
   * later one.
   */
  #epochIfKnown(shard: number): Promise<number> {
    if (!this.spec.persistent || this.#node.journal.isAway) return Promise.resolve(0)
    const late = new Promise<number>((resolve) => void this.#core.runtime.timer(this.#node.lease / 3, () => resolve(0)))
    return Promise.race([this.#tenancy!.epochOf(shard).catch(() => 0), late])
  }
  /** A connection between two nodes broke. */
  broken(): void {
    this.#routes.broken()
  }
  joined(): void {
    this.#routes.joined()
    this.#keeper.look()
  }
  ended(session: Session): void {
    this.#routes.ended(session)
    this.#keeper.ended(session)
  }

  /** Another node is to have no more shards of the kind. */
  leaving(session: Session): Promise<void> {
    return this.#keeper.exclude(session)
  }

  /** Another node has handed over all it had; resolves when nothing more is sent to it from here. */
  left(session: Session): Promise<void> {
    return this.#keeper.knowsLeft(session)
  }

  /**
   * Which of these shards have not settled here: this node does not know that they have an owner of that epoch, or something that it sent is on an older
   * way. Resolves when all have, or after a tenth of a lease.
   */
  async unsettled(shards: readonly ShardEpoch[]): Promise<readonly number[]> {
    const { runtime } = this.#core
    const until = runtime.now() + this.#node.lease / 10
    for (let looks = 1; ; looks++) {
      const rest = this.#over || this.#refused ? [] : shards.filter(([shard, epoch]) => !this.#routes.isSettled(shard, epoch))
      if (rest.length === 0 || runtime.now() >= until) return rest.map(([shard]) => shard)
      const isUnknown = ([shard, epoch]: ShardEpoch): boolean => (this.#routes.ownerOf(shard)?.epoch ?? 0) < epoch
      if (looks === looksBeforeAsking && rest.some(isUnknown)) this.#keeper.lookAgain()
      await new Promise<void>((resolve) => void runtime.timer(settleEvery, resolve))
    }
  }

  async #askUnsettled(sessions: readonly Session[], shards: readonly ShardEpoch[]): Promise<ReadonlySet<number>> {
    const { post, lease } = this.#node
    const unsettled = new Set<number>()
    for (const { answered, value } of await post.answers(sessions, 'unsettled', [this.spec.kind, shards], lease)) {
      if (!answered) return new Set(shards.map(([shard]) => shard))
      if (Array.isArray(value)) for (const shard of value) unsettled.add(Number(shard))
    }
    return unsettled
  }

  /** Hands over all shards, as far as there is somebody to, and waits until everybody knows. */
  async leave(): Promise<void> {
    // Where it is only being registered others may be about to hand it shards: it is, and then leaves.
    await this.ready.catch(() => {})
    this.#leavingSince = this.#core.runtime.now()
    await this.#keeper.leave()
    const { post, lease, membership } = this.#node
    // Whoever joined after that finds the next owners in the registry; whoever joined before may have found this node, and has to be told.
    await membership.refresh()
    await post.asked(this.#node.others(), 'left', [this.spec.kind, sessionText(this.#self)], lease + 2_000)
  }

  /** This node is no member any more. */
  close(cause: unknown): void {
    this.#over = true
    this.#cancel?.()
    this.#keeper.close()
    // First the routes: what shards still have would come back to them.
    this.#routes.close()
    this.#watches.drop()
    this.#shards.close(new OwnershipLost(this.spec.kind, cause))
  }

  #owned(shard: number, owner: Ownership): void {
    if (this.#over) return
    const known = this.#routes.ownerOf(shard)
    if (known !== undefined && owner.epoch < known.epoch) return
    const mine = sameSession(owner.session, this.#self)
    if (!mine) return this.#routes.owned(shard, owner, this.#shards.release(shard))
    // Before anything is delivered to it.
    this.#shards.start(shard, owner.epoch)
    this.#routes.owned(shard, owner)
  }

  /** Who leaves waits for that as long as for anything: a lease. */
  async #settled(shard: number): Promise<boolean> {
    const hurries = (): boolean => this.#core.runtime.now() - this.#leavingSince >= this.#node.lease
    return hurries() || (await this.#settling.isSettled(shard)) || hurries()
  }

  #tick(): void {
    this.#cancel = this.#core.runtime.timer(this.#node.lease, () => {
      this.#routes.tick()
      this.#tick()
    })
  }

  async #open(): Promise<void> {
    const { role } = this.spec
    const hosts = role === undefined || this.#node.self.roles.includes(role)
    for (;;) {
      try {
        await this.#agree(hosts)
        if (this.#over) return
        if (hosts && this.spec.persistent) this.#node.journal.open()
        this.#keeper.open(hosts)
        this.journalIs(this.#node.journal.reach)
        return
      } catch (cause) {
        if (this.#over || !(cause instanceof RegistryUnavailable)) throw cause
        await new Promise<void>((resolve) => void this.#core.runtime.timer(registerEvery, resolve))
      }
    }
  }

  /**
   * Agrees with the other nodes on the number of shards and on the journal. A host writes its host key, and then writes the record again, unchanged:
   * a node that was about to replace the record, because it saw no host, finds another revision and starts over.
   *
   * The record is read before the host keys. If there is a host, it is read again: the host may have replaced it in between.
   */
  async #agree(hosts: boolean): Promise<void> {
    const { kind, shards, role, persistent, eager } = this.spec
    const { registry } = this.#node.connection
    const journal = persistent && hosts ? await this.#tenancy!.identity() : undefined
    const mine: KindRecord = { shards, role, singleton: eager.length > 0, journal }
    for (let isHost = false; !this.#over;) {
      const there = await registry.read(kindKey(kind))
      const record = there === undefined ? undefined : readKind(there.value)
      const differs = record !== undefined && this.#differs(record, mine, hosts)
      if (!differs && record !== undefined && !hosts) return
      const others = differs ? await this.#otherHosts() : []
      if (differs && (isHost || others.length > 0)) {
        if ((await registry.read(kindKey(kind)))?.revision !== there!.revision) continue
        if (isHost) await this.#keys.remove()
        throw this.#refusal(record, mine, others)
      }
      const value = writeKind({ ...mine, journal: hosts ? journal : record?.journal })
      try {
        if (differs || there === undefined || isHost)
          await (there === undefined ? registry.create(kindKey(kind), value) : registry.update(kindKey(kind), value, there.revision))
        if (!hosts || isHost) return
        await this.#keys.write()
        isHost = true
      } catch (cause) {
        if (!(cause instanceof RegistryConflict)) throw cause
      }
    }
  }

  #differs(record: KindRecord, mine: KindRecord, hosts: boolean): boolean {
    if (record.shards !== mine.shards || record.singleton !== mine.singleton) return true
    // Who only sends need not say to which nodes.
    return hosts && (record.role !== mine.role || record.journal !== mine.journal)
  }
  #refusal(record: KindRecord, mine: KindRecord, others: readonly string[]): KindDiffers | JournalDiffers {
    const { kind } = this.spec
    const { node } = this.#self
    const [ours, theirs] = [settingsText(mine), settingsText(record)]
    return ours === theirs
      ? new JournalDiffers(kind, node, others, record.journal !== undefined, mine.journal !== undefined)
      : new KindDiffers(kind, node, ours, others, theirs)
  }

  /** Nodes that live and have the kind, three at most, by the registry itself: this node may not have heard yet that they have joined. */
  async #otherHosts(): Promise<readonly string[]> {
    const { kind } = this.spec
    const others: string[] = []
    for (const { key, value } of await this.#node.connection.registry.list(`host.${kind}`)) {
      const session = { node: nodeOfHost(kind, key)!, number: readHost(value) }
      if (session.number === undefined || session.node === this.#self.node) continue
      if (!(await this.#node.membership.hasEnded(session as Session))) others.push(session.node)
      if (others.length === 3) break
    }
    return others
  }
}
