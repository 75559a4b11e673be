// The threads of one system: started, placed on, connected with each other on demand, watched, and replaced when lost.
// Lives on the thread that made the system. What a lost thread had not told is settled here, so that the ledger of the
// whole adds up: each message that went to it and did not come back out is `unknown`.

import type { ActorSnapshot, LedgerReport, Logger, Observation } from 'troupe'
import type { Cell, Federation, SystemCore } from 'troupe/internal'
import { addLedgers, Census, type Part } from './census.ts'
import type { Vitals } from './board.ts'
import { ThreadLost } from './errors.ts'
import { Exchange } from './exchange.ts'
import { followHosted, hostActors } from './hosted.ts'
import { mergeSnapshots } from './inspecting.ts'
import { choose, type PlacementRequest, type ThreadLoad } from './placement.ts'
import { Replacements } from './replacements.ts'
import { spawnerFor } from './spawner.ts'
import { TaskQueue } from './task-queue.ts'
import { type LossReason, Thread, type ThreadSettings, wire } from './thread.ts'
import { watchThreads } from './watchdog.ts'

export interface PoolSettings extends ThreadSettings {
  readonly size: number
  /** Milliseconds without a sign of life until a thread counts as hung. */
  readonly hangAfter: number
}

interface Loss {
  readonly thread: Thread
  /** Threads that have not said yet what they sent to it and had from it. */
  readonly awaited: Set<number>
  sentTo: number
  receivedFrom: number
}

export class ThreadPool implements Federation {
  readonly core: SystemCore
  readonly exchange: Exchange
  readonly tasks: TaskQueue
  readonly #settings: PoolSettings
  readonly #bell = new SharedArrayBuffer(8)
  readonly #threads = new Map<number, Thread>()
  readonly #slots: (Thread | undefined)[]
  /** Threads of one actor, by its uid. */
  readonly #pinned = new Map<number, Thread>()
  readonly #connected = new Set<string>()
  readonly #replacements: Replacements
  readonly #losses = new Set<Loss>()
  /** Threads that are being ended; until they are gone there is no telling what they did. */
  readonly #ending = new Set<Thread>()
  readonly #parts = new Map<
    number,
    { readonly awaited: Set<number>; readonly parts: Part[]; readonly resolve: (parts: Part[] | undefined) => void }
  >()
  readonly #inspections = new Map<
    number,
    { readonly awaited: Set<number>; readonly hosted: Map<number, ActorSnapshot & { thread: number }>; readonly resolve: () => void }
  >()
  readonly #census: Census
  readonly #unwatch: () => void
  #epoch = 0
  #placed = 0
  #asked = 0
  #closing = false
  #told = false
  #settled: (() => void)[] = []
  #wantsPlace: (() => void)[] = []

  constructor(core: SystemCore, settings: PoolSettings) {
    this.core = core
    this.#settings = settings
    this.exchange = new Exchange(0, core, this.#bell, settings.spin, () => {})
    hostActors(this.exchange)
    followHosted(this.exchange)
    this.exchange.place = (request, stub) => this.place(request, stub.ref.uid)
    this.#census = new Census(this.exchange, () => {})
    this.#replacements = new Replacements(core.runtime)
    this.tasks = new TaskQueue(this)
    this.#listen()
    this.#slots = new Array<Thread | undefined>(settings.size).fill(undefined)
    for (let slot = 0; slot < settings.size; slot++) this.#start(slot)
    core.dispatchers.addRemote('parallel', spawnerFor(this.exchange, 'parallel'))
    core.dispatchers.addRemote('pinned', spawnerFor(this.exchange, 'pinned'))
    core.federation = this
    this.#unwatch = watchThreads(this, settings.hangAfter)
  }

  #listen(): void {
    const { exchange, core } = this
    exchange.on('up', ({ epoch }: { epoch: number }) => this.#isUp(epoch))
    exchange.on('place', ({ id, request, uid }: { id: number; request: PlacementRequest; uid: number }, channel) => {
      this.place(request, uid).then(
        (epoch) => channel.control({ op: 'placed', id, epoch }),
        (cause: unknown) => channel.control({ op: 'placed', id, cause }),
      )
    })
    exchange.on('lost.counts', ({ epoch, sent, received }: { epoch: number; sent: number; received: number }, channel) =>
      this.#counted(epoch, channel.peer, sent, received),
    )
    exchange.on('census.part', ({ id, part }: { id: number; part: Part }, channel) => this.#part(id, channel.peer, part))
    exchange.on('inspected', ({ id, hosted }: { id: number; hosted: ActorSnapshot[] }, channel) => this.#inspected(id, channel.peer, hosted))
    exchange.on('log', ({ level, fields, message }: { level: keyof Logger; fields: Record<string, unknown>; message: string }, channel) =>
      core.logger[level]({ ...fields, thread: this.slotOf(channel.peer) }, message),
    )
    exchange.on('letter', ({ message, sender, recipient, reason }: never) => {
      const letter = { message, sender, recipient, reason, at: core.runtime.now() }
      core.deadLetters.add(letter)
      if (core.listening) core.observe({ type: 'message.dead', letter, at: letter.at })
    })
    exchange.on('event', ({ event }: { event: Observation }) => core.observe({ ...event, at: core.runtime.now() }))
  }

  get threads(): Iterable<Thread> {
    return this.#threads.values()
  }
  get alive(): readonly Thread[] {
    return this.#slots.filter((t) => t !== undefined)
  }
  slotOf(epoch: number): number {
    return this.#threads.get(epoch)?.slot ?? -1
  }
  get closing(): boolean {
    return this.#closing
  }

  #start(slot: number): Thread {
    const epoch = ++this.#epoch
    const thread: Thread = new Thread(epoch, slot, this.#settings, this.#bell, {
      connect: (from, peer) => this.#connect(from, peer),
      lost: (...loss) => this.#lost(...loss),
    })
    this.#threads.set(epoch, thread)
    if (slot >= 0) this.#slots[slot] = thread
    this.exchange.wire(thread.wiring)
    if (this.#told) this.exchange.channels.get(epoch)?.control({ op: 'listen', on: true })
    return thread
  }
  #isUp(epoch: number): void {
    const thread = this.#threads.get(epoch)
    if (thread === undefined) return
    thread.state = 'up'
    thread.lastBeatAt = this.core.runtime.now()
    if (this.core.listening) this.core.observe({ type: 'thread.started', thread: thread.slot, at: this.core.runtime.now() })
    this.tasks.next()
  }
  /** A thread wants a way to another. */
  #connect(from: Thread, peer: number): void {
    const to = this.#threads.get(peer)
    if (to === undefined || from.state === 'gone') return
    // Both may have asked at once; there is one way between two threads.
    const pair = from.epoch < peer ? `${from.epoch} ${peer}` : `${peer} ${from.epoch}`
    if (this.#connected.has(pair)) return
    this.#connected.add(pair)
    const [atFrom, atTo] = wire(from.epoch, to.epoch, from.bell, to.bell, this.#settings.ringBytes)
    to.give(atTo)
    from.give(atFrom)
  }

  /** Tells threads whether anybody listens to what they observe. */
  tellListening(): void {
    const listening = this.core.events.size > 0
    if (listening === this.#told) return
    this.#told = listening
    for (const thread of this.threads) this.exchange.channels.get(thread.epoch)?.control({ op: 'listen', on: listening })
  }

  async place(request: PlacementRequest, uid: number): Promise<number> {
    this.tellListening()
    if (request.dispatcher === 'pinned') {
      const own = this.#pinned.get(uid)
      if (own !== undefined && this.#threads.has(own.epoch)) return own.epoch
      await this.#replacements.ready(-1 - uid)
      const thread = this.#start(-1)
      this.#pinned.set(uid, thread)
      return thread.epoch
    }
    for (;;) {
      const threads = this.alive.map((t) => this.#loadOf(t))
      if (threads.length === this.#slots.length || (threads.length > 0 && typeof request.rule === 'string')) {
        const { epoch } = choose(request.rule, threads, this.#placed++)
        return epoch
      }
      if (this.#closing) throw new ThreadLost(-1, 'terminated', 'the system is closing')
      await new Promise<void>((resolve) => this.#wantsPlace.push(resolve))
    }
  }
  #loadOf(thread: Thread): ThreadLoad {
    const { queued, busy } = thread.board.lastVitals
    let actors = 0
    for (const stub of this.exchange.stubs.values()) if (stub.at === thread.epoch) actors++
    return { epoch: thread.epoch, slot: thread.slot, actors, queued: queued + this.tasks.runningOn(thread), busy }
  }

  #lost(thread: Thread, why: LossReason, detail: string, given: unknown): void {
    const { core, exchange } = this
    const now = core.runtime.now()
    const running = thread.board.running
    const cause = new ThreadLost(thread.slot, why, detail, given)
    const actor = running.uid === 0 ? undefined : (exchange.stubs.get(running.uid)?.ref.path ?? exchange.cellFor(running.uid)?.ref.path)
    const actors = [...exchange.stubs.values()].filter((s) => s.at === thread.epoch).length
    this.#threads.delete(thread.epoch)
    this.#ending.delete(thread)
    for (const pair of this.#connected) if (pair.split(' ').includes(String(thread.epoch))) this.#connected.delete(pair)
    if (thread.slot >= 0 && this.#slots[thread.slot] === thread) this.#slots[thread.slot] = undefined
    const awaited = new Set<number>()
    for (const other of this.threads) {
      awaited.add(other.epoch)
      exchange.channels.get(other.epoch)?.control({ op: 'lost', epoch: thread.epoch, cause })
    }
    for (const inspection of this.#inspections.values())
      if (inspection.awaited.delete(thread.epoch) && inspection.awaited.size === 0) inspection.resolve()
    const { sent, received } = exchange.lose(thread.epoch, cause)
    const loss: Loss = { thread, awaited, sentTo: sent, receivedFrom: received }
    this.#losses.add(loss)
    // What it owed to another loss, or to a census, will not come.
    for (const other of this.#losses) if (other !== loss && other.awaited.delete(thread.epoch)) this.#settle(other)
    for (const [id, open] of this.#parts) {
      this.#parts.delete(id)
      open.resolve(undefined)
    }
    this.#settle(loss)
    if (why === 'retired') return
    core.logger.error({ thread: thread.slot, why, cause: given, actor, message: running.message, actors }, cause.message)
    if (core.listening)
      core.observe({
        type: 'thread.lost',
        thread: thread.slot,
        why,
        cause,
        actor,
        message: running.message,
        actors,
        silent: now - thread.lastBeatAt,
        at: now,
      })
    this.tasks.lost(thread, cause)
    if (this.#closing || thread.slot < 0) {
      if (thread.slot < 0) for (const [uid, own] of this.#pinned) if (own === thread) this.#replacements.lost(-1 - uid)
      return
    }
    this.#replacements.lost(thread.slot)
    void this.#replacements.ready(thread.slot).then(() => {
      if (this.#closing || this.#slots[thread.slot] !== undefined) return
      this.#start(thread.slot)
      for (const wants of this.#wantsPlace.splice(0)) wants()
    })
  }
  #counted(epoch: number, peer: number, sent: number, received: number): void {
    for (const loss of this.#losses) {
      if (loss.thread.epoch !== epoch || !loss.awaited.delete(peer)) continue
      loss.sentTo += sent
      loss.receivedFrom += received
      const other = this.#threads.get(peer)
      if (other !== undefined) {
        other.toGone += sent
        other.fromGone += received
      }
      this.#settle(loss)
    }
  }
  /** Once all have told: what went in, and neither ended there nor came out, is unknown. */
  #settle(loss: Loss): void {
    if (loss.awaited.size > 0) return
    this.#losses.delete(loss)
    const { ledger } = this.core
    const theirs = loss.thread.board.lastLedger
    const ended = theirs.handled + theirs.failed + theirs.unhandled + theirs.dropped + theirs.deadLettered + theirs.unknown
    ledger.sent += theirs.sent
    ledger.handled += theirs.handled
    ledger.failed += theirs.failed
    ledger.unhandled += theirs.unhandled
    ledger.dropped += theirs.dropped
    ledger.deadLettered += theirs.deadLettered
    ledger.unknown += theirs.unknown + theirs.sent + loss.sentTo + loss.thread.fromGone - ended - loss.receivedFrom - loss.thread.toGone
    if (this.#losses.size === 0 && this.#ending.size === 0) for (const done of this.#settled.splice(0)) done()
  }

  died(cell: Cell): void {
    this.exchange.whereabouts.died(cell)
    if (this.#pinned.size === 0) return
    this.unpin(cell.ref.uid)
  }
  unpin(uid: number): void {
    const own = this.#pinned.get(uid)
    if (own === undefined) return
    this.#pinned.delete(uid)
    void this.#retire(own)
  }
  /** Ends a thread that is not needed any more, once it has told what it did last. */
  async #retire(thread: Thread): Promise<void> {
    await this.#allParts()
    if (!this.#threads.has(thread.epoch) || this.#closing) return
    this.#ending.add(thread)
    thread.kill('retired')
  }

  // Looking at all threads at once.

  async ledger(): Promise<LedgerReport> {
    return addLedgers(await this.#allParts())
  }
  async #allParts(): Promise<Part[]> {
    for (;;) {
      if (this.#losses.size > 0 || this.#ending.size > 0) await new Promise<void>((resolve) => this.#settled.push(resolve))
      const parts = await this.#countParts()
      // A thread that was lost meanwhile took its part with it; its messages are settled, then everything is counted anew.
      if (parts !== undefined) return parts
    }
  }
  #countParts(): Promise<Part[] | undefined> {
    return new Promise((resolve) => {
      const id = ++this.#asked
      const awaited = new Set<number>([0])
      for (const thread of this.threads) awaited.add(thread.epoch)
      this.#parts.set(id, { awaited, parts: [], resolve })
      this.#census.begin(id, (part) => this.#part(id, 0, part))
    })
  }
  #part(id: number, from: number, part: Part): void {
    const open = this.#parts.get(id)
    if (open === undefined || !open.awaited.delete(from)) return
    open.parts.push(part)
    if (open.awaited.size > 0) return
    this.#parts.delete(id)
    open.resolve(open.parts)
  }
  whenQuiet(then: () => void): void {
    void this.#allParts().then((parts) => {
      const { queued, inProgress } = addLedgers(parts)
      if (queued === 0 && inProgress === 0 && parts.every((p) => p.pending === 0)) then()
      else setTimeout(() => this.core.onIdle?.(), 5)
    })
  }

  async inspect(own: ActorSnapshot): Promise<ActorSnapshot> {
    const id = ++this.#asked
    const hosted = new Map<number, ActorSnapshot & { thread: number }>()
    const awaited = new Set([...this.threads].filter((t) => t.state === 'up').map((t) => t.epoch))
    if (awaited.size > 0) {
      await new Promise<void>((resolve) => {
        this.#inspections.set(id, { awaited, hosted, resolve })
        for (const epoch of awaited) this.exchange.channels.get(epoch)?.control({ op: 'inspect', id })
      })
      this.#inspections.delete(id)
    }
    return mergeSnapshots(own, hosted)
  }
  #inspected(id: number, peer: number, hosted: readonly ActorSnapshot[]): void {
    const inspection = this.#inspections.get(id)
    if (inspection === undefined) return
    for (const snapshot of hosted) inspection.hosted.set(snapshot.uid, { ...snapshot, thread: this.slotOf(peer) })
    if (inspection.awaited.delete(peer) && inspection.awaited.size === 0) inspection.resolve()
  }
  vitals(): readonly (Vitals & { readonly thread: number; readonly state: Thread['state'] })[] {
    return Array.from(this.threads, (t) => Object.assign({ thread: t.slot, state: t.state }, t.board.lastVitals))
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#unwatch()
    this.#replacements.close()
    for (const wants of this.#wantsPlace.splice(0)) wants()
    this.tasks.close()
    await Promise.race([this.#finalParts(), new Promise((resolve) => setTimeout(resolve, 1000).unref())])
    await Promise.all([...this.threads].map((t) => t.end()))
  }
  /** What threads did last goes into the ledger before they go. */
  async #finalParts(): Promise<void> {
    const parts = await this.#allParts()
    const { ledger } = this.core
    for (const key of ['sent', 'handled', 'failed', 'unhandled', 'dropped', 'deadLettered', 'unknown'] as const)
      ledger[key] = parts.reduce((sum, part) => sum + part.ledger[key], 0)
    this.core.federation = undefined
  }
}
