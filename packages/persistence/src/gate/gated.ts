// One persistent actor behind its gate: what memory has (`seq`), what the journal has (`durable`), and what may not leave before the
// second has caught up with the first. Whatever a handler sends is held with the number that memory had when the handler was done,
// and goes out, in order, once that number is durable; with nothing in flight, at once. What was never stored never lets anything out.
//
//   handler ─persist─▶ seq ──writer──▶ journal ──stored──▶ durable ─▶ held outputs up to there leave

import type { ActorContext, AnyRef } from '@troupe/core'
import { InvalidOption, NotAllowed, same, stopped, unhandled } from '@troupe/core'
import { can, type Catcher, type Cell, Envelope, fuse, isThenable, type Meta, PendingAsk } from '@troupe/core/internal'
import type { Writing } from '../journal/writer.ts'
import { PersistFailed, PersistFenced, PersistUnknown } from '../values/errors.ts'
import type { Head, Outcome, Ownership, Write } from '../values/stored.ts'
import { Held, type Leaving, refuse } from './held.ts'
import type { Hub } from './hub.ts'
import type { OpenedEvent } from './keyring.ts'

/** What an actor may have in flight; beyond it, it takes no further message until the journal has caught up. */
const mostEvents = 1000
const mostBytes = 1_000_000

/** Somebody waits until a number is durable. */
interface Waiter {
  readonly seq: number
  readonly resolve: () => void
  readonly reject: (cause: Error) => void
}

/** What an actor is told once something of it is durable, and does in its own turn. */
class Effect {
  readonly run: (ctx: ActorContext<never>) => void
  constructor(run: (ctx: ActorContext<never>) => void) {
    this.run = run
  }
}

class Own extends Envelope {
  override get own(): boolean {
    return true
  }
}
/** With what is ours, and no message of the actor's protocol: no schema is asked about it. */
export const ours: Envelope = new Own()

export abstract class Gated implements Catcher, Writing {
  readonly id: string
  readonly hub: Hub
  readonly cell: Cell
  /** The number of the last event in memory, or the revision. */
  seq = 0
  /** The number of the last one that the journal has. */
  durable = 0
  /** The last one that was given to the journal. */
  protected submitted = 0
  protected bytes = 0
  /** Whether the writer has it in its list. */
  wanted = false
  /** Why memory is not what the journal has; nothing is handled in this state. */
  latched: Error | undefined
  /** Its incarnation is over: it only finishes what it has under way. */
  ended = false
  /** What an event makes of a state is being found out: nothing may leave by that, which happens again at every recovery. */
  protected applying = false
  /** The context of the incarnation, and the message that is being handled. */
  protected ctx: ActorContext<never> | undefined
  protected message: unknown
  #held: Held | undefined
  #waiters: Waiter[] | undefined
  #stops = false
  #notUnderstood = false

  constructor(id: string, hub: Hub, cell: Cell) {
    this.id = id
    this.hub = hub
    this.cell = cell
  }

  /** Runs the command that a message is; what it returns is for the style to say. */
  protected abstract perform(ctx: ActorContext<never>, message: unknown): unknown
  /** Notes where memory stands, for `rollBack`. */
  protected abstract mark(): void
  /** Takes memory back to the mark. */
  protected abstract rollBack(): void
  /** The command is done: what it persisted counts. */
  protected abstract settle(): void
  /** What is written next. */
  protected abstract write(owner: Ownership): { readonly write: Write; readonly bytes: number } | undefined
  /** Forgets what was not given to the journal. */
  protected abstract forget(): void
  /** Begins with what the journal knows of it; returns the number after which events are to be replayed, or undefined where none are. */
  abstract begin(head: Head): Promise<number | undefined>
  /** Goes on with consecutive events. */
  abstract fold(first: number, events: readonly OpenedEvent[]): void
  /** All that there is has been read. */
  abstract complete(head: Head): void

  // What the behavior calls.

  handle(ctx: ActorContext<never>, message: unknown): unknown {
    if (message instanceof Effect) return message.run(ctx)
    // Only where supervision lets it go on after a failed write: memory must be what the journal has before anything is handled.
    if (this.latched !== undefined) return this.hub.recover(this).then(() => this.handle(ctx, message))
    this.ctx = ctx
    this.message = message
    this.#held?.begin()
    this.mark()
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
    } catch (cause) {
      fuse.done(outer)
      const dropped = this.#discard()
      const fail = (why: unknown): never => {
        refuse(dropped, why)
        throw why
      }
      // What it saw may not be durable, and so may not be told by its failure either.
      return this.durable === this.seq ? fail(cause) : this.barrier().then(() => fail(cause), fail)
    }
    fuse.done(outer)
    this.message = undefined
    this.settle()
    this.#release()
    return this.#next(returned)
  }

  #next(returned: unknown): unknown {
    const quiet = this.durable === this.seq
    if (this.#stops) {
      this.#stops = false
      return quiet ? stopped : this.barrier().then(() => stopped)
    }
    if (this.#notUnderstood || returned === unhandled) {
      this.#notUnderstood = false
      return quiet ? unhandled : this.barrier().then(() => unhandled)
    }
    if (this.seq - this.durable >= mostEvents || this.bytes >= mostBytes)
      return this.#until(this.submitted > this.durable ? this.submitted : this.seq).then(() => same)
    return same
  }

  /** Lets a signal's handler run; what it sends is held as long as something is in flight. */
  hear(act: () => unknown): unknown {
    if (this.durable === this.seq && this.latched === undefined) return act()
    this.#held?.begin()
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
      ;(this.#waiters ??= []).push({ seq, resolve, reject })
    })
  }

  /** Its incarnation ends; `dropped` where nothing of it may leave any more. */
  end(dropped: boolean): void {
    if (this.ended) return
    this.ended = true
    if (dropped) refuse(this.#held?.dropAll() ?? [], new PersistFailed(this.id, 'the actor was killed'))
    this.hub.settled(this)
  }

  /** Nothing of it is under way. */
  get idle(): boolean {
    return this.latched !== undefined ? this.submitted <= this.durable : this.durable === this.seq
  }

  // What the writer calls.

  take(owner: Ownership): Write | undefined {
    this.wanted = false
    const next = this.latched === undefined ? this.write(owner) : undefined
    if (next === undefined) return undefined
    this.submitted = next.write.write === 'run' ? next.write.first + next.write.events.length - 1 : next.write.revision
    return next.write
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
        return this.#fail(new PersistFailed(this.id, 'the journal refused it', outcome.cause))
      case 'unknown':
        // Timers may have been set for all that is known, and nobody else would look for them.
        if (write.timers.length > 0) this.hub.waking.noted(this.now)
        return this.#fail(new PersistUnknown(this.id, outcome.cause))
    }
  }

  /** Something that is to be written cannot be, whatever the journal says. */
  protected refused(cause: unknown): void {
    if (this.latched === undefined) this.#fail(new PersistFailed(this.id, 'it could not be prepared for the journal', cause))
  }
  /** Whether the data of a subject is in memory. */
  holds(_subject: string): boolean {
    return false
  }

  #stored(): void {
    this.durable = this.submitted
    this.accounted()
    this.hub.settled(this)
    this.#release()
    if (this.#waiters !== undefined) {
      const due = this.#waiters.filter(({ seq }) => seq <= this.durable)
      this.#waiters = this.#waiters.filter(({ seq }) => seq > this.durable)
      for (const { resolve } of due) resolve()
    }
  }
  /** What was given to the journal last is durable. */
  protected abstract accounted(): void

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
    this.submitted = this.durable
    this.forget()
    refuse(this.#held?.dropAll() ?? [], cause)
    const waiters = this.#waiters
    this.#waiters = undefined
    for (const { reject } of waiters ?? []) reject(cause)
    this.hub.settled(this)
    return waiters !== undefined && waiters.length > 0
  }

  /** It was recovered in place: memory is what the journal has. */
  protected unlatch(seq: number): void {
    this.latched = undefined
    this.seq = this.durable = this.submitted = seq
    this.bytes = 0
  }

  // What leaves.

  caught(target: Cell | PendingAsk, message: unknown, meta: Meta): void {
    if (this.applying) this.inCommand('send anything')
    ;(this.#held ??= new Held()).add(target, message, meta)
  }
  acted(act: () => void): void {
    ;(this.#held ??= new Held()).add(act, undefined, undefined)
  }
  refuse(what: string): never {
    throw new NotAllowed(
      `${this.id} cannot ${what} in a command: it could not be taken back if the write fails. Do it in ctx.after(…), which runs once all is durable.`,
    )
  }

  /** Stamps what the command sent, and lets go of what is durable. */
  #release(): void {
    if (this.#held?.release(this.seq, this.durable, this.cell) === true) this.#held = undefined
  }

  /** The command threw: what it persisted and sent is as if it had not been. */
  #discard(): readonly Leaving[] {
    this.rollBack()
    this.#stops = this.#notUnderstood = false
    this.message = undefined
    return this.#held?.dropPresent() ?? []
  }

  // What a command may do.

  get now(): number {
    return this.hub.now()
  }
  tell(to: AnyRef, message: unknown): void {
    this.#within('tell')
    if (!can(to, 'tell'))
      throw new InvalidOption('to', to, `${this.id} tells refs: what a timer or a delivery brings has one only where it is part of the message`)
    // Through the fuse where it is an actor of ours; whatever else speaks `tell` is held as well.
    const before = this.#held?.size ?? 0
    if ('cell' in to || to instanceof PendingAsk) to.tell(message as never)
    if ((this.#held?.size ?? 0) === before) this.acted(() => to.tell(message as never))
  }
  ask(ref: AnyRef, question: never, toMessage: (result: unknown) => unknown, options?: never): void {
    this.#within('ask')
    const ctx = this.ctx!
    const asked = (ctx.ask as unknown as (ref: AnyRef, question: unknown, options: unknown) => Promise<unknown>)(ref, question, options)
    ctx.pipeToSelf(
      asked,
      (answer) => toMessage({ ok: true, answer }) as never,
      (cause) => toMessage({ ok: false, cause }) as never,
    )
  }
  after(effect: (ctx: ActorContext<never>) => void): void {
    this.#within('use after')
    const { cell } = this
    this.acted(() => cell.send(new Effect(effect), ours))
  }
  stash(): void {
    this.#within('stash')
    this.ctx!.stash.add(this.message as never)
  }
  unstashAll(): void {
    this.#within('unstash')
    this.ctx!.stash.unstashAll()
  }
  stop(): void {
    this.#within('stop')
    this.#stops = true
  }
  unhandled(): void {
    this.#within('say that it does not understand')
    this.#notUnderstood = true
  }
  #within(what: string): void {
    this.inCommand(what)
  }
  /** Refuses what is possible while a command runs only. */
  protected inCommand(what: string): void {
    if (this.message === undefined || fuse.catcher !== this)
      throw new NotAllowed(`${this.id} cannot ${what} here: only while a command runs. Nothing of a command goes on after it.`)
    // What an event makes of a state must not depend on when it is applied; an event within one would come before it.
    if (this.applying) throw new NotAllowed(`${this.id} cannot ${what} while an event is applied: event handlers are pure. Do it in the command.`)
  }
}
