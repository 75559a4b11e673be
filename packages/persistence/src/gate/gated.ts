// One persistent actor behind its gate: what memory has (`seq`), what the journal has (`durable`), and what may not leave before the
// second has caught up with the first. Whatever a handler sends is held with the number that memory had when the handler was done,
// and goes out, in order, once that number is durable; with nothing in flight, at once. What was never stored never lets anything out.
//
//   handler ─persist─▶ seq ──writer──▶ journal ──stored──▶ durable ─▶ held outputs up to there leave

import type { ActorContext, AnyRef } from '@troupe/core'
import { InvalidOption, NotAllowed, same, stopped, unhandled } from '@troupe/core'
import { can, type Catcher, type Cell, fuse, isThenable, type Meta, PendingAsk, shed, typeOf } from '@troupe/core/internal'
import type { Writing } from '../journal/writer.ts'
import { failedWith, PersistFailed, PersistFenced, PersistUnknown } from '../values/errors.ts'
import type { Head, Outcome, Ownership, Write } from '../values/stored.ts'
import { Effect, hasEffects, stopAfterEffects } from './effect.ts'
import { Flight, Turn } from './flight.ts'
import { refuse } from './held.ts'
import type { Hub } from './hub.ts'
import { checkUnchanged, textOf } from './immutable-check.ts'
import type { OpenedEvent } from './keyring.ts'

/** What an actor may have in flight; beyond it, it takes no further message until the journal has caught up. */
const mostEvents = 1000
const mostBytes = 1_000_000

const nobody: ReadonlySet<string> = new Set()

export abstract class Gated implements Catcher, Writing {
  readonly id: string
  readonly hub: Hub
  readonly cell: Cell
  /** The number of the last event in memory, or the revision. */
  seq = 0
  /** The number of the last one that the journal has. */
  durable = 0
  /** Why memory is not what the journal has; nothing is handled in this state. */
  latched: Error | undefined = undefined
  /** Its incarnation is over: it only finishes what it has under way. */
  ended = false
  /** It was told to stop, and could let out what it held. */
  orderly = false
  /** It is being stopped: effects that wait run before its end, and need its memory. */
  finishing = false
  /** What it has under way; an idle actor has nothing, and no such object. */
  protected flight: Flight | undefined = undefined
  /** The command that runs now. */
  protected turn: Turn | undefined = undefined

  constructor(id: string, hub: Hub, cell: Cell) {
    this.id = id
    this.hub = hub
    this.cell = cell
  }

  /** What its commands see. */
  abstract get state(): unknown
  /** Runs the command that a message is; what it returns is for the style to say. */
  protected abstract perform(ctx: ActorContext<never>, message: unknown): unknown
  /** Notes where memory stands, for `rollBack`. */
  protected abstract mark(turn: Turn): void
  /** Takes memory back to the mark; the number is back already. */
  protected abstract rollBack(turn: Turn): void
  /** The command is done: what it persisted counts. */
  protected abstract settle(turn: Turn): void
  /** What is written next. */
  protected abstract write(owner: Ownership, flight: Flight): Write | undefined
  /** Has the state of another incarnation, which is what the journal has. */
  abstract follow(other: Gated): void
  /** Forgets what was not given to the journal; what is under way is forgotten already. */
  protected forget(): void {}
  /** Begins with what the journal knows of it; returns the number after which events are to be replayed, or undefined where none are. */
  abstract begin(head: Head): Promise<number | undefined>
  /** Goes on with consecutive events. */
  abstract fold(first: number, events: readonly OpenedEvent[]): void
  /** All that there is has been read. */
  abstract complete(head: Head): void

  // What the behavior calls.

  handle(ctx: ActorContext<never>, message: unknown): unknown {
    // Only where supervision lets it go on after a failed write: memory must be what the journal has before anything is handled.
    if (this.latched !== undefined) {
      const recovered = this.hub.recover(this)
      if (message instanceof Effect) recovered.catch(() => message.sendLater(this))
      return recovered.then(() => this.handle(ctx, message))
    }
    if (message instanceof Effect) return message.handle(this, ctx)
    const turn = (this.turn = Turn.begin(ctx, message, this.seq))
    this.flight?.held?.begin()
    this.mark(turn)
    const before = this.hub.immutableCheck ? this.state : undefined
    if (before !== undefined) turn.text = textOf(before)
    const outer = fuse.catch(this)
    let returned: unknown
    try {
      returned = this.perform(ctx, message)
      if (isThenable(returned)) {
        returned.then(undefined, () => undefined)
        throw new NotAllowed(
          `The command of ${this.id} returned a promise. Commands are synchronous, so that nothing can come between them: use ctx.ask, or ctx.after.`,
        )
      }
      if (turn.text !== undefined) checkUnchanged(before, turn.text, `The command ${typeOf(message)}`, this.id)
    } catch (cause) {
      fuse.done(outer)
      const { inPlace } = turn
      this.#discard(turn)
      const dropped = this.flight?.held?.dropPresent() ?? []
      const fail = (why: unknown): never => {
        refuse(dropped, why)
        // Where supervision lets it go on, what the journal has is read again.
        if (inPlace) this.latched ??= new PersistFailed(this.id, 'a command threw that changed the state in place', why)
        throw why
      }
      // What it saw may not be durable, and so may not be told by its failure either.
      return this.durable === this.seq ? fail(cause) : this.barrier().then(() => fail(cause), fail)
    }
    fuse.done(outer)
    this.turn = undefined
    this.settle(turn)
    this.#release()
    const { stops, notUnderstood } = turn
    Turn.end(turn)
    const ready = this.durable === this.seq
    if (stops || returned === stopped) return ready && !hasEffects(this.cell) ? stopped : stopAfterEffects(this, ctx)
    if (notUnderstood || returned === unhandled) return ready ? unhandled : this.barrier().then(() => unhandled)
    const { flight } = this
    if (flight !== undefined && (this.seq - this.durable >= mostEvents || flight.bytes >= mostBytes))
      return this.#until(flight.submitted > this.durable ? flight.submitted : this.seq).then(() => same)
    return same
  }

  /**
   * Does something once all that memory has is durable: at once if it is. Fails if it will not be, as a command does that waits for the journal.
   * So a handler of signals may do what a command may not, such as spawning.
   */
  whenDurable(act: () => unknown): unknown {
    // As a message does where supervision lets the actor continue after a failed write.
    if (this.latched !== undefined) return this.hub.recover(this).then(act)
    return this.durable === this.seq ? act() : this.barrier().then(act)
  }

  /** Lets the handler of a signal run at the end of an incarnation; what it sends is held as long as something is in flight. */
  hear(act: () => unknown): unknown {
    if (this.durable === this.seq && this.latched === undefined) return act()
    this.flight?.held?.begin()
    const outer = fuse.catch(this)
    try {
      return act()
    } finally {
      fuse.done(outer)
      this.#release()
    }
  }

  /** Resolves when all that memory has now is durable; rejects when it will not be. */
  barrier(): Promise<void> {
    return this.#until(this.seq)
  }
  #until(seq: number): Promise<void> {
    if (this.latched !== undefined) return Promise.reject(this.latched)
    if (this.durable >= seq) return Promise.resolve()
    return new Promise((resolve, reject) => {
      ;(this.flying().waiters ??= []).push({ seq, resolve, reject })
    })
  }

  /** Its incarnation ends; `dropped` where nothing of it may leave any more. */
  end(dropped: boolean): void {
    if (this.ended) return
    this.ended = true
    this.finishing = false
    // What it persisted is on its way all the same.
    if (dropped)
      refuse(
        this.flight?.held?.dropAll() ?? [],
        new PersistUnknown(this.id, undefined, 'the actor was killed meanwhile. Whoever has its id next reads it'),
      )
    this.hub.settled(this)
  }

  /** Nothing of it is under way. */
  get idle(): boolean {
    return this.latched !== undefined ? this.submitted <= this.durable : this.durable === this.seq
  }
  /** The last one that was given to the journal. */
  get submitted(): number {
    return this.flight?.submitted ?? this.durable
  }
  /** What it has under way, from now on. */
  protected flying(): Flight {
    return (this.flight ??= new Flight(this.durable))
  }

  // What the writer calls.

  get wanted(): boolean {
    return this.flight?.wanted === true
  }
  set wanted(wanted: boolean) {
    this.flying().wanted = wanted
  }
  get queued(): number {
    return this.seq - this.submitted
  }
  take(owner: Ownership): Write | undefined {
    const flight = this.flying()
    flight.wanted = false
    const write = this.latched === undefined ? this.#written(owner, flight) : undefined
    if (write === undefined) return undefined
    flight.submitted = write.write === 'run' ? write.first + write.events.length - 1 : write.revision
    return write
  }

  /** What is written next. One that cannot be any more, because somebody changed a value since it was set, is this actor's trouble and nobody else's. */
  #written(owner: Ownership, flight: Flight): Write | undefined {
    try {
      const write = this.write(owner, flight)
      if (this.subjects.size > 0) this.hub.subjects.held(this)
      return write
    } catch (cause) {
      this.refused(cause)
      return undefined
    }
  }

  outcome(write: Write, outcome: Outcome): void {
    switch (outcome.is) {
      case 'stored':
        return this.#stored()
      case 'fenced':
        return this.fence(write.scope)
      case 'conflict':
        return this.#fail(new PersistFailed(this.id, 'the journal has something else in its place'))
      case 'failed':
        return this.#fail(failedWith(this.id, 'the journal refused it', outcome.cause))
      case 'unknown':
        // Timers may have been set for all that is known, and nobody else would look for them.
        if (write.timers.length > 0) this.hub.waking.noted(this.now)
        return this.#fail(new PersistUnknown(this.id, outcome.cause))
    }
  }

  /** Something that is to be written cannot be, whatever the journal says. */
  protected refused(cause: unknown): void {
    if (this.latched === undefined) this.#fail(failedWith(this.id, 'it could not be prepared for the journal', cause))
  }
  /** Whose data is in memory. */
  get subjects(): ReadonlySet<string> {
    return nobody
  }
  /** Whether memory has the data of a subject that is known to be erased. */
  get hasErased(): boolean {
    return [...this.subjects].some((subject) => this.hub.keyring.peek(subject) === 'erased')
  }

  #stored(): void {
    const flight = this.flying()
    this.durable = flight.submitted
    this.accounted(flight)
    this.hub.settled(this)
    this.#release()
    flight.wake(this.durable)
    this.rest()
    // Between turns, for it is the journal that calls: what its start needed is of no use by now.
    if (this.cell.extras !== undefined) shed(this.cell)
  }
  /** What was given to the journal last is durable. */
  protected abstract accounted(flight: Flight): void
  /** Lets go of what is needed only while something is under way. */
  protected rest(): void {
    if (this.durable === this.seq && this.latched === undefined && this.flight?.isOver === true) this.flight = undefined
  }

  /** Nothing more of it can become durable: whatever waited for that is dropped, and memory is no longer right. */
  #fail(cause: Error): void {
    const waiters = this.#latch(cause)
    // A handler that waits fails by its own promise; otherwise the actor is told.
    if (!waiters && !this.ended) this.cell.command({ verb: 'fail', cause })
  }

  /** Another one owns what it writes: it stops, and stays stopped. */
  fence(scope: string): void {
    if (this.latched instanceof PersistFenced) return
    const cause = new PersistFenced(this.id, scope)
    // Before its handler hears of it: the stop must be there when supervision decides.
    if (!this.ended) this.cell.command({ verb: 'stop', reason: 'failure', cause })
    this.#latch(cause)
  }

  #latch(cause: Error): boolean {
    this.latched = cause
    const flight = this.flying()
    flight.submitted = this.durable
    flight.forget()
    this.forget()
    refuse(flight.held?.dropAll() ?? [], cause)
    const { waiters } = flight
    flight.waiters = undefined
    for (const { reject } of waiters ?? []) reject(cause)
    this.hub.settled(this)
    return waiters !== undefined
  }

  /** It was recovered in place: memory is what the journal has. */
  protected unlatch(seq: number): void {
    this.latched = undefined
    this.seq = this.durable = seq
    if (this.flight === undefined) return
    this.flight.submitted = seq
    this.flight.bytes = 0
    this.rest()
  }

  // What leaves.

  caught(target: Cell | PendingAsk, message: unknown, meta: Meta): void {
    if (this.turn?.applying === true) this.inCommand('send anything')
    this.flying().holding.add(target, message, meta)
  }
  acted(act: () => void): void {
    this.flying().holding.add(act, undefined, undefined)
  }
  refuse(what: string): never {
    throw new NotAllowed(
      `${this.id} cannot ${what} in a command: it could not be taken back if the write fails. Do it in ctx.after(…), which runs once all is durable.`,
    )
  }

  /** Stamps what the command sent, and lets go of what is durable. */
  #release(): void {
    const { flight } = this
    if (flight?.held?.release(this.seq, this.durable, this.cell) !== true) return
    flight.held = undefined
    if (this.durable === this.seq) this.rest()
  }

  /** The command threw: what it persisted is as if it had not been. */
  #discard(turn: Turn): void {
    this.turn = undefined
    this.seq = turn.seq
    this.rollBack(turn)
    Turn.end(turn)
  }

  // What a command may do.

  get now(): number {
    return this.hub.now()
  }
  tell(to: AnyRef, message: unknown): void {
    this.inCommand('tell')
    if (!can(to, 'tell'))
      throw new InvalidOption('to', to, `${this.id} tells refs: what a timer or a delivery brings has one only where it is part of the message`)
    // Through the fuse where it is an actor of ours; whatever else speaks `tell` is held as well.
    const before = this.flight?.held?.size ?? 0
    if ('cell' in to || to instanceof PendingAsk) to.tell(message as never)
    if ((this.flight?.held?.size ?? 0) === before) this.acted(() => to.tell(message as never))
  }
  ask(ref: AnyRef, question: never, toMessage: (result: unknown) => unknown, options?: never): void {
    const { ctx } = this.inCommand('ask')
    const asked = (ctx.ask as unknown as (ref: AnyRef, question: unknown, options: unknown) => Promise<unknown>)(ref, question, options)
    ctx.pipeToSelf(
      asked,
      (answer) => toMessage({ ok: true, answer }) as never,
      (cause) => toMessage({ ok: false, cause }) as never,
    )
  }
  after(effect: (ctx: ActorContext<never>) => void): void {
    this.inCommand('use after')
    const leaving = new Effect(this, effect)
    this.acted(() => leaving.send())
  }
  stash(): void {
    const { ctx, message } = this.inCommand('stash')
    ctx.stash.add(message as never)
  }
  unstashAll(): void {
    this.inCommand('unstash').ctx.stash.unstashAll()
  }
  stop(): void {
    this.inCommand('stop').stops = true
  }
  unhandled(): void {
    this.inCommand('say that it does not understand').notUnderstood = true
  }
  /** The command that runs; refuses what is possible in one only. */
  protected inCommand(what: string): Turn {
    const { turn } = this
    if (turn === undefined || fuse.catcher !== this)
      throw new NotAllowed(`${this.id} cannot ${what} here: only while a command runs. Nothing of a command goes on after it.`)
    // What an event makes of a state must not depend on when it is applied; an event within one would come before it.
    if (turn.applying) throw new NotAllowed(`${this.id} cannot ${what} while an event is applied: event handlers are pure. Do it in the command.`)
    return turn
  }
}
