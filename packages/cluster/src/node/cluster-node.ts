// One node of a cluster at work: its session, its channels and its border with the others, wired together. It ends in one of two ways: it
// leaves, or its session ends without its having wanted to; either way all others are gone for it afterwards.

import { type ActorSnapshot, type AnyRef, type LedgerReport, NotAllowed } from '@troupe/core'
import { type Cell, type OtherPlaces, snapshotOf, type SystemCore } from '@troupe/core/internal'
import { Channels } from '../channel/channels.ts'
import { ClusterLedger } from '../ledger/cluster-ledger.ts'
import type { MemberEvent } from '../membership/members.ts'
import { Membership } from '../membership/membership.ts'
import type { Connection } from '../ports/engine.ts'
import { MemberListeners } from '../membership/member-listeners.ts'
import { NodeBorder } from '../refs/node-border.ts'
import { NodeLost, type SessionEnded } from '../values/errors.ts'
import type { Member } from '../values/member.ts'
import { readSessionText, sameSession, type Session, sessionText } from '../values/session.ts'
import { ownVersions } from '../values/versions.ts'
import { defaultMaxMessageBytes, type JoinOptions, journalTimeoutOf } from './options.ts'
import { Credits } from '../sharding/credits.ts'
import type { KindSpec } from '../sharding/kind.ts'
import { type JournalWatch, watchJournal } from '../sharding/journal-watch.ts'
import { NodeGate } from '../sharding/lease-gate.ts'
import { Region } from '../sharding/region.ts'
import { sortShardMail } from '../sharding/shard-mail.ts'
import { EntityWatchers } from '../sharding/watchers.ts'
import { Asking } from './asking.ts'
import { leaseClockOf } from './host-clocks.ts'
import { EntityRefs } from './entity-refs.ts'
import { ClusterReceptionist } from './cluster-receptionist.ts'
import { Post } from './post.ts'
import { reportOf } from './report.ts'
import { Topics } from './topics.ts'
import { waitUntil } from './condition-wait.ts'

/** How long a node waits between two looks at a session that it does not know. */
const lookEvery = 500
/** And between two looks whether one has ended. */
const endEvery = 20
/** And between two looks whether what was sent has gone. */
const flushEvery = 10

export class ClusterNode implements OtherPlaces {
  readonly core: SystemCore
  readonly name: string
  readonly lease: number
  readonly connection: Connection
  readonly membership: Membership
  readonly channels: Channels
  readonly border: NodeBorder
  readonly ledgers: ClusterLedger
  readonly asking: Asking
  readonly entities: EntityRefs
  readonly post: Post
  readonly credits: Credits
  readonly watchers: EntityWatchers
  readonly gate: NodeGate
  readonly journal: JournalWatch
  readonly receptionist: ClusterReceptionist
  readonly topics: Topics
  readonly regions: Map<string, Region> = new Map()
  readonly look?: NonNullable<OtherPlaces['look']>
  phase: 'member' | 'leaving' | 'over' = 'member'
  /** Whoever connects the system with others beside the cluster: its threads. */
  readonly before: OtherPlaces | undefined
  /** What earlier lives of this system as a node had from others, less what they sent. */
  readonly #carried: number
  #leaving: Promise<void> | undefined
  /** Why its session ended, if it did not leave. */
  lost: string | undefined
  readonly #listeners: MemberListeners
  readonly #onOver: ((cause: unknown) => void)[] = []

  private constructor(core: SystemCore, options: JoinOptions, lease: number, connection: Connection, membership: Membership) {
    this.core = core
    this.name = options.name
    this.lease = lease
    this.connection = connection
    this.membership = membership
    this.#listeners = new MemberListeners((cause) => core.logger.error({ cluster: options.name, cause }, 'a listener to members threw'))
    this.entities = new EntityRefs(core)
    this.gate = new NodeGate(core, () => this.held)
    this.channels = new Channels({
      timing: core.runtime,
      wire: connection.wire,
      versions: ownVersions,
      versionsOf: (session) => this.#member(session)?.wire,
      onRecord: (from, record) => {
        if (record.kind === 'payload') this.border.payload(from, record.bytes)
      },
      onClosed: (peer, why, detail) => {
        if (why !== 'bad-frame' && why !== 'reset') return
        this.border.disconnected(peer, detail)
        if (this.phase !== 'over' && this.isMember(peer)) this.#reconnected(peer)
      },
    })
    this.border = new NodeBorder({
      core,
      self: membership.self.session,
      channels: this.channels,
      maxMessageBytes: membership.self.maxMessageBytes,
      otherRefs: this.entities,
      isMember: (session) => this.isMember(session),
      onUnknown: (session) => this.#lookFor(session),
    })
    this.ledgers = new ClusterLedger(
      core,
      this.border,
      () => membership.members.map((member) => member.session),
      () => this.#waiting(),
      () => this.before,
      (session) => membership.hasEnded(session),
    )
    this.asking = new Asking(this.border, core)
    this.post = new Post(core, this.border)
    this.credits = new Credits(core, this.border)
    this.watchers = new EntityWatchers(core, this.border, this.post, (watch) => this.regions.get(watch.kind)?.watchAgain(watch))
    this.receptionist = new ClusterReceptionist({ core, post: this.post, self: membership.self.session, others: () => this.others() })
    this.topics = new Topics(core, this.post, this.receptionist)
    this.journal = watchJournal(this, journalTimeoutOf(options))
    sortShardMail(core, this.post, this.regions, this.entities, this.credits, this.watchers)
    this.post.answer('ended', (session) => this.#endKnown(readSessionText(String(session))))
    const { otherPlaces } = core
    // One that has left is of the past: only what it sent and got goes on counting.
    const past = otherPlaces instanceof ClusterNode && otherPlaces.phase === 'over' ? otherPlaces : undefined
    this.before = past === undefined ? otherPlaces : past.before
    this.#carried = past === undefined ? 0 : past.ledgers.balance + past.#carried
    if (this.before?.look !== undefined) this.look = this.before.look
    core.otherPlaces = this
    // By this name an observer finds it, who need not know this package.
    core.extensions.set('cluster', { report: () => reportOf(this) } as object)
  }

  static async start(core: SystemCore, options: JoinOptions): Promise<ClusterNode> {
    const { name, node, engine, roles = [] } = options
    const { logger, runtime } = core
    const onTrouble = (text: string, cause: unknown): void => logger.warn({ cluster: name, node, cause }, text)
    const connection = await engine.connect({ cluster: name, node, timing: runtime, onTrouble })
    const lease = options.lease ?? connection.lease
    let self: ClusterNode | undefined
    // What happens before the node is made is told right after.
    const early: (() => void)[] = []
    const told = (tell: (at: ClusterNode) => void): void => {
      if (self !== undefined) tell(self)
      else early.push(() => tell(self!))
    }
    try {
      const membership = await Membership.join({
        cluster: name,
        node,
        lease,
        registry: connection.registry,
        timing: runtime,
        clock: leaseClockOf(runtime),
        wall: () => connection.wall?.() ?? runtime.now(),
        roles,
        wire: ownVersions,
        maxMessageBytes: options.maxMessageBytes ?? defaultMaxMessageBytes,
        onEvent: (event) => told((at) => at.#event(event)),
        onEnded: (cause) => told((at) => at.#ended(cause)),
        onTrouble,
      })
      self = new ClusterNode(core, options, lease, connection, membership)
      await self.channels.open(membership.self.session)
      // It was shut down meanwhile, and nobody would ever let this node leave.
      if (core.phase !== 'open') throw new NotAllowed(`System ${core.name} was shut down while it joined ${name}.`)
      for (const tell of early) tell()
      return self
    } catch (cause) {
      // A session that has begun ends: nobody is to wait for it.
      await self?.end()
      await connection.close()
      throw cause
    }
  }

  get self(): Member {
    return this.membership.self
  }

  /** Whether this node may act in the name of its session now. */
  get held(): boolean {
    return this.phase !== 'over' && this.membership.held
  }

  get unfit(): string | undefined {
    return this.journal.isAway ? 'its journal cannot be reached' : undefined
  }

  isMember(session: Session): boolean {
    return this.#member(session) !== undefined
  }

  listen(listener: (event: MemberEvent) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Called once when this node is no member any more; undefined where it left. */
  onOver(tell: (cause: unknown) => void): void {
    this.#onOver.push(tell)
  }

  /** A connection broke, and both nodes live. */
  #reconnected(peer: Session): void {
    this.receptionist.reconnected(peer)
    this.watchers.broken(peer)
    for (const region of this.regions.values()) region.broken()
    // What others had sent by this way may be lost with it, too.
    for (const session of this.others()) this.post.send(session, ['broken'])
  }

  /** The session of a node that is a member. */
  sessionOf(node: string): Session | undefined {
    return this.phase === 'over' ? undefined : this.membership.member(node)?.session
  }

  // What the system asks of whoever connects it with others.

  died(cell: Cell): void {
    this.before?.died(cell)
    this.border.exchange.whereabouts.died(cell)
  }
  breathe(drawn?: Cell): void {
    this.before?.breathe(drawn)
    this.border.exchange.flush()
  }
  ledger(own: () => LedgerReport): Promise<LedgerReport> {
    const adjusted = (): LedgerReport => {
      const report = this.ledgers.own(own())
      return { ...report, sent: report.sent + this.#carried }
    }
    return this.before?.ledger(adjusted) ?? Promise.resolve(adjusted())
  }
  inspect(own: ActorSnapshot): Promise<ActorSnapshot> {
    return this.before?.inspect(own) ?? Promise.resolve(own)
  }
  whenQuiet(then: () => void): void {
    if (this.before === undefined) then()
    else this.before.whenQuiet(then)
  }
  async close(): Promise<void> {
    // What is being handed over is: its actors have ended, and what was for them goes to the next owner.
    await (this.#leaving ?? this.end())
    await this.before?.close()
  }

  /** The tree of this system. */
  tree(): Promise<ActorSnapshot> {
    return this.inspect(snapshotOf(this.core.guardian))
  }

  /** An actor of a node by its path. */
  find(node: string, path: string): Promise<AnyRef | undefined> {
    const session = this.sessionOf(node)
    return session === undefined ? Promise.resolve(undefined) : this.asking.find(session, path)
  }

  /** A kind of sharded actors, from now on. */
  region(spec: KindSpec): Region {
    const region = new Region(spec, this)
    this.regions.set(spec.kind, region)
    this.entities.register(spec.kind, region)
    return region
  }

  /** Hands over what it owns, within the deadline, and leaves; once, however often it is asked to. */
  leave(deadline: number): Promise<void> {
    return (this.#leaving ??= this.#leave(deadline))
  }
  async #leave(deadline: number): Promise<void> {
    if (this.phase !== 'member') return this.end()
    this.phase = 'leaving'
    let cancel = (): void => {}
    const late = new Promise<void>((resolve) => (cancel = this.core.runtime.timer(deadline, resolve)))
    const all = Promise.all(Array.from(this.regions.values(), (region) => region.leave()))
    await Promise.race([all, late, new Promise<void>((resolve) => this.onOver(() => resolve()))])
    cancel()
    await this.end()
  }

  /** Leaves: tells what it has done, lets what is under way arrive, records the end of its session. */
  async end(): Promise<void> {
    if (this.phase === 'over') return
    this.phase = 'over'
    await this.#drained()
    // What was sent has arrived there and was taken: what others send directly from now on does not overtake what went by this node.
    await this.post.flushed(this.others(), this.lease / 3)
    await this.ledgers.tell()
    this.border.exchange.flush()
    await this.#flushed()
    await this.membership
      .leave()
      .catch((cause: unknown) => this.core.logger.warn({ cause }, 'the end of this session could not be recorded; others will'))
    this.#over(undefined, (session) => new NodeLost(session, 'this node has left the cluster'))
    await this.#disconnect()
  }

  /** Waits, within the lease, until nothing of this node's waits for sharded actors that are behind. */
  #drained(): Promise<boolean> {
    const isDrained = (): boolean => !this.membership.held || [...this.regions.values()].every(({ accounts }) => accounts.waiting === 0)
    return waitUntil(this.core.runtime, isDrained, this.lease / 3, flushEvery)
  }

  /** Waits, within the lease, until all that was sent was acknowledged. */
  #flushed(): Promise<boolean> {
    const isSettled = (): boolean =>
      this.border.exchange.crossings.every(({ standing }) => standing.unsent === 0) &&
      this.membership.members.every(({ session }) => this.channels.channel(session)?.settled ?? true)
    return waitUntil(this.core.runtime, () => !this.membership.held || isSettled(), this.lease / 2, flushEvery)
  }

  /** All other members. */
  others(): readonly Session[] {
    return this.membership.members.map(({ session }) => session).filter((session) => !sameSession(session, this.self.session))
  }

  #waiting(): number {
    let count = 0
    for (const region of this.regions.values()) count += region.waiting
    return count
  }

  async #disconnect(): Promise<void> {
    await this.channels.close()
    await this.connection.close()
  }

  #over(cause: unknown, lost: (session: Session) => unknown): void {
    this.journal.close()
    this.ledgers.close()
    this.asking.close()
    this.border.close(lost)
    for (const region of this.regions.values()) region.close(cause)
    this.gate.close()
    this.receptionist.close()
    this.entities.close(lost(this.self.session))
    this.core.extensions.delete('cluster')
    for (const tell of this.#onOver.splice(0)) tell(cause)
  }

  /** Its session is over, for all others and so for itself. */
  #ended(cause: SessionEnded): void {
    if (this.phase === 'over') return
    this.phase = 'over'
    this.lost = `the session of node ${this.self.session.node} has ended`
    this.core.logger.error({ cluster: this.name, cause }, 'the session of this node has ended; join again for a new one')
    this.#over(cause, () => cause)
    this.#disconnect().catch(() => {})
  }

  #event(event: MemberEvent): void {
    if (this.phase === 'over') return
    const { type, member } = event
    const { session } = member
    if (type === 'joined') {
      this.border.joined(session)
      for (const region of this.regions.values()) region.joined()
      this.receptionist.joined(session)
    } else {
      this.border.ended(session, new NodeLost(session, 'its end was recorded'))
      this.ledgers.ended(session)
      this.asking.ended(session)
      this.channels.end(session)
      this.post.ended(session)
      this.watchers.lost(session)
      for (const region of this.regions.values()) region.ended(session)
      this.receptionist.ended(session)
    }
    this.core.logger.info(
      { cluster: this.name, node: sessionText(session) },
      type === 'joined' ? 'a node has joined' : 'a node has left, or was lost',
    )
    this.core.events.publish({ type: `member.${type}`, member, at: this.core.runtime.now() })
    this.#listeners.notify(event)
  }

  #member(session: Session): Member | undefined {
    const member = this.membership.member(session.node)
    return member !== undefined && sameSession(member.session, session) ? member : undefined
  }

  /** Resolves when this node knows that a session has ended, as another does already. */
  #endKnown(session: Session | undefined): Promise<boolean> {
    const isKnown = (): boolean => this.phase === 'over' || session === undefined || !this.isMember(session)
    return waitUntil(this.core.runtime, isKnown, this.lease, endEvery)
  }

  /** Looks at a session that somebody named until it is a member or has ended. */
  #lookFor(session: Session): void {
    const isSettled = (): boolean => this.phase === 'over' || this.#member(session) !== undefined
    const look = async (): Promise<void> => {
      if (isSettled() || this.border.places.number(session) === undefined) return
      const ended = await this.membership.hasEnded(session).catch(() => false)
      if (isSettled()) return
      if (ended) this.border.ended(session, new NodeLost(session, 'its end was recorded'))
      else this.core.runtime.timer(lookEvery, () => void look())
    }
    void look()
  }
}
