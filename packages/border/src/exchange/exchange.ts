// One thread's post office: the ways to other threads, and who is known to whom. Everything that crosses the border goes by
// here; what it means for an actor is in stub (here stands for one that runs there) and hosted (runs here for one that
// stands there), and what comes in is read by incoming. What cannot be read ends the way it came by, and nothing else.

import type { LedgerReport } from '@troupe/core'
import { type Cell, ledgerOf, MessageRing, type SystemCore, walk } from '@troupe/core/internal'
import { Addresses, type AddressRef } from '../values/address-ref.ts'
import { Channel, record } from '../way/channel.ts'
import type { Control, ControlOf, Op } from '../way/control.ts'
import { Deadlocks } from './deadlocks.ts'
import { Incoming } from './incoming.ts'
import type { Loop } from '../values/loop.ts'
import type { Bell, LineEnd } from '../way/line.ts'
import type { PlacementRequest } from '../values/placement.ts'
import { Pump } from './pump.ts'
import { Questions } from '../questions/questions.ts'
import { RefTable } from './ref-table.ts'
import { Residents } from '../lives/residents.ts'
import { Whereabouts } from '../lives/whereabouts.ts'
import type { WireQueue } from '../way/wire-queue.ts'

/** What an exchange is made with. */
export interface ExchangeParts {
  /** The number of this thread. */
  readonly epoch: number
  readonly core: SystemCore
  readonly loop: Loop
  readonly bell: Bell
  /** Milliseconds of looking for more before sleeping. */
  readonly spin: number
  /** Asks for a way to a thread. */
  connect(peer: number): void
  /** Finds a thread for an actor. */
  place(request: PlacementRequest, uid: number): Promise<number>
  /** What came from a thread cannot be read: the way to it is given up, and it has to end. */
  broken(peer: number, cause: unknown): void
  /** Called before anything goes over, and before sleeping: what others may look at must be up to date by then. */
  show?(): void
  /** The mailbox of an actor that runs here. */
  makeMailbox?(): MessageRing
}

/** Mailboxes that are filled in small portions stay small: handlers have their turns between. */
const bytesPerPass = 16 * 1024

export class Exchange {
  readonly epoch: number
  readonly core: SystemCore
  readonly residents: Residents = new Residents()
  readonly refs: RefTable
  readonly addresses: Addresses = new Addresses()
  readonly questions: Questions
  readonly whereabouts: Whereabouts
  readonly deadlocks: Deadlocks
  readonly #parts: ExchangeParts
  readonly #incoming: Incoming
  readonly #pump: Pump
  readonly #channels = new Map<number, Channel>()
  /** Ways by which came what cannot be read: not read any further. */
  readonly #broken = new Set<Channel>()
  /** Threads that are gone, and why. */
  readonly #lost = new Map<number, unknown>()
  /** Mailboxes with messages that wait for credit or for a way. */
  readonly #waiting = new Set<WireQueue>()
  #onWay: ((channel: Channel) => void) | undefined
  #toFlush: Channel[] = []

  constructor(parts: ExchangeParts) {
    this.epoch = parts.epoch
    this.core = parts.core
    this.#parts = parts
    this.#pump = new Pump(this, parts.bell, parts.spin, parts.loop)
    this.refs = new RefTable(this)
    this.#incoming = new Incoming(this)
    this.questions = new Questions(this)
    this.whereabouts = new Whereabouts(this)
    this.deadlocks = new Deadlocks(this, (task) => parts.loop.microtask(task))
    this.on('verb', ({ uid, command }) => {
      if (command.verb === 'stop' || command.verb === 'kill') this.residents.stopExpected(uid)
      this.residents.cell(uid)?.command(command)
    })
  }

  get now(): number {
    return this.core.runtime.now()
  }

  /** Says who takes the records of a name. */
  on<O extends Op>(op: O, handler: (content: ControlOf<O>, channel: Channel) => void): void {
    this.#incoming.on(op, handler)
  }

  /** Finds a thread for the actor of a stub. */
  place(request: PlacementRequest, uid: number): Promise<number> {
    return this.#parts.place(request, uid)
  }
  /** The mailbox of an actor that runs here. */
  makeMailbox(): MessageRing {
    return this.#parts.makeMailbox?.() ?? new MessageRing()
  }

  // Ways.

  /** The ways there are. */
  get channels(): readonly Channel[] {
    return [...this.#channels.values()]
  }
  /** The way to a thread, if there is one. */
  knownChannel(peer: number): Channel | undefined {
    return this.#channels.get(peer)
  }
  /** The way to a thread, opened when first used; undefined if that thread is gone. */
  channelTo(peer: number): Channel | undefined {
    const known = this.#channels.get(peer)
    if (known !== undefined) return known.state === 'closed' ? undefined : known
    if (peer === this.epoch || this.#lost.has(peer)) return undefined
    const channel = this.#add(peer)
    this.#parts.connect(peer)
    return channel
  }
  /** Says something to a thread to which there is a way; otherwise nothing happens. */
  tell(peer: number, content: Control): void {
    this.#channels.get(peer)?.control(content)
  }
  /** Says something to a thread, by a way that is opened for it if need be; to one that is gone nothing. */
  reach(peer: number, content: Control): void {
    this.channelTo(peer)?.control(content)
  }
  isLost(peer: number): boolean {
    return this.#lost.has(peer)
  }
  /** Why a thread is gone. */
  lossOf(peer: number): unknown {
    return this.#lost.get(peer) ?? new Error(`thread ${peer} is gone`)
  }
  /** Tells somebody of each way that comes, on which nothing was written yet: the census. */
  set onWay(take: (channel: Channel) => void) {
    this.#onWay = take
  }

  #add(peer: number): Channel {
    const channel = new Channel(peer, this.refs, this.#later)
    channel.onRoom = () => this.#pumpWaiting()
    this.#channels.set(peer, channel)
    this.#onWay?.(channel)
    return channel
  }
  /** This end of the way to a place was given out. */
  open(peer: number, end: LineEnd): void {
    if (this.#lost.has(peer)) return
    const channel = this.#channels.get(peer) ?? this.#add(peer)
    channel.open(end, this.#pump.wake)
    this.#pump.wake()
  }
  readonly #later = (channel: Channel): void => {
    if (this.#toFlush.push(channel) === 1) this.#parts.loop.microtask(this.#flushAll)
  }
  /** Lets what waits for the end of this turn leave now. */
  flush(): void {
    if (this.#toFlush.length > 0) this.#flushAll()
  }
  readonly #flushAll = (): void => {
    const channels = this.#toFlush
    if (channels.length === 0) return
    this.#toFlush = []
    this.#parts.show?.()
    for (const channel of channels) channel.flushed()
  }

  /** Reads what has come by any way; returns how many bytes had. */
  read(): number {
    let bytes = 0
    for (const channel of this.#channels.values()) bytes += this.#drain(channel, bytesPerPass)
    return bytes
  }
  #drain(channel: Channel, most: number): number {
    if (this.#broken.has(channel)) return 0
    try {
      return channel.drain(most, this.#incoming.take)
    } catch (cause) {
      // What follows would be read from the wrong place, or be as wrong: nothing of it is believed.
      this.#broken.add(channel)
      this.#parts.broken(channel.peer, cause)
      return 0
    }
  }
  get hasIncoming(): boolean {
    for (const channel of this.#channels.values()) if (channel.hasIncoming && !this.#broken.has(channel)) return true
    return false
  }
  resting(): void {
    this.#parts.show?.()
  }
  /** Looks at once for what has come, although nobody rang: who did may be gone, and its wake with it. */
  nudge(): void {
    this.#pump.wake()
  }

  /** A thread is lost. What it had sent is still read; then the way is closed, and whoever depended on it is told. */
  lose(peer: number, cause: unknown): { readonly sent: number; readonly received: number } {
    this.#lost.set(peer, cause)
    const channel = this.#channels.get(peer)
    if (channel !== undefined) {
      while (this.#drain(channel, Infinity) > 0) continue
      channel.close()
      this.#channels.delete(peer)
      this.#broken.delete(channel)
    }
    this.questions.lost(peer, cause)
    this.whereabouts.lost(peer, cause)
    return { sent: channel?.sent ?? 0, received: channel?.received ?? 0 }
  }

  // Messages that wait, and those for addresses.

  /** A mailbox has messages that cannot go now. */
  waits(queue: WireQueue): void {
    this.#waiting.add(queue)
  }
  waitsNoMore(queue: WireQueue): void {
    this.#waiting.delete(queue)
  }
  get waitingMailboxes(): number {
    return this.#waiting.size
  }
  #pumpWaiting(): void {
    // A copy, for the set changes on the way.
    const waiting = [...this.#waiting]
    for (const queue of waiting) {
      if (!queue.pump() || queue.size === 0) continue
      // Who got some of the room is last in line for the next.
      this.#waiting.delete(queue)
      this.#waiting.add(queue)
    }
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

  /** The ledger of this thread alone, with what waits for a way to others. */
  ledger(): LedgerReport {
    const report = ledgerOf(this.core.ledger, this.core.guardian)
    let { queued, stashed, inProgress } = report
    const parents = new Set<Cell>()
    for (const cell of this.residents.allHosted) if (cell.ref.parent !== undefined) parents.add(cell.ref.parent.cell)
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
    for (const queue of this.#waiting) if (queue.ofProxy) queued += queue.size
    queued += this.whereabouts.early
    return { ...report, queued, stashed, inProgress }
  }
}
