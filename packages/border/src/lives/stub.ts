// What stands beside the parent for an actor that runs on another thread: an ordinary cell of the tree, so that names,
// watches, supervision, mailbox policies and the ledger need not know of threads. Its behavior is to carry each step of
// its life over to the actor, and to wait until that has taken it.

import { type MailboxKind, receive, type Signal, unbounded } from '@troupe/core'
import {
  type BehaviorNode,
  Cell,
  openMailbox,
  type CellOptions,
  type Dispatcher,
  endingOf,
  fail,
  infoIn,
  type LocalRef,
  MessageRing,
  type Meta,
} from '@troupe/core/internal'
import type { Control, SpawnOrder, Verb } from '../way/control.ts'
import { type Origin, originOf } from './define-actor.ts'
import { Definition } from '../values/definition.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { Link, widest } from '../way/link.ts'
import type { PlacementRequest } from '../values/placement.ts'
import { snapshot } from '../values/snapshot.ts'
import { WireQueue } from '../way/wire-queue.ts'

/** What the actor's thread must know to make it. */
export interface Plan {
  readonly origin: Origin
  /** Options that were given at spawn and matter there. */
  readonly options: Readonly<Record<string, unknown>>
  readonly placement: PlacementRequest
}

interface Waiter {
  /** What is waited for: that it is up, that its incarnation has ended, or that it has. Its end and that of its thread answer all three. */
  readonly until: 'up' | 'held' | 'gone'
  resolve(): void
  reject(cause: unknown): void
}

/** Longer than any actor is given to stop: the actor's own thread keeps the time, and the watchdog keeps the thread's. */
const patience = 2 ** 40

/**
 * How many messages may be under way. They have left the mailbox, so that a bound is exceeded by at most an eighth, and
 * an order that is not of arrival is kept only among those that have not.
 */
function windowOf({ kind, capacity }: MailboxKind): number {
  if (capacity !== undefined) return Math.max(1, Math.min(widest, capacity >> 3))
  return kind === 'unbounded' ? widest : 1
}

/** What stands beside its parent for an actor that lives elsewhere: its life is decided here, its messages go there. */
export class StubCell extends Cell {
  readonly exchange: Exchange
  readonly wire: WireQueue
  readonly plan: Plan
  /** The thread it runs on; undefined before, between, and after. */
  at: number | undefined = undefined
  /** Threads that asked where it is, to be told when that is known. */
  readonly locators: Set<number> = new Set()
  /** What the actor over there is known to be. */
  #there: 'nothing' | 'starting' | 'up' | 'suspended' | 'failed' | 'held' = 'nothing'
  #waiter: Waiter | undefined
  #hurried = false
  /** It was told to suspend, and not to resume since: told while it was failing, it does so only once it is back. */
  #toldToSuspend = false
  #bad: { readonly cause: unknown; readonly message: unknown } | undefined
  readonly #window: number

  constructor(ref: LocalRef, dispatcher: Dispatcher, options: CellOptions, plan: Plan, exchange: Exchange) {
    const { mailbox } = options
    const kind = mailbox ?? unbounded()
    const own = {
      ...options,
      plain: true,
      reentrant: false,
      accepts: undefined,
      middleware: [],
      ownMiddleware: [],
      passages: false,
      metrics: undefined,
      // Where it stands is not where it may hang.
      hangAfter: undefined,
      mailbox: kind,
      // Above that, it is one that takes as long as it needs, which those above it look at.
      stopTimeout: Math.max(patience, options.stopTimeout),
      startTimeout: options.startTimeout + patience,
    }
    super(
      ref,
      dispatcher,
      own,
      receive(
        () => {},
        (_ctx, signal) => this.#step(signal),
      ) as unknown as BehaviorNode,
    )
    this.exchange = exchange
    this.plan = plan
    this.#window = windowOf(kind)
    this.wire = new WireQueue(this, mailbox === undefined ? new MessageRing() : openMailbox(kind, this), exchange)
    this.queue = this.wire
    exchange.residents.stand(this)
  }

  /** What makes the actor for its next incarnation, where that is to be made anew. */
  #remake: (() => unknown) | undefined
  override remake(make: () => unknown): void {
    this.#remake = make
  }
  /** Where its code is, and the arguments of the incarnation that begins. */
  #origin(): Origin {
    const made = this.#remake?.()
    const origin = made === undefined ? undefined : originOf(made, [])?.origin
    if (origin === undefined) return this.plan.origin
    return { ...origin, args: snapshot(origin.args, `An argument of ${origin.name}`, ['args']) as readonly unknown[] }
  }

  override put(message: unknown, meta: Meta): void {
    this.wire.push(message, meta)
  }

  /** It takes no messages in its turns: those that wait go when there is credit and room, and a turn would bring neither. */
  override canHandle(): boolean {
    return false
  }

  override turn(quota: number): void {
    super.turn(quota)
    const bad = this.#bad
    if (bad === undefined) return this.#follow()
    // Told of a failure before it knew that the actor was up: first things first.
    if (this.phase !== 'running' && this.phase !== 'suspended') return
    this.#bad = undefined
    fail(this, bad.cause, bad.message)
    // Resumed at once: then the actor must hear of it.
    this.#follow()
  }

  /** Carries over what happened to this cell without a signal: suspended, resumed. */
  #follow(): void {
    if (this.phase === 'stopping' && this.#there === 'starting' && this.#waiter !== undefined && !this.#hurried) {
      // The start goes on over there and would be waited for: it is asked to end as well.
      this.#hurried = true
      this.#tellStop()
    } else if (this.phase === 'suspended' && this.#there === 'up') {
      this.#there = 'suspended'
      this.#toldToSuspend = true
      this.#tellVerb({ verb: 'suspend', reason: infoIn(this, 'suspended')!.reason })
    } else if (this.phase === 'running') {
      if (this.#there === 'suspended' || this.#there === 'failed') {
        this.#there = 'up'
        this.#tellResume()
      } else if (this.#there === 'nothing') {
        // Told to go on after its thread was lost: there is nothing to go on with, so it begins anew.
        this.command({ verb: 'restart', cause: undefined, delay: 0 })
        return
      }
      if (this.wire.size > 0) this.wire.pump()
    }
  }

  /** What the actor is known to be over there, whether a step of its life is waited for, and whether it has failed and nobody has looked. */
  get there(): string {
    return `${this.#there}${this.#waiter === undefined ? '' : ', waited for'}${this.#bad === undefined ? '' : ', failed unseen'}`
  }

  #tell(content: Control): void {
    if (this.at !== undefined) this.exchange.crossingTo(this.at)?.control(content)
  }
  #tellVerb(command: Verb): void {
    this.#tell({ op: 'verb', uid: this.ref.uid, command })
  }

  #tellResume(): void {
    this.#toldToSuspend = false
    this.#tellVerb({ verb: 'resume' })
  }

  #step(signal: Signal): Promise<void> | undefined {
    switch (signal.type) {
      case 'PreStart':
        return this.#start()
      case 'PreRestart':
        if (this.#there === 'nothing') return undefined
        this.#tell({ op: 'hosted.restart', uid: this.ref.uid, cause: signal.cause, within: this.#timeLeft() })
        return this.#wait('held')
      case 'PreStop':
        if (this.#there === 'nothing') return undefined
        this.#tellStop()
        return this.#wait('gone')
      case 'PostStop':
        // Killed: nobody waited for it so far.
        if (this.phase !== 'stopping' || this.#there === 'nothing') return undefined
        this.#tellVerb({ verb: 'kill' })
        return this.#wait('gone')
      default:
        return undefined
    }
  }

  #tellStop(): void {
    const { reason, cause } = this.end!
    this.#tell({ op: 'hosted.stop', uid: this.ref.uid, reason, cause, within: this.#timeLeft() })
  }
  /** What those above leave it to end, by a clock that both threads know: as a duration. */
  #timeLeft(): number {
    const { above } = endingOf(this)!
    return above - this.dispatcher.host.runtime.now()
  }
  /** Its end over there is waited for, whoever is in a hurry: an actor that still runs must not be thought gone. */
  override get endsElsewhere(): boolean {
    return this.#there !== 'nothing'
  }
  override hasten(): boolean {
    if (this.#there === 'nothing' || this.dispatcher.host.hurried) return false
    // A restart has its deadline over there; a thread that hangs is the watchdog's.
    if (this.phase === 'stopping') this.#tellVerb({ verb: 'kill' })
    return true
  }

  #wait(until: Waiter['until']): Promise<void> {
    // Whoever waited before was cut off by what waits now.
    return new Promise((resolve, reject) => (this.#waiter = { until, resolve, reject }))
  }
  /** What has come about; news of what was waited for before it was cut off means nothing to who waits now. */
  #done(what: Waiter['until'], cause?: unknown): void {
    const waiter = this.#waiter
    if (waiter === undefined || (what !== 'gone' && what !== waiter.until)) return
    this.#waiter = undefined
    if (cause === undefined) waiter.resolve()
    else waiter.reject(cause)
  }

  async #start(): Promise<void> {
    if (this.#there === 'held' || this.#there === 'failed') {
      const { name, args } = this.#remake === undefined ? { ...this.plan.origin, args: undefined } : this.#origin()
      const crossing = this.at === undefined ? undefined : this.exchange.crossingTo(this.at)
      crossing?.order({ op: 'hosted.release', uid: this.ref.uid, args }, `An argument of ${name}`)
      this.#there = 'starting'
      return this.#wait('up')
    }
    const origin = this.#origin()
    const at = await this.exchange.place(this.plan.placement, this.ref.uid)
    if (this.phase !== 'starting') return undefined
    const crossing = this.exchange.crossingTo(at)
    if (crossing === undefined) throw this.exchange.lossOf(at)
    this.at = at
    this.#there = 'starting'
    this.#hurried = false
    // What befell the incarnation before this one was answered by its end.
    this.#bad = undefined
    const { options } = this.plan
    const order: SpawnOrder = {
      op: 'hosted.spawn',
      uid: this.ref.uid,
      path: this.ref.path,
      // An actor that somebody spawned has a parent.
      parent: this.ref.parent!,
      definition: new Definition(origin.url, origin.name),
      args: origin.args,
      options,
      incarnation: this.extras?.incarnation ?? 0,
    }
    crossing.order(order, `An argument of ${origin.name}`)
    this.wire.unlink()
    this.wire.link = new Link(this.exchange, crossing, this.ref.uid, this.#window, this.wire)
    for (const peer of this.locators) this.exchange.tell(peer, { op: 'located', uid: this.ref.uid, at })
    this.locators.clear()
    return this.#wait('up')
  }

  // What the actor's thread reports.

  started(): void {
    this.#there = 'up'
    // Whether it is to be suspended now is told anew.
    if (this.#toldToSuspend) this.#tellResume()
    this.#done('up')
    this.rouse()
  }
  failed(cause: unknown, message: unknown): void {
    const starting = this.#there === 'starting'
    this.#there = 'failed'
    if (starting) return this.#done('up', cause ?? new Error('it failed to start'))
    this.#bad = { cause, message }
    this.rouse()
  }
  held(): void {
    this.#there = 'held'
    const bad = this.#bad
    if (bad !== undefined && this.phase === 'restarting') {
      // It failed while it was told to restart: noted, and not the failure of the next incarnation.
      this.#bad = undefined
      fail(this, bad.cause, bad.message)
    }
    this.#done('held')
  }
  ended(reason: 'normal' | 'shutdown' | 'killed' | 'failure', cause: unknown): void {
    this.#there = 'nothing'
    this.#leave()
    if (this.phase !== 'stopping' && this.phase !== 'stopped') this.command({ verb: 'stop', reason, cause })
    this.#done('gone')
  }
  /** Its thread is gone, and it with it. */
  threadLost(cause: unknown): void {
    const waiter = this.#waiter
    this.#there = 'nothing'
    this.#leave()
    if (waiter !== undefined) return this.#done('gone', waiter.until === 'up' ? cause : undefined)
    this.#bad = { cause, message: undefined }
    this.rouse()
  }
  #leave(): void {
    this.at = undefined
    this.#toldToSuspend = false
    this.wire.unlink()
  }
}
