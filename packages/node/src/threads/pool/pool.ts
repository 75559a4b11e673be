// The threads of one system: started, connected with each other on demand, watched, and replaced when lost. Lives on the
// thread that made the system. Who goes where is in places, what a lost one leaves to be settled in losses, and looking at
// all of them at once in counting and inspections.

import type { ActorSnapshot, AnyRef, LedgerReport } from '@troupe/core'
import type { Cell, OtherPlaces, SystemCore } from '@troupe/core/internal'
import { Counting } from '../survey/counting.ts'
import { ThreadLost } from '../errors.ts'
import { Exchange, followHosted, type Loop, type PlacementRequest, refuseTwice, spawnerFor } from '@troupe/border'
import { Finding } from '../survey/finding.ts'
import { Figures } from '../survey/figures.ts'
import { hearReports } from '../survey/hearsay.ts'
import { Inspections } from '../survey/inspections.ts'
import type { LedgerCounts } from '../wire/ledger-shape.ts'
import { Losses } from './losses.ts'
import { Lookout } from '../survey/lookout.ts'
import type { Medium } from '../wire/medium.ts'
import { Places } from './places.ts'
import { Replacements } from './replacements.ts'
import type { Vitals } from '../wire/signs.ts'
import { TaskQueue } from './task-queue.ts'
import { type LossReason, Thread, type ThreadSettings } from './thread.ts'
import { watchThreads } from './watchdog.ts'
import { endOf } from '../wire/media.ts'
import { Ways } from './ways.ts'

export interface PoolSettings extends ThreadSettings {
  readonly medium: Medium
  readonly loop: Loop
}

/** How long the end of the system waits for what is under way between threads. */
const lastWords = 1000

/** Between two looks whether a thread that is to end has told all it had to tell, in milliseconds. */
const longestPause = 64

export class ThreadPool implements OtherPlaces {
  readonly core: SystemCore
  readonly exchange: Exchange
  readonly tasks: TaskQueue
  readonly slots: (Thread | undefined)[]
  readonly #settings: PoolSettings
  readonly #threads = new Map<number, Thread>()
  /** By their epochs; those of threads that are gone as long as something of theirs is still read. */
  readonly #numbers = new Map<number, number>()
  readonly #ways: Ways
  readonly #replacements: Replacements
  readonly #places: Places
  readonly #losses: Losses
  readonly #figures: Figures
  readonly #counting: Counting
  readonly #inspections: Inspections
  readonly #finding: Finding
  readonly look: Lookout
  /** Threads that are being ended; until they are gone there is no telling what they did. */
  readonly #ending = new Set<Thread>()
  readonly #unwatch: () => void
  #epoch = 0
  #told = false
  #over = false
  closing = false

  constructor(core: SystemCore, settings: PoolSettings) {
    this.core = core
    this.#settings = settings
    this.#ways = new Ways(settings.medium)
    this.exchange = new Exchange({
      epoch: 0,
      core,
      loop: settings.loop,
      bell: settings.medium.mainBell,
      spin: settings.spin,
      connect: () => {},
      place: (request, uid) => this.place(request, uid),
      broken: (peer, cause) => this.#broken(peer, cause),
    })
    followHosted(this.exchange)
    this.#replacements = new Replacements(core.runtime)
    this.#places = new Places(this, this.#replacements)
    this.#losses = new Losses(core.ledger)
    this.#figures = new Figures(this)
    this.#counting = new Counting(
      this.exchange,
      () => this.#threads.keys(),
      () => this.#whenSettled(),
    )
    this.#inspections = new Inspections(this.exchange, (epoch) => this.slotOf(epoch))
    this.#finding = new Finding(this.exchange)
    this.look = new Lookout(this)
    this.tasks = new TaskQueue(this)
    this.#listen()
    this.slots = new Array<Thread | undefined>(settings.size).fill(undefined)
    for (let slot = 0; slot < settings.size; slot++) this.#start(slot)
    for (const name of ['parallel', 'pinned'] as const)
      core.dispatchers.addRemote(name, {
        ...spawnerFor(this.exchange, name, settings.byName ? refuseTwice : undefined),
        work: () => this.#figures.work(name === 'pinned'),
      })
    core.otherPlaces = this
    core.elsewhere = this.#figures
    this.#unwatch = watchThreads(this, settings.hangAfter, settings.loop)
  }

  #listen(): void {
    const { exchange } = this
    exchange.on('up', ({ epoch }) => this.#isUp(epoch))
    exchange.on('place', ({ id, request, uid }, crossing) => {
      this.place(request, uid).then(
        (epoch) => crossing.control({ op: 'placed', id, epoch, cause: undefined }),
        (cause: unknown) => crossing.control({ op: 'placed', id, epoch: undefined, cause }),
      )
    })
    exchange.on('lost.counts', ({ epoch, sent, received }, crossing) => {
      const by = this.#threads.get(crossing.peer)
      if (by !== undefined) this.#losses.counted(epoch, by, sent, received)
    })
    exchange.on('broken', ({ epoch, cause }) => this.#broken(epoch, cause))
    hearReports(exchange, this.core, (epoch) => this.slotOf(epoch))
  }

  get threads(): Iterable<Thread> {
    return this.#threads.values()
  }
  get alive(): readonly Thread[] {
    return this.slots.filter((t) => t !== undefined)
  }
  has(thread: Thread): boolean {
    return this.#threads.has(thread.epoch)
  }
  slotOf(epoch: number): number {
    return this.#numbers.get(epoch) ?? -1
  }
  isPinned(thread: Thread): boolean {
    return thread.slot >= this.slots.length
  }
  get unsettled(): Iterable<LedgerCounts> {
    return this.#losses.unsettled
  }
  tasksOn(thread: Thread): number {
    return this.tasks.runningOn(thread)
  }

  #start(slot: number): Thread {
    const epoch = ++this.#epoch
    const thread: Thread = new Thread(epoch, slot, this.#settings, this.#settings.medium, {
      connect: (from, peer) => this.#connect(from, peer),
      lost: (...loss) => this.#lost(...loss),
    })
    this.#threads.set(epoch, thread)
    this.#numbers.set(epoch, slot)
    if (!this.isPinned(thread)) this.slots[slot] = thread
    this.exchange.open(thread.epoch, endOf(thread.wiring))
    if (this.#told) this.exchange.tell(epoch, { op: 'listen', on: true })
    return thread
  }
  startPinned(slot: number): Thread {
    return this.#start(slot)
  }
  #isUp(epoch: number): void {
    const thread = this.#threads.get(epoch)
    // One that is being ended already has its first word on the way; taken for up, its end would be a loss.
    if (thread?.state !== 'starting') return
    thread.state = 'up'
    thread.lastBeatAt = this.core.runtime.now()
    if (this.core.listening) this.core.observe({ type: 'thread.started', thread: thread.slot, at: this.core.runtime.now() })
    this.tasks.next()
  }
  /** A thread wants a way to another. */
  #connect(from: Thread, peer: number): void {
    if (!this.has(from)) return
    const to = this.#threads.get(peer)
    if (to === undefined) {
      // It was lost before the one that asks was started, or before that could hear of it: it would wait for ever.
      this.exchange.tell(from.epoch, { op: 'lost', epoch: peer, cause: this.exchange.lossOf(peer) })
      return
    }
    this.#ways.join(from, to)
  }

  /** What came from a thread cannot be read: it is ended, for nothing that it says can be believed any more. */
  #broken(epoch: number, cause: unknown): void {
    this.#threads.get(epoch)?.kill('bad-record', cause)
  }

  /** Tells threads whether anybody listens to what they observe. */
  tellListening(): void {
    const listening = this.core.events.size > 0 || this.core.tellsPhases
    if (listening === this.#told) return
    this.#told = listening
    for (const thread of this.threads) this.exchange.tell(thread.epoch, { op: 'listen', on: listening })
  }

  place(request: PlacementRequest, uid: number): Promise<number> {
    this.tellListening()
    return this.#places.place(request, uid)
  }

  #lost(thread: Thread, why: LossReason, detail: string, given: unknown): void {
    const { core, exchange } = this
    const { running } = thread.signs
    const cause = new ThreadLost(thread.slot, why, detail, given)
    const actor = running.uid === 0 ? undefined : exchange.residents.cell(running.uid)?.ref.path
    const actors = [...exchange.residents.stubs].filter((s) => s.at === thread.epoch).length
    this.#forget(thread)
    for (const other of this.threads) exchange.tell(other.epoch, { op: 'lost', epoch: thread.epoch, cause })
    const { sent, received } = exchange.lose(thread.epoch, cause)
    this.#losses.begin(thread, sent, received, this.#threads.keys())
    this.#losses.gone(thread.epoch)
    this.#numbers.delete(thread.epoch)
    this.#inspections.gone(thread.epoch)
    this.#finding.gone(thread.epoch)
    this.look.gone(thread.epoch)
    this.#counting.gone()
    this.#ending.delete(thread)
    this.#wakeAll()
    if (why === 'retired') return
    core.logger.error({ thread: thread.slot, why, cause: given, actor, message: running.message, actors }, cause.message)
    if (core.listening) {
      const at = core.runtime.now()
      const silent = at - thread.lastBeatAt
      core.observe({ type: 'thread.lost', thread: thread.slot, why, cause, actor, message: running.message, actors, silent, at })
    }
    this.tasks.lost(thread, cause)
    if (this.isPinned(thread)) this.#places.lostPinned(thread)
    else if (!this.closing) this.#replace(thread.slot)
  }
  #forget(thread: Thread): void {
    this.#threads.delete(thread.epoch)
    this.#settings.medium.forget(thread.epoch)
    this.#ways.forget(thread.epoch)
    this.#figures.gone(thread)
    if (this.slots[thread.slot] === thread) this.slots[thread.slot] = undefined
  }
  /**
   * Whoever rings a bell owes a wake. A thread that dies between the two, or whose port is closed with the wake in it, leaves
   * one who sleeps and is not rung for any more: so after each loss all look for themselves.
   */
  #wakeAll(): void {
    this.exchange.nudge()
    for (const thread of this.threads) this.exchange.knownCrossing(thread.epoch)?.nudge()
  }
  #replace(slot: number): void {
    this.#replacements.lost(slot)
    void this.#replacements.ready(slot).then(() => {
      if (this.closing || this.slots[slot] !== undefined) return
      this.#start(slot)
      this.#places.changed()
    })
  }

  breathe(): void {
    this.exchange.flush()
  }
  died(cell: Cell): void {
    this.exchange.whereabouts.died(cell)
    const own = this.#places.unpin(cell.ref.uid)
    if (own !== undefined) void this.#retire(own)
  }
  /** Ends a thread that is not needed any more, once it has told what it did last. */
  async #retire(thread: Thread): Promise<void> {
    // What it told others last may wait for a way that is only being opened, or for an actor that is between two threads.
    for (let pause = 1; ; pause = Math.min(2 * pause, longestPause)) {
      const parts = await this.#counting.parts()
      if (!this.has(thread) || this.closing) return
      if (!parts.some(({ epoch, unsent, ledger }) => epoch === thread.epoch && (unsent > 0 || ledger.queued > 0))) break
      await new Promise<void>((resolve) => this.#settings.loop.after(pause, resolve))
    }
    this.#ending.add(thread)
    thread.kill('retired')
  }

  // Looking at all threads at once.

  /** Resolves when all that is gone, or about to be, is settled. */
  async #whenSettled(): Promise<void> {
    while (this.#ending.size > 0 || !this.#losses.settled) {
      for (const thread of this.#ending) await thread.gone
      await this.#losses.whenSettled()
    }
  }
  ledger(own?: () => LedgerReport): Promise<LedgerReport> {
    return this.#counting.ledger(own)
  }
  whenQuiet(then: () => void): void {
    void this.#counting.quiet().then((quiet) => (quiet ? then() : this.#settings.loop.after(5, () => this.core.onIdle?.())))
  }
  inspect(own: ActorSnapshot): Promise<ActorSnapshot> {
    return this.#inspections.inspect(own, this.threads)
  }
  /** What threads say of the actors that they host, by number. */
  hosted(): ReturnType<Inspections['hosted']> {
    return this.#inspections.hosted(this.threads)
  }
  get loop(): Loop {
    return this.#settings.loop
  }
  find(path: string): Promise<AnyRef | undefined> {
    return this.#finding.find(path, this.threads)
  }
  vitals(): readonly (Vitals & { readonly thread: number; readonly state: Thread['state'] })[] {
    return Array.from(this.threads, (t) => Object.assign({ thread: t.slot, state: t.state }, t.signs.lastVitals))
  }
  /** Whether nothing is left to be told of threads that were lost. */
  get lossesSettled(): boolean {
    return this.#losses.settled
  }
  /** Whether the main thread said that it sleeps and nobody has rung since. */
  get asleep(): boolean {
    return this.#settings.medium.mainBell.asleep
  }
  /** Ways between two threads and bytes in each that were not read, and what is waited for, in words. */
  get waits(): readonly string[] {
    return [
      ...this.#ways.standing,
      ...this.#losses.waits,
      ...this.#counting.waits,
      ...this.#inspections.waits,
      ...this.#places.waits,
      ...Array.from(this.#ending, (thread) => `thread ${thread.epoch} is to end`),
    ]
  }

  async close(): Promise<void> {
    this.closing = true
    this.#unwatch()
    this.#replacements.close()
    this.#places.changed()
    this.tasks.close()
    let cancel = (): void => {}
    await Promise.race([this.#quiet(), new Promise<void>((resolve) => (cancel = this.#settings.loop.after(lastWords, resolve)))])
    cancel()
    const threads = [...this.threads]
    await Promise.all(threads.map((t) => t.end()))
    // As for threads that are lost: what came out of them is read, and what neither came out nor ended there is unknown. What
    // they sent to each other needs no telling, for they all end.
    for (const thread of threads) {
      this.#forget(thread)
      const { sent, received } = this.exchange.lose(thread.epoch, new ThreadLost(thread.slot, 'terminated', 'the system has ended'))
      this.#losses.begin(thread, sent, received, [])
      this.#losses.gone(thread.epoch)
      this.#finding.gone(thread.epoch)
    }
    this.#over = true
    if (this.core.otherPlaces === this) this.core.otherPlaces = undefined
  }
  /** Lets what is under way arrive, and what threads did last be told. */
  async #quiet(): Promise<void> {
    while (!this.#over && !(await this.#counting.quiet())) await new Promise<void>((resolve) => this.#settings.loop.after(1, resolve))
  }
}
