// What one system has of persistence: its journal, opened and fenced once; the one writer and the one reader of it; and who has
// which id. Ends with the system: what is under way is finished, then the journal is let go.

import type { AnyRef, SystemView } from '@troupe/core'
import { type Cell, cellOf, coreOf, type Envelope, explainStart, type LocalRef, takeAsks } from '@troupe/core/internal'
import type { Journal, JournalEnvironment, JournalSource } from '../journal/port.ts'
import { Tally } from '../journal/tally.ts'
import { Writer, type WriterHost } from '../journal/writer.ts'
import { FenceLost, IdInUse, JournalUnavailable, PersistFenced, RecoveryFailed } from '../values/errors.ts'
import { type DueTimer, kindOf } from '../values/stored.ts'
import type { JournalSurvey } from '../values/survey.ts'
import { type Acked, Delivered } from './delivery.ts'
import type { Gated } from './gated.ts'
import { HeldEvents } from './held-events.ts'
import type { HubOptions } from './hub-options.ts'
import { keyIn } from './ids.ts'
import { Keyring } from './keyring.ts'
import { ours } from './own-envelope.ts'
import { pack, unpack } from './packing.ts'
import { refuseWhileAway } from './patience.ts'
import { isPermanent, isWanted, Recovery, type RecoveryHost } from './recovery.ts'
import { Redelivery } from './redelivery.ts'
import { type Standing, surveyOf } from './standing.ts'
import { Subjects } from './subjects.ts'
import { Fired, mailKey } from './timers.ts'
import { Waking, type WakingHost } from './waking.ts'

interface Opened {
  readonly journal: Journal
  epoch: number
}

/** Writes for a part of a journal, in one epoch. */
interface Tenant {
  readonly hub: Hub
  /** Raises the fence; rejects where there is a later owner. */
  raise(): Promise<void>
  close(): void
}

/** Who writes for an actor that does not write as its system does. */
const assigned = new WeakMap<Cell, Hub | undefined>()

export class Hub implements WriterHost, RecoveryHost, WakingHost {
  readonly environment: JournalEnvironment
  readonly scope: string
  readonly name: string
  readonly whenAway: 'reject' | 'wait'
  readonly timeout: number
  readonly permits: number
  /** Where an actor is. */
  readonly find: HubOptions['find']
  /** Milliseconds until what was not acknowledged is sent again. */
  readonly redeliverEvery: number
  /** Whether commands that change a state in place are refused. */
  readonly immutableCheck: boolean
  readonly maxEventBytes: number
  readonly writer: Writer
  readonly keyring: Keyring
  readonly subjects: Subjects
  readonly waking: Waking
  readonly redelivery: Redelivery
  readonly heldEvents: HeldEvents
  readonly tally: Tally
  closing = false
  readonly #source: JournalSource
  readonly #core: ReturnType<typeof coreOf>
  readonly #system: SystemView
  readonly #recovery: Recovery
  /** Who has an id, or still finishes something of it. */
  readonly #actors = new Map<string, Gated>()
  readonly #settling = new Map<string, (() => void)[]>()
  readonly #tenancy: HubOptions['tenancy']
  /** Those that own parts of the journal for themselves. */
  readonly #tenants = new Set<Hub>()
  #opened: Opened | undefined
  #opening: Promise<Opened> | undefined
  #lost: FenceLost | undefined
  /** Why it could not be opened. */
  #closedBy: unknown
  readonly #whyClosed: () => unknown
  /** Ends the pause before it is opened again. */
  #hurry: (() => void) | undefined

  constructor(system: SystemView, options: HubOptions) {
    this.#system = system
    this.#core = coreOf(system as never)
    this.#source = options.journal
    this.name = options.journal.name
    this.scope = options.scope
    this.whenAway = options.whenAway
    this.timeout = options.timeout
    this.permits = options.permits
    this.find = options.find
    this.redeliverEvery = options.redeliverEvery
    this.immutableCheck = options.immutableCheck ?? this.#core.runtime.choices !== undefined
    this.maxEventBytes = options.maxEventBytes
    this.environment = {
      now: () => this.now(),
      random: () => this.#core.runtime.random(),
      after: (ms, task) => this.after(ms, task),
      logger: this.#core.logger,
    }
    this.tally = options.tenancy?.of.tally ?? new Tally()
    this.writer = new Writer(this)
    this.redelivery = new Redelivery(this)
    this.heldEvents = options.tenancy?.of.heldEvents ?? new HeldEvents(this)
    this.#recovery = new Recovery(this)
    this.#tenancy = options.tenancy
    this.#whyClosed = options.tenancy === undefined ? () => this.#closedBy : options.tenancy.of.#whyClosed
    this.keyring = options.tenancy?.of.keyring ?? new Keyring(this)
    this.subjects = options.tenancy?.of.subjects ?? new Subjects(this)
    this.waking = options.tenancy?.of.waking ?? new Waking(this)
    // At once: whoever starts first should not wait for it. Who needs it hears if it fails.
    if (options.tenancy === undefined) this.ready().catch(() => undefined)
  }

  now(): number {
    const { runtime } = this.#core
    return runtime.id === 'host' ? Date.now() : runtime.now()
  }
  ticks(): number {
    return this.#core.runtime.now()
  }
  after(ms: number, task: () => void): () => void {
    // Where the system ends first, whoever waits goes on and sees that.
    return this.#system.clock.after(ms, task, task)
  }
  breathe(): Promise<void> {
    return new Promise((resolve) => this.#core.runtime.yield(resolve))
  }

  ready(): Promise<Opened> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    if (this.#opened !== undefined) return Promise.resolve(this.#opened)
    const opening = (this.#opening ??= this.#open().finally(() => (this.#opening = undefined)))
    return opening
  }

  async #open(): Promise<Opened> {
    if (this.#tenancy !== undefined) return this.#rent(this.#tenancy)
    for (let tries = 0; ; tries++) {
      let journal: Journal | undefined
      try {
        journal = await this.#source.open(this.environment)
        const opened = await this.#own(journal).finally(this.#tellIfSlow())
        this.#opened = opened
        this.#closedBy = undefined
        this.tally.heard(undefined)
        if (this.closing) await journal.close()
        // Timers that became due while nobody was there.
        this.waking.noted(this.now())
        return opened
      } catch (cause) {
        await journal?.close()
        this.#closedBy = cause
        this.tally.heard(cause)
        if (this.whenAway === 'reject' || isPermanent(cause) || this.closing) throw cause
        if (tries === 0) this.environment.logger.warn({ journal: this.name, cause }, 'the journal cannot be opened yet')
        await new Promise<void>((resolve) => void this.after(Math.min(10_000, 100 * 2 ** Math.min(tries, 10)), (this.#hurry = resolve)))
      }
    }
  }

  /** Another process that was stopped while it wrote has the lock of a store that is shared, and everybody waits for it. */
  #tellIfSlow(): () => void {
    return this.after(10_000, () => {
      if (!this.closing) this.environment.logger.warn({ journal: this.name }, 'the journal is not ours after 10 s; does another process hold it?')
    })
  }
  /** In the epoch that it was given: who owns what is decided elsewhere. */
  async #rent({ of, epoch }: NonNullable<HubOptions['tenancy']>): Promise<Opened> {
    const journal = await of.journal()
    await journal.raise(this.scope, epoch)
    return (this.#opened = { journal, epoch })
  }

  // What those who decide who owns which part of the journal ask for.

  /** The journal, whoever owns what of it. */
  async journal(): Promise<Journal> {
    return (this.#opened ?? (await this.ready())).journal
  }
  async identity(): Promise<string> {
    return (await this.journal()).identity
  }
  async epochOf(scope: string): Promise<number> {
    return (await this.journal()).epoch(scope)
  }
  /** A writer for a part of the journal, in an epoch. `onLost` is told once when the part has a later owner. */
  tenant(scope: string, epoch: number, onLost: () => void): Tenant {
    const { whenAway, timeout, permits, find, redeliverEvery, immutableCheck, maxEventBytes } = this
    const hub = new Hub(this.#system, {
      journal: this.#source,
      scope,
      whenAway,
      timeout,
      permits,
      find,
      redeliverEvery,
      immutableCheck,
      maxEventBytes,
      tenancy: { of: this, epoch, onLost },
    })
    this.#tenants.add(hub)
    return {
      hub,
      raise: async () => void (await hub.ready()),
      close: () => {
        this.#tenants.delete(hub)
        void hub.close()
      },
    }
  }
  /** The actor of a cell, and those below it, write as this tenant; undefined: they must not write at all. */
  assign(cell: Cell, tenant: Tenant | undefined): void {
    assigned.set(cell, tenant?.hub)
  }
  /** What an actor has for one that may be on another machine, as plain data; undefined for what is no word of persistence. */
  pack(message: unknown): unknown {
    return pack(message)
  }
  /** What `pack` made, and what goes with it; `current` says what a message is now that was delivered. */
  unpack(packed: unknown, current: (message: unknown) => unknown): { readonly message: unknown; readonly meta: Envelope } | undefined {
    const message = unpack(packed, current)
    return message === undefined ? undefined : { message, meta: ours }
  }
  /** Who writes for the actor of a cell; undefined where it must not. */
  writerFor(cell: Cell): Hub | undefined {
    for (let ref: LocalRef | undefined = cell.ref; ref !== undefined; ref = ref.parent) if (assigned.has(ref.cell)) return assigned.get(ref.cell)
    return this
  }

  /** Becomes the owner, before anything is read; another one may be about to, so that it may take a few tries. */
  async #own(journal: Journal): Promise<Opened> {
    for (let tries = 0; ; tries++) {
      const epoch = (await journal.epoch(this.scope)) + 1
      try {
        await journal.raise(this.scope, epoch)
        return { journal, epoch }
      } catch (cause) {
        if (!(cause instanceof FenceLost) || tries === 10) throw cause
      }
    }
  }

  /** The journal, once nothing can arrive in it any more that was written before. */
  async readable(): Promise<Journal> {
    const { journal } = await this.ready()
    while (this.writer.raising !== undefined) await this.writer.raising
    if (this.#lost !== undefined) throw this.#lost
    if (this.closing) throw new JournalUnavailable(this.name, 'the system has ended')
    return journal
  }
  /** The journal and what is to be written with it beside events. */
  async owned(): Promise<Opened> {
    await this.readable()
    return this.#opened!
  }

  lost(): void {
    if (this.#lost !== undefined) return
    this.#lost = new FenceLost(this.scope, this.#opened?.epoch ?? 0, (this.#opened?.epoch ?? 0) + 1)
    this.environment.logger.error({ journal: this.name, scope: this.scope }, 'another system has taken over the journal; all persistent actors stop')
    this.#tenancy?.onLost()
    for (const actor of this.#actors.values()) actor.fence(this.scope)
  }

  /** Gives an actor its id, once nothing of an earlier one is under way, and brings it to where that stood. */
  async recover(actor: Gated): Promise<void> {
    const { id } = actor
    for (;;) {
      const present = this.#actors.get(id)
      if (present === undefined || (present === actor && !this.writer.isWriting(id))) break
      if (present !== actor && !present.ended && present.cell.end === undefined && present.cell !== actor.cell)
        throw new IdInUse(id, present.cell.ref.path)
      if (present !== actor && this.#isFree(present)) break
      await new Promise<void>((resolve) => {
        const waiting = this.#settling.get(id) ?? []
        waiting.push(resolve)
        this.#settling.set(id, waiting)
      })
    }
    this.#actors.set(id, actor)
    explainStart(actor.cell, this.#whyClosed)
    try {
      await this.#recovery.recover(actor)
      // Again where somebody was erased meanwhile whose data was read before.
      for (let tries = 0; actor.hasErased && tries < 10; tries++) await this.#recovery.recover(actor)
      if (!isWanted(actor)) throw new RecoveryFailed(id, undefined, 'the actor was stopped meanwhile')
      if (this.#lost !== undefined) throw new PersistFenced(id, this.scope)
      if (actor.subjects.size > 0) this.subjects.held(actor)
      this.tally.recovered++
      takeAsks(actor.cell)
    } catch (cause) {
      this.tally.unrecovered++
      if (this.#actors.get(id) === actor) this.#actors.delete(id)
      this.settled(actor)
      refuseWhileAway(actor.cell, this.whenAway, cause)
      throw cause
    }
  }
  #isFree(actor: Gated): boolean {
    return actor.idle && !this.writer.isWriting(actor.id)
  }

  /** Something of an actor came to an end: its incarnation, or a write. */
  settled({ id }: Gated): void {
    const present = this.#actors.get(id)
    if (present !== undefined && present.ended && this.#isFree(present)) this.#actors.delete(id)
    const waiting = this.#settling.get(id)
    if (waiting === undefined) return
    this.#settling.delete(id)
    for (const wake of waiting) wake()
  }

  /** Does something that needs the journal; where that is waited for, again and again until it is back. */
  async whenBack<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++)
      try {
        return await work()
      } catch (cause) {
        if (this.whenAway === 'reject' || this.closing || !(cause instanceof JournalUnavailable)) throw cause
        await new Promise<void>((resolve) => void this.after(Math.min(10_000, 100 * 2 ** Math.min(tries, 10)), resolve))
      }
  }

  /** The system takes no more messages: what is ours is in the journal, and is told again by whoever opens it next. */
  get #ends(): boolean {
    const { phase, draining } = this.#core
    return phase !== 'open' && !draining
  }
  /** Tells the actor of an id something of ours, wherever it is; one that sleeps is woken by that, where `find` knows how. */
  #tell(id: string, message: object): void {
    if (this.#ends) return
    try {
      this.find?.(kindOf(id), keyIn(id))?.tell(message as never, ours)
    } catch (cause) {
      this.environment.logger.warn({ id, cause }, 'where an actor is could not be found; it is tried again')
    }
  }
  /** Sends what one actor has for another, where that can be found. */
  send(from: Gated, to: string, n: number, message: unknown): void {
    this.#tell(to, new Delivered(keyIn(to), from.id, n, message, from.cell.ref))
  }
  /** Tells a sender that what it sent has had its effect; where it has gone to sleep meanwhile, whoever is it now. */
  acknowledge(to: string, sender: AnyRef | undefined, acked: Acked): void {
    if (sender !== undefined && cellOf(sender)?.end === undefined) sender.tell(acked as never, ours)
    else this.#tell(to, acked)
  }
  ring({ id, key, due }: DueTimer): void {
    if (this.#ends) return
    const actor = this.#actors.get(id) ?? [...this.#tenants].map((tenant) => tenant.#actors.get(id)).find((one) => one !== undefined)
    if (actor === undefined || actor.ended || actor.cell.end !== undefined) this.#tell(id, new Fired(keyIn(id), key, due))
    // One that lives sends its mail again by itself.
    else if (key !== mailKey) actor.cell.send(new Fired(keyIn(id), key, due), ours)
  }
  erased(subject: string): void {
    this.subjects.erased(subject)
  }

  /** What is seen from outside, at once and without asking the store: what this hub has, and what its tenants have. */
  survey(): readonly JournalSurvey[] {
    return [
      surveyOf(
        this.#source,
        this.#standing,
        [...this.#tenants].map((tenant) => tenant.#standing),
        this.tally,
        this.heldEvents.survey,
      ),
    ]
  }
  get #standing(): Standing {
    const { scope, whenAway, permits, closing, writer } = this
    const { epoch, journal } = this.#opened ?? {}
    const phase = closing ? 'closed' : this.#lost !== undefined ? 'lost' : epoch === undefined ? 'opening' : writer.raising ? 'raising' : 'open'
    const actors = this.#actors.size
    const [mostWrites, warning, heldBack] = [journal?.limits.writes, journal?.warning, journal?.heldBack]
    return { scope, whenAway, permits, epoch, phase, actors, mostWrites, warning, heldBack, ...writer.standing, ...this.#recovery.standing }
  }

  async close(): Promise<void> {
    this.closing = true
    this.#hurry?.()
    this.writer.hurry()
    this.redelivery.end()
    if (this.#tenancy === undefined) {
      this.waking.end()
      this.heldEvents.end()
    }
    await this.writer.idle()
    if (this.#tenancy !== undefined) return
    const opened = this.#opened ?? (await this.#opening?.catch(() => undefined))
    await opened?.journal.close()
  }
}
