// One thread's post office: the ways to other threads, what comes in by them, and who is known to whom. Everything that
// crosses the border comes by here; what it means for an actor is in stub (here stands for one that runs there) and
// hosted (runs here for one that stands there).

import type { AnyRef, LedgerReport } from 'troupe'
import { Adapter, type Cell, type Command, type EndInfo, Envelope, ledgerOf, MessageRing, type Meta, PendingAsk, poison, poisonPill, type SystemCore, walk } from 'troupe/internal'
import { Addresses, type AddressRef } from './address-ref.ts'
import { Arrivals } from './arrivals.ts'
import { Channel, record, type Wiring } from './channel.ts'
import type { Reader } from './codec/reader.ts'
import { homeOf } from './epochs.ts'
import type { HostedCell } from './hosted.ts'
import { Link, metaKind, widest } from './link.ts'
import { LocalWay } from './local-way.ts'
import type { PlacementRequest } from './placement.ts'
import { Questions } from './questions.ts'
import { RefTable } from './ref-table.ts'
import { ProxyCell, RemoteRef } from './remote-ref.ts'
import type { StubCell } from './stub.ts'
import type { WireQueue } from './wire-queue.ts'

/** A control record: what to do, and with what. */
export interface Control {
  readonly op: string
  readonly [field: string]: unknown
}
type ControlHandler = (content: never, channel: Channel) => void

const bytesPerPass = 128 * 1024
const endsKept = 10_000

export class Exchange {
  readonly epoch: number
  readonly core: SystemCore
  readonly bell: Int32Array
  readonly channels: Map<number, Channel> = new Map()
  readonly refs: RefTable
  readonly addresses: Addresses = new Addresses()
  readonly questions: Questions
  /** Actors of this thread that others know. */
  readonly exported: Map<number, Cell> = new Map()
  /** How those of them ended that have. */
  readonly ended: Map<number, { readonly ref: AnyRef; readonly end: EndInfo }> = new Map()
  /** Actors that run here for a parent elsewhere. */
  readonly hosted: Map<number, HostedCell> = new Map()
  /** Actors that will run here once their module is loaded. */
  readonly loading: Map<number, { stopped: boolean }> = new Map()
  /** What stands here for actors that run elsewhere. */
  readonly stubs: Map<number, StubCell> = new Map()
  /** Mailboxes with messages that wait for credit or for a way. */
  readonly waiting: Set<WireQueue> = new Set()
  /** Which threads want to know of the end of which actor of this one. */
  readonly #followers = new Map<number, Set<number>>()
  readonly #followed = new Map<number, ProxyCell>()
  readonly #remotes = new Map<number, WeakRef<RemoteRef>>()
  readonly #forgotten: FinalizationRegistry<{ readonly uid: number; readonly link: () => Link | undefined }>
  readonly #locating = new Set<number>()
  /** Links whose messages wait for an actor that has not come, by its uid. */
  readonly #early = new Map<number, Arrivals[]>()
  readonly #handlers = new Map<string, ControlHandler>()
  readonly #connect: (peer: number) => void
  readonly #lost = new Map<number, unknown>()
  readonly #spin: number
  /** Finds a thread for an actor; set by who knows the pool. */
  place: (request: PlacementRequest, stub: StubCell) => Promise<number> = () => Promise.reject(new Error('no pool'))
  /** Called before anything goes over, and before sleeping: what others may look at must be up to date by then. */
  onRound: () => void = () => {}
  /** The mailbox of an actor that runs here. */
  makeMailbox: () => MessageRing = () => new MessageRing()
  /** A way was opened, or closed for good; for the census. */
  onOpened: (channel: Channel) => void = () => {}
  onClosed: (channel: Channel) => void = () => {}
  #pumping = false
  #idleSince = 0
  #spinScore = 4
  #sinceSpin = 0
  #toFlush: Channel[] = []

  constructor(epoch: number, core: SystemCore, bell: SharedArrayBuffer, spin: number, connect: (peer: number) => void) {
    this.epoch = epoch
    this.core = core
    this.bell = new Int32Array(bell)
    this.#spin = spin
    this.#connect = connect
    this.refs = new RefTable(this)
    this.questions = new Questions(this)
    this.#forgotten = new FinalizationRegistry(({ uid, link }) => {
      if (this.#remotes.get(uid)?.deref() === undefined) this.#remotes.delete(uid)
      link()?.close()
    })
    this.on('verb', ({ uid, command }: { uid: number; command: Command }) => {
      const loading = this.loading.get(uid)
      if (loading !== undefined && (command.verb === 'stop' || command.verb === 'kill')) loading.stopped = true
      this.cellFor(uid)?.command(command)
    })
    this.on('follow', ({ uid }: { uid: number }, channel) => this.#followedBy(uid, channel))
    this.on('gone', ({ uid, reason, cause }: { uid: number; reason: EndInfo['reason']; cause: unknown }) => this.#isGone(uid, { reason, cause }))
    this.on('locate', ({ uid }: { uid: number }, channel) => this.#locatedBy(uid, channel))
    this.on('located', ({ uid, at }: { uid: number; at: number }) => this.#isLocated(uid, at))
    this.on('whereis', ({ uid }: { uid: number }, channel) => this.#whereIs(uid, channel))
    this.on('absent', ({ uid }: { uid: number }) => this.#absent(uid))
    this.on('ask.cancelled', ({ id }: { id: number }, channel) => this.questions.cancelled(channel, id))
  }

  /** Why a thread is gone. */
  lossOf(peer: number): unknown {
    return this.#lost.get(peer) ?? new Error(`thread ${peer} is gone`)
  }

  get now(): number {
    return this.core.runtime.now()
  }

  on(op: string, handler: ControlHandler): void {
    this.#handlers.set(op, handler)
  }

  /** The way to a thread, opened when first used; undefined if that thread is gone. */
  channelTo(peer: number): Channel | undefined {
    const known = this.channels.get(peer)
    if (known !== undefined) return known.state === 'closed' ? undefined : known
    if (peer === this.epoch || this.#lost.has(peer)) return undefined
    const channel = this.#add(peer)
    this.#connect(peer)
    return channel
  }
  #add(peer: number): Channel {
    const channel = new Channel(peer, this.refs, this.#later)
    channel.onRoom = () => {
      if (this.waiting.size > 0) this.#pumpWaiting()
    }
    this.channels.set(peer, channel)
    return channel
  }
  /** Both ends of a way have been given out. */
  wire(wiring: Wiring): void {
    if (this.#lost.has(wiring.peer)) return
    const channel = this.channels.get(wiring.peer) ?? this.#add(wiring.peer)
    channel.open(wiring, this.pump)
    this.onOpened(channel)
    this.pump()
  }
  readonly #later = (channel: Channel): void => {
    if (this.#toFlush.push(channel) === 1) queueMicrotask(this.#flushAll)
  }
  readonly #flushAll = (): void => {
    const channels = this.#toFlush
    this.#toFlush = []
    this.onRound()
    for (const channel of channels) channel.flushed()
  }

  /** Reads what has come, and comes back for more while there is traffic; sleeps otherwise. */
  readonly pump = (): void => {
    if (this.#pumping) return
    this.#round()
  }
  readonly #again = (): void => {
    this.#pumping = false
    this.#round()
  }
  #round(): void {
    let any = false
    for (const channel of this.channels.values()) if (channel.drain(bytesPerPass, this.#onRecord)) any = true
    if (any) {
      if (this.#idleSince !== 0) this.#spinPays(true)
      if (!this.#spins() && this.#sleep()) return
    } else {
      const now = this.now
      if (this.#idleSince === 0) this.#idleSince = now
      if (now - this.#idleSince >= this.#spin) {
        this.#spinPays(false)
        if (this.#sleep()) return
      }
    }
    this.#pumping = true
    setImmediate(this.#again)
  }
  /**
   * Looking for more before sleeping saves a wake where the other side is quick and has a processor of its own; where
   * both share one it only keeps the other from answering. So it is done as long as it pays, and tried now and then.
   */
  #spins(): boolean {
    return this.#spin > 0 && (this.#spinScore > 0 || ++this.#sinceSpin % 64 === 0)
  }
  #spinPays(found: boolean): void {
    this.#idleSince = 0
    this.#spinScore = found ? Math.min(8, this.#spinScore + 1) : Math.max(0, this.#spinScore - 2)
  }
  /** Says that it sleeps, then looks once more: what came between is seen by one side or the other. */
  #sleep(): boolean {
    this.#idleSince = 0
    this.onRound()
    Atomics.store(this.bell, 0, 1)
    for (const channel of this.channels.values()) {
      if (channel.hasIncoming) {
        Atomics.store(this.bell, 0, 0)
        return false
      }
    }
    return true
  }

  readonly #onRecord = (channel: Channel, kind: number, reader: Reader): void => {
    // Counted from the first byte, as the sender does: what is given back must be what was taken.
    const start = reader.position - 1
    switch (kind) {
      case record.message: {
        const arrivals = channel.arrivals.get(reader.whole())!
        const message = reader.value()
        return this.#take(arrivals, message, undefined, reader.position - start)
      }
      case record.envelope:
        return this.#takeEnvelope(channel, channel.arrivals.get(reader.whole())!, reader, start)
      case record.credit: {
        const link = channel.links.get(reader.whole())
        const messages = reader.whole()
        const bytes = reader.whole()
        link?.grant(messages, bytes)
        if (this.waiting.size > 0) this.#pumpWaiting()
        return
      }
      case record.answer: {
        const id = reader.whole()
        return this.questions.answered(id, reader.value())
      }
      case record.refusal: {
        const id = reader.whole()
        return this.questions.refused(id, reader.value())
      }
      case record.control: {
        const content = reader.value() as Control
        return this.#handlers.get(content.op)?.(content as never, channel)
      }
      case record.link: {
        const id = reader.whole()
        const uid = reader.double()
        channel.arrivals.set(id, new Arrivals(channel, id, uid, reader.whole(), this.cellFor(uid)))
        return
      }
      case record.unlink:
        return void channel.arrivals.delete(reader.whole())
      case record.address: {
        const id = reader.whole()
        return this.#takeForAddress(channel, id, reader.value())
      }
      default:
        throw new Error(`Unknown record ${kind} from thread ${channel.peer}. This is a bug of Troupe.`)
    }
  }

  #take(arrivals: Arrivals, message: unknown, meta: Meta, size: number): void {
    if (arrivals.cell === undefined && arrivals.early === undefined) this.#lookFor(arrivals)
    arrivals.take(message, meta, size)
  }
  #takeEnvelope(channel: Channel, arrivals: Arrivals, reader: Reader, start: number): void {
    const kind = reader.byte()
    let meta: Meta
    if (kind === metaKind.sender) meta = reader.value() as AnyRef
    else if (kind === metaKind.envelope) meta = new Envelope(reader.value() as AnyRef, reader.value() as never, reader.value() as number)
    else if (kind === metaKind.poison) meta = poison
    else {
      const id = reader.whole()
      const remaining = reader.double()
      const headers = reader.value() as never
      meta = this.questions.mirror(channel, id, arrivals.cell ?? this.core.guardian, remaining, headers, reader.value() as string[])
    }
    const message = reader.value()
    this.#take(arrivals, kind === metaKind.poison ? poisonPill : message, meta, reader.position - start)
  }

  /** A message for nobody we know: not here yet, or gone. */
  #lookFor(arrivals: Arrivals): void {
    const { uid } = arrivals
    const cell = this.cellFor(uid)
    if (cell !== undefined) arrivals.cell = cell
    else if (homeOf(uid) === this.epoch || this.ended.has(uid)) arrivals.cell = this.deadCell(uid)
    else {
      const others = this.#early.get(uid)
      if (others === undefined) this.#early.set(uid, [arrivals])
      else others.push(arrivals)
      this.channelTo(homeOf(uid))?.control({ op: 'whereis', uid })
    }
  }
  /** A cell that is gone, to bury what still comes for it. */
  deadCell(uid: number): Cell {
    const known = this.ended.get(uid)
    const ref = (known?.ref as RemoteRef | undefined) ?? new RemoteRef(uid, `/gone/$${uid}`)
    if (ref.cell === undefined) {
      const cell = new ProxyCell(ref, this, undefined)
      cell.finish(known?.end ?? { reason: 'normal', cause: undefined })
    }
    return ref.cell
  }

  cellFor(uid: number): Cell | undefined {
    return this.hosted.get(uid) ?? this.exported.get(uid)
  }

  /** The ref of an actor of another thread; one for all who hold it. */
  remote(uid: number, at: number, path: string): RemoteRef {
    const known = this.#remotes.get(uid)?.deref()
    if (known !== undefined) return known
    const ref = new RemoteRef(uid, path)
    const location = at < 0 || at === this.epoch || this.#lost.has(at) ? undefined : at
    const cell = new ProxyCell(ref, this, location)
    if (homeOf(uid) === this.epoch || this.#lost.has(homeOf(uid))) {
      cell.finish({ reason: 'failure', cause: this.#lost.get(homeOf(uid)) })
      return ref
    }
    this.#remotes.set(uid, new WeakRef(ref))
    const held: { link: Link | undefined } = { link: undefined }
    cell.onLink = (link) => (held.link = link)
    this.#forgotten.register(ref, { uid, link: () => held.link })
    return ref
  }

  /** Finds the way to an actor that has messages waiting and none. */
  locate(cell: Cell): void {
    if (!(cell instanceof ProxyCell)) return
    if (cell.at !== undefined) return this.linkProxy(cell)
    const { uid } = cell.ref
    if (this.#locating.has(uid)) return
    this.#locating.add(uid)
    this.#followed.set(uid, cell)
    this.channelTo(homeOf(uid))?.control({ op: 'locate', uid })
  }
  linkProxy(cell: ProxyCell): void {
    if (cell.at === this.epoch) {
      // It has come to this thread, or is about to.
      const here = this.hosted.get(cell.ref.uid)
      if (here === undefined) return
      cell.wire.link = new LocalWay(here)
      return cell.wire.pump()
    }
    const channel = cell.at === undefined ? undefined : this.channelTo(cell.at)
    if (channel === undefined) {
      cell.at = undefined
      if (cell.wire.size > 0) this.locate(cell)
      return
    }
    const link = new Link(this, channel, cell.ref.uid, widest)
    cell.wire.link = link
    cell.onLink(link)
    cell.wire.pump()
  }
  #isLocated(uid: number, at: number): void {
    this.#locating.delete(uid)
    const cell = this.#followed.get(uid)
    if (cell === undefined || cell.phase === 'terminated' || cell.wire.link !== undefined) return
    cell.at = at
    this.linkProxy(cell)
  }
  #locatedBy(uid: number, channel: Channel): void {
    if (this.exported.get(uid) === undefined) return this.#tellGone(uid, channel)
    this.#followedBy(uid, channel)
    const stub = this.stubs.get(uid)
    if (stub === undefined) channel.control({ op: 'located', uid, at: this.epoch })
    else if (stub.at === undefined) stub.locators.add(channel.peer)
    else channel.control({ op: 'located', uid, at: stub.at })
  }
  #whereIs(uid: number, channel: Channel): void {
    const stub = this.stubs.get(uid)
    if (stub === undefined) return this.#tellGone(uid, channel)
    if (stub.at !== channel.peer) channel.control({ op: 'absent', uid })
  }
  /** Early messages of an actor that lives elsewhere by now go after it. */
  #absent(uid: number): void {
    const ref = this.refs.actor(uid, this.epoch, `/moved/$${uid}`) as RemoteRef
    for (const arrivals of this.#earlyOf(uid)) arrivals.arrived(ref.cell)
  }
  /** Takes out the links whose messages wait for an actor. */
  #earlyOf(uid: number): readonly Arrivals[] {
    const early = this.#early.get(uid) ?? []
    this.#early.delete(uid)
    return early
  }
  /** An actor has come to this thread: it gets what came before it. */
  arrived(cell: Cell): void {
    const before = this.#remotes.get(cell.ref.uid)?.deref()?.cell as ProxyCell | undefined
    if (before !== undefined && before.phase !== 'terminated') {
      // Refs to it that are older than its coming here lead to it from now on, and first of all what waits in them.
      before.at = this.epoch
      this.linkProxy(before)
    }
    for (const arrivals of this.#earlyOf(cell.ref.uid)) arrivals.arrived(cell)
  }

  /** Somebody here wants to know of the end of an actor elsewhere. */
  follow(cell: ProxyCell): void {
    const { uid } = cell.ref
    this.#followed.set(uid, cell)
    const channel = this.channelTo(homeOf(uid))
    if (channel === undefined) cell.finish({ reason: 'failure', cause: this.#lost.get(homeOf(uid)) })
    else channel.control({ op: 'follow', uid })
  }
  #followedBy(uid: number, channel: Channel): void {
    if (!this.exported.has(uid)) return this.#tellGone(uid, channel)
    let followers = this.#followers.get(uid)
    if (followers === undefined) this.#followers.set(uid, (followers = new Set()))
    followers.add(channel.peer)
  }
  #tellGone(uid: number, channel: Channel): void {
    const { reason, cause } = this.ended.get(uid)?.end ?? { reason: 'normal', cause: undefined }
    channel.control({ op: 'gone', uid, reason, cause })
  }
  #isGone(uid: number, end: EndInfo): void {
    this.#locating.delete(uid)
    const cell = this.#followed.get(uid)
    this.#followed.delete(uid)
    cell?.finish(end)
    for (const arrivals of this.#earlyOf(uid)) arrivals.arrived(this.deadCell(uid))
  }

  /** An actor of this thread has ended. */
  died(cell: Cell): void {
    const { uid } = cell.ref
    if (this.stubs.delete(uid) || this.exported.has(uid)) this.rememberEnd(cell)
    this.exported.delete(uid)
    const followers = this.#followers.get(uid)
    if (followers === undefined) return
    this.#followers.delete(uid)
    for (const peer of followers) {
      const channel = this.channels.get(peer)
      if (channel !== undefined) this.#tellGone(uid, channel)
    }
  }
  /** An actor that was to come here never will. */
  neverCame(uid: number, ref: AnyRef, end: EndInfo): void {
    this.ended.set(uid, { ref, end })
    for (const arrivals of this.#earlyOf(uid)) arrivals.arrived(this.deadCell(uid))
  }
  rememberEnd(cell: Cell): void {
    const { reason, cause } = cell.end ?? { reason: 'normal' as const, cause: undefined }
    this.ended.set(cell.ref.uid, { ref: cell.ref, end: { reason, cause } })
    if (this.ended.size > endsKept) this.ended.delete(this.ended.keys().next().value!)
  }

  tellAddress(address: AddressRef, message: unknown): void {
    const { ledger } = this.core
    ledger.sent++
    const channel = this.channelTo(address.thread)
    if (channel === undefined) return this.core.bury(message, undefined, address, 'thread-lost')
    try {
      channel.valued((w) => {
        w.byte(record.address)
        w.whole(address.id)
      }, message)
      channel.sent++
    } catch (cause) {
      this.core.bury(message, undefined, address, 'not-transferable', cause)
    }
  }
  #takeForAddress(channel: Channel, id: number, message: unknown): void {
    channel.received++
    const address = this.addresses.get(id)
    if (address === undefined) return this.core.bury(message, undefined, undefined, 'late-reply')
    // It counts itself as sent, and was counted where it was sent.
    this.core.ledger.sent--
    if (address instanceof PendingAsk || address instanceof Adapter) address.tell(message)
  }

  #pumpWaiting(): void {
    for (const queue of this.waiting) queue.pump()
  }

  /** A thread is lost. What it had sent is still read; then the way is closed, and whoever depended on it is told. */
  lose(peer: number, cause: unknown): { readonly sent: number; readonly received: number } {
    this.#lost.set(peer, cause)
    const channel = this.channels.get(peer)
    if (channel !== undefined) {
      while (channel.drain(Infinity, this.#onRecord)) continue
      channel.close()
      this.channels.delete(peer)
      this.onClosed(channel)
      this.questions.lost(channel, cause)
      for (const [uid] of this.#early) if (homeOf(uid) === peer) for (const arrivals of this.#earlyOf(uid)) arrivals.arrived(this.deadCell(uid))
    }
    for (const cell of [...this.#followed.values(), ...[...this.#remotes.values()].map((r) => r.deref()?.cell)]) {
      if (!(cell instanceof ProxyCell) || cell.phase === 'terminated') continue
      if ((cell.ref as RemoteRef).home === peer) {
        this.#followed.delete(cell.ref.uid)
        cell.finish({ reason: 'failure', cause })
      } else if (cell.at === peer) {
        cell.at = undefined
        cell.wire.link = undefined
        if (cell.wire.size > 0) this.locate(cell)
      }
    }
    for (const stub of [...this.stubs.values()]) if (stub.at === peer) stub.threadLost(cause)
    for (const hosted of [...this.hosted.values()]) if (homeOf(hosted.ref.uid) === peer) hosted.command({ verb: 'kill' })
    return { sent: channel?.sent ?? 0, received: channel?.received ?? 0 }
  }

  /** The ledger of this thread alone, with what waits for a way to others. */
  ledger(): LedgerReport {
    const report = ledgerOf(this.core.ledger, this.core.guardian, this.core.leaving)
    let { queued, stashed, inProgress } = report
    const parents = new Set<Cell>()
    for (const cell of this.hosted.values()) if (cell.ref.parent !== undefined) parents.add(cell.ref.parent.cell)
    for (const parent of parents) {
      for (let child = parent.children?.first; child !== undefined; child = child.next) {
        walk(child, (cell) => {
          queued += cell.queuedMessages
          stashed += cell.extras?.stash?.size ?? 0
          if (cell.ctx?.message !== undefined) inProgress++
          for (const call of cell.extras?.calls ?? []) if (call.message !== undefined) inProgress++
        })
      }
    }
    for (const queue of this.waiting) if (queue.ofProxy) queued += queue.size
    for (const early of this.#early.values()) for (const arrivals of early) queued += arrivals.early?.size ?? 0
    return { ...report, queued, stashed, inProgress }
  }
}
