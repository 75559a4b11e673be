// One thread's post office: the ways to other threads, and who is known to whom. Everything that crosses the border goes by
// here; what it means for an actor is in stub (here stands for one that runs there) and hosted (runs here for one that
// stands there), and what comes in is read by incoming. What cannot be read ends the way it came by, here;
// whoever owns the places ends the one that sent it.

import type { AnyRef, LedgerReport } from '@troupe/core'
import { budgets, type Cell, fuse, ledgerOf, MessageRing, type SystemCore, walk } from '@troupe/core/internal'
import { Addresses, type AddressRef } from '../values/address-ref.ts'
import { Crossing, record } from '../way/crossing.ts'
import type { Control, ControlOf, Op } from '../way/control.ts'
import { Deadlocks } from './deadlocks.ts'
import { Incoming } from './incoming.ts'
import type { Loop } from '../values/loop.ts'
import type { Bell, LineEnd } from '../way/line.ts'
import type { PlacementRequest } from '../values/placement.ts'
import { Pump } from './pump.ts'
import { Questions } from '../questions/questions.ts'
import { RefTable } from './ref-table.ts'
import { byUid, type Numbers, Residents } from '../lives/residents.ts'
import { Whereabouts } from '../lives/whereabouts.ts'
import type { Names } from '../way/names.ts'
import { ProxyCell } from '../way/remote-ref.ts'
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
  /** What places and actors are called on the way to a place; left out where all have the same numbers. */
  names?(peer: number): Names
  /** By which numbers others know the actors of this place; the uids of their refs if left out. */
  readonly numbers?: Numbers
  /** The uid that the ref of an actor elsewhere has here; the actor's number if left out. */
  makeUid?(): number
  /** How many bytes of messages may wait for one place before more are dead letters; then offers wait for credit too. No bound if left out. */
  readonly mostWaiting?: number
  /** Whether a place is gone, or never was, of which this one knows nothing else. */
  isGone?(peer: number): boolean
  /** Why a place is gone of which nothing else is known. */
  lossOf?(peer: number): unknown
  /** What is a ref besides those of actors, questions and adapters, and how it is written and read. */
  readonly otherRefs?: OtherRefs
}

/** Refs that whoever connects the places brings along: written as a text that means the same everywhere. */
export interface OtherRefs {
  /** The text of a ref; undefined where it is none of them. */
  write(cell: Cell): string | undefined
  read(text: string): AnyRef
}

/** Mailboxes that are filled in small portions stay small: handlers have their turns between. */
const bytesPerPass = 16 * 1024
/** Milliseconds between two looks for offers and questions that were given up while they waited. */
const sweepEvery = 1_000

/** One place's post office: what goes to other places and comes from them passes through it. */
export class Exchange {
  readonly epoch: number
  readonly core: SystemCore
  readonly residents: Residents
  readonly refs: RefTable
  readonly addresses: Addresses = new Addresses()
  readonly questions: Questions
  readonly whereabouts: Whereabouts
  readonly deadlocks: Deadlocks
  readonly #parts: ExchangeParts
  readonly #incoming: Incoming
  readonly #pump: Pump
  readonly #crossings = new Map<number, Crossing>()
  /** Ways by which came what cannot be read: not read any further. */
  readonly #broken = new Set<Crossing>()
  /** Threads that are gone, and why. */
  readonly #lost = new Map<number, unknown>()
  /** Mailboxes with messages that wait for credit or for a way. */
  readonly #waiting = new Set<WireQueue>()
  /** While something waits: ends the sweeps. */
  #endSweeps: (() => void) | undefined
  /** Bytes of messages that wait, by the place they are for. */
  readonly #waitingBytes = new Map<number, number>()
  readonly #numbers: Numbers
  #onWay: ((crossing: Crossing) => void) | undefined
  #toFlush: Crossing[] = []

  constructor(parts: ExchangeParts) {
    this.epoch = parts.epoch
    this.core = parts.core
    // Not their sum: too few for one place would hide too many for another.
    budgets.onOwner?.('bytes that wait for another place', () => [...this.#waitingBytes.values()].find((bytes) => bytes !== 0) ?? 0, this.core)
    this.#parts = parts
    this.#numbers = parts.numbers ?? byUid
    this.residents = new Residents(this.#numbers)
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
  on<O extends Op>(op: O, handler: (content: ControlOf<O>, crossing: Crossing) => void): void {
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

  // Who is who.

  /** What stands here for an actor of another place of this exchange. */
  isProxy(cell: Cell): cell is ProxyCell {
    return cell instanceof ProxyCell && cell.exchange === this
  }
  /** The number by which all places of this exchange know an actor. */
  numberOf(cell: Cell): number {
    return this.isProxy(cell) ? cell.far : this.#numbers.of(cell)
  }
  /** The same, of one that others may not have heard of. */
  knownNumber(cell: Cell): number | undefined {
    return this.isProxy(cell) ? cell.far : this.#numbers.known(cell)
  }
  /** The uid that the ref of an actor elsewhere has here. */
  uidFor(number: number): number {
    return this.#parts.makeUid?.() ?? number
  }
  get otherRefs(): OtherRefs | undefined {
    return this.#parts.otherRefs
  }

  // Ways.

  /** The ways there are. */
  get crossings(): readonly Crossing[] {
    return [...this.#crossings.values()]
  }
  /** The way to a thread, if there is one. */
  knownCrossing(peer: number): Crossing | undefined {
    return this.#crossings.get(peer)
  }
  /** The way to a thread, opened when first used; undefined if that thread is gone. */
  crossingTo(peer: number): Crossing | undefined {
    const known = this.#crossings.get(peer)
    if (known !== undefined) return known.state === 'closed' ? undefined : known
    if (peer === this.epoch || this.isLost(peer)) return undefined
    const crossing = this.#add(peer)
    this.#parts.connect(peer)
    return crossing
  }
  /** Says something to a thread to which there is a way; otherwise nothing happens. */
  tell(peer: number, content: Control): void {
    this.#crossings.get(peer)?.control(content)
  }
  /** Says something to a thread, by a way that is opened for it if need be; to one that is gone nothing. */
  reach(peer: number, content: Control): void {
    this.crossingTo(peer)?.control(content)
  }
  isLost(peer: number): boolean {
    return this.#lost.has(peer) || this.#parts.isGone?.(peer) === true
  }
  /** Why a thread is gone. */
  lossOf(peer: number): unknown {
    return this.#lost.get(peer) ?? this.#parts.lossOf?.(peer) ?? new Error(`thread ${peer} is gone`)
  }
  /** Tells somebody of each way that comes, on which nothing was written yet: the census. */
  set onWay(take: (crossing: Crossing) => void) {
    this.#onWay = take
  }

  #add(peer: number): Crossing {
    const crossing = new Crossing(peer, this.refs, this.#later, this.#parts.names?.(peer))
    crossing.onRoom = () => this.#pumpWaiting()
    this.#crossings.set(peer, crossing)
    this.#onWay?.(crossing)
    return crossing
  }
  /** This end of the way to a place was given out. */
  open(peer: number, end: LineEnd): void {
    if (this.isLost(peer)) return
    const crossing = this.#crossings.get(peer) ?? this.#add(peer)
    crossing.open(end, this.#pump.wake)
    this.#pump.wake()
  }
  readonly #later = (crossing: Crossing): void => {
    if (this.#toFlush.push(crossing) === 1) this.#parts.loop.microtask(this.#flushAll)
  }
  /** Lets what waits for the end of this turn leave now. */
  flush(): void {
    if (this.#toFlush.length > 0) this.#flushAll()
  }
  readonly #flushAll = (): void => {
    const crossings = this.#toFlush
    if (crossings.length === 0) return
    this.#toFlush = []
    this.#parts.show?.()
    for (const crossing of crossings) crossing.flushed()
  }

  /** Reads what has come by any way; returns how many bytes had. */
  read(): number {
    let bytes = 0
    for (const crossing of this.#crossings.values()) bytes += this.#drain(crossing, bytesPerPass)
    return bytes
  }
  #drain(crossing: Crossing, most: number): number {
    if (this.#broken.has(crossing)) return 0
    try {
      return crossing.drain(most, this.#incoming.take)
    } catch (cause) {
      // What follows would be read from the wrong place, or be as wrong: nothing of it is believed.
      this.#broken.add(crossing)
      this.#parts.broken(crossing.peer, cause)
      return 0
    }
  }
  /** Whether anything has come, or room was made for what waits to go, before this thread had said that it sleeps: then nobody has rung. */
  lastLook(): boolean {
    for (const crossing of this.#crossings.values()) if (crossing.retry() || (crossing.hasIncoming && !this.#broken.has(crossing))) return true
    return false
  }
  resting(): void {
    this.#parts.show?.()
  }
  /** Looks at once for what has come, although nobody rang: who did may be gone, and its wake with it. */
  nudge(): void {
    this.#pump.wake()
  }

  /** Nothing reminds of a place that was lost: where nobody can name it any more. */
  forget(peer: number): void {
    this.#lost.delete(peer)
  }
  /**
   * The way to a place broke, and the place lives: what was under way is not known to have arrived, and what was asked gets no answer. Actors
   * there are who they were; a new way is opened by what is told next.
   */
  renew(peer: number, cause: unknown): { readonly sent: number; readonly received: number } {
    const crossing = this.#crossings.get(peer)
    if (crossing === undefined) return { sent: 0, received: 0 }
    crossing.close()
    this.#crossings.delete(peer)
    this.#broken.delete(crossing)
    this.questions.lost(peer, cause)
    this.whereabouts.wayLost(peer)
    return { sent: crossing.sent, received: crossing.received }
  }

  /** A thread is lost. What it had sent is still read; then the way is closed, and whoever depended on it is told. */
  lose(peer: number, cause: unknown): { readonly sent: number; readonly received: number } {
    this.#lost.set(peer, cause)
    const crossing = this.#crossings.get(peer)
    if (crossing !== undefined) {
      while (this.#drain(crossing, Infinity) > 0) continue
      crossing.close()
      this.#crossings.delete(peer)
      this.#broken.delete(crossing)
    }
    this.questions.lost(peer, cause)
    this.whereabouts.lost(peer, cause)
    return { sent: crossing?.sent ?? 0, received: crossing?.received ?? 0 }
  }

  // Messages that wait, and those for addresses.

  /** A mailbox has messages that cannot go now. */
  waits(queue: WireQueue): void {
    this.#waiting.add(queue)
    this.#endSweeps ??= this.#parts.loop.every(sweepEvery, () => this.#sweep())
  }
  #sweep(): void {
    for (const queue of this.#waiting) queue.sweep()
    if (this.#waiting.size > 0) return
    this.#endSweeps?.()
    this.#endSweeps = undefined
  }
  waitsNoMore(queue: WireQueue): void {
    this.#waiting.delete(queue)
  }
  /** Whether so many bytes more may wait for a place; counted if so. */
  mayWait(peer: number, bytes: number): boolean {
    const { mostWaiting } = this.#parts
    if (mostWaiting === undefined) return true
    const waiting = this.#waitingBytes.get(peer) ?? 0
    if (waiting + bytes > mostWaiting) return false
    this.#waitingBytes.set(peer, waiting + bytes)
    return true
  }
  waited(peer: number, bytes: number): void {
    const left = (this.#waitingBytes.get(peer) ?? 0) - bytes
    // Below zero it was given back twice, which the check of the budgets must see.
    if (left === 0) this.#waitingBytes.delete(peer)
    else this.#waitingBytes.set(peer, left)
  }
  /** Whether what waits is bounded in bytes. */
  get bounded(): boolean {
    return this.#parts.mostWaiting !== undefined
  }
  waitingFor(peer: number): number {
    return this.#waitingBytes.get(peer) ?? 0
  }
  /** Messages that wait in refs of actors elsewhere. */
  get unsent(): number {
    let count = this.whereabouts.early
    for (const queue of this.#waiting) if (queue.ofProxy) count += queue.size
    return count
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
    if (fuse.catcher !== undefined) return fuse.catcher.acted(() => this.tellAddress(address, message))
    const { ledger } = this.core
    ledger.sent++
    const crossing = this.crossingTo(address.thread)
    if (crossing === undefined) return this.core.bury(message, undefined, address, this.#parts.names === undefined ? 'thread-lost' : 'node-lost')
    try {
      crossing.valued((w) => {
        w.byte(record.address)
        w.whole(address.id)
      }, message)
      crossing.sent++
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
    queued += this.unsent
    return { ...report, queued, stashed, inProgress }
  }
}
