// One thread's post office: the ways to other threads, what comes in by them, and who is known to whom. Everything that
// crosses the border comes by here; what it means for an actor is in stub (here stands for one that runs there) and
// hosted (runs here for one that stands there).

import type { AnyRef, LedgerReport } from 'troupe'
import {
  Adapter,
  type Cell,
  type Command,
  type EndInfo,
  ledgerOf,
  MessageRing,
  type Meta,
  PendingAsk,
  poison,
  poisonPill,
  type SystemCore,
  walk,
  Told,
} from 'troupe/internal'
import { Addresses, type AddressRef } from './address-ref.ts'
import { Arrivals } from './arrivals.ts'
import { Channel, record } from './channel.ts'
import type { Reader } from './codec/reader.ts'
import type { HostedCell } from './hosted.ts'
import { metaKind } from './link.ts'
import type { Bell, Wiring } from './medium.ts'
import type { PlacementRequest } from './placement.ts'
import { Pump } from './pump.ts'
import { Questions } from './questions.ts'
import { RefTable } from './ref-table.ts'
import type { StubCell } from './stub.ts'
import { Whereabouts } from './whereabouts.ts'
import type { WireQueue } from './wire-queue.ts'

/** A control record: what to do, and with what. */
export interface Control {
  readonly op: string
  readonly [field: string]: unknown
}
type ControlHandler = (content: never, channel: Channel) => void

/** Mailboxes that are filled in small portions stay small: handlers have their turns between. */
const bytesPerPass = 16 * 1024

export class Exchange {
  readonly epoch: number
  readonly core: SystemCore
  readonly channels: Map<number, Channel> = new Map()
  readonly refs: RefTable
  readonly addresses: Addresses = new Addresses()
  readonly questions: Questions
  readonly whereabouts: Whereabouts
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
  readonly #handlers = new Map<string, ControlHandler>()
  readonly #connect: (peer: number) => void
  /** Threads that are gone, and why. */
  readonly lost: Map<number, unknown> = new Map()
  readonly #pump: Pump
  /** Finds a thread for an actor; set by who knows the pool. */
  place: (request: PlacementRequest, stub: StubCell) => Promise<number> = () => Promise.reject(new Error('no pool'))
  /** Called before anything goes over, and before sleeping: what others may look at must be up to date by then. */
  onRound: () => void = () => {}
  /** The mailbox of an actor that runs here. */
  makeMailbox: () => MessageRing = () => new MessageRing()
  /** There is a way more, on which nothing was written yet, or one less, for good; for the census. */
  onAdded: (channel: Channel) => void = () => {}
  onClosed: (channel: Channel) => void = () => {}
  #toFlush: Channel[] = []

  constructor(epoch: number, core: SystemCore, bell: Bell, spin: number, connect: (peer: number) => void) {
    this.epoch = epoch
    this.core = core
    this.#pump = new Pump(this, bell, spin)
    this.#connect = connect
    this.refs = new RefTable(this)
    this.questions = new Questions(this)
    this.whereabouts = new Whereabouts(this)
    this.on('verb', ({ uid, command }: { uid: number; command: Command }) => {
      const loading = this.loading.get(uid)
      if (loading !== undefined && (command.verb === 'stop' || command.verb === 'kill')) loading.stopped = true
      this.cellFor(uid)?.command(command)
    })
    this.on('ask.cancelled', ({ id }: { id: number }, channel) => this.questions.cancelled(channel, id))
  }

  /** Why a thread is gone. */
  lossOf(peer: number): unknown {
    return this.lost.get(peer) ?? new Error(`thread ${peer} is gone`)
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
    if (peer === this.epoch || this.lost.has(peer)) return undefined
    const channel = this.#add(peer)
    this.#connect(peer)
    return channel
  }
  #add(peer: number): Channel {
    const channel = new Channel(peer, this.refs, this.#later)
    channel.onRoom = () => this.#pumpWaiting()
    this.channels.set(peer, channel)
    this.onAdded(channel)
    return channel
  }
  /** Both ends of a way have been given out. */
  wire(wiring: Wiring): void {
    if (this.lost.has(wiring.peer)) return
    const channel = this.channels.get(wiring.peer) ?? this.#add(wiring.peer)
    channel.open(wiring, this.#pump.wake)
    this.#pump.wake()
  }
  readonly #later = (channel: Channel): void => {
    if (this.#toFlush.push(channel) === 1) queueMicrotask(this.#flushAll)
  }
  /** Lets what waits for the end of this turn leave now. */
  flush(): void {
    if (this.#toFlush.length > 0) this.#flushAll()
  }
  readonly #flushAll = (): void => {
    const channels = this.#toFlush
    if (channels.length === 0) return
    this.#toFlush = []
    this.onRound()
    for (const channel of channels) channel.flushed()
  }

  /** Reads what has come by any way; returns how many bytes had. */
  read(): number {
    let bytes = 0
    for (const channel of this.channels.values()) bytes += channel.drain(bytesPerPass, this.#onRecord)
    return bytes
  }
  get hasIncoming(): boolean {
    for (const channel of this.channels.values()) if (channel.hasIncoming) return true
    return false
  }
  resting(): void {
    this.onRound()
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
        if (link === undefined) return
        link.grant(messages, bytes)
        if (link.queue.size > 0) link.queue.pump()
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
    if (arrivals.cell === undefined && arrivals.early === undefined) this.whereabouts.lookFor(arrivals)
    arrivals.take(message, meta, size)
  }
  #takeEnvelope(channel: Channel, arrivals: Arrivals, reader: Reader, start: number): void {
    const kind = reader.byte()
    let meta: Meta
    if (kind === metaKind.sender) meta = reader.value() as AnyRef
    else if (kind === metaKind.envelope) meta = new Told(reader.value() as AnyRef, reader.value() as never, reader.value() as number)
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

  cellFor(uid: number): Cell | undefined {
    return this.hosted.get(uid) ?? this.exported.get(uid)
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
    // A copy, for the set changes on the way.
    const waiting = [...this.waiting]
    for (const queue of waiting) {
      if (!queue.pump() || queue.size === 0) continue
      // Who got some of the room is last in line for the next.
      this.waiting.delete(queue)
      this.waiting.add(queue)
    }
  }

  /** Looks at once for what has come, although nobody rang: who did may be gone, and its wake with it. */
  nudge(): void {
    this.#pump.wake()
  }

  /** A thread is lost. What it had sent is still read; then the way is closed, and whoever depended on it is told. */
  lose(peer: number, cause: unknown): { readonly sent: number; readonly received: number } {
    this.lost.set(peer, cause)
    const channel = this.channels.get(peer)
    if (channel !== undefined) {
      while (channel.drain(Infinity, this.#onRecord) > 0) continue
      channel.close()
      this.channels.delete(peer)
      this.onClosed(channel)
      this.questions.lost(channel, cause)
    }
    this.whereabouts.lost(peer, cause)
    return { sent: channel?.sent ?? 0, received: channel?.received ?? 0 }
  }

  /** The ledger of this thread alone, with what waits for a way to others. */
  ledger(): LedgerReport {
    const report = ledgerOf(this.core.ledger, this.core.guardian)
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
    queued += this.whereabouts.early
    return { ...report, queued, stashed, inProgress }
  }
}
