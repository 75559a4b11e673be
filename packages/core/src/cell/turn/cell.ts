// One actor at run time: its mailbox, its behavior, its phase, and the turn that brings them together.
// Everything here is on or near the hot path; what happens at the edges of a life is in starting, stopping,
// restarting and failing, and what only some actors need hangs on `extras`.
//
//   tell ─→ send ─→ inline slot, or ring ─→ ready queue ─→ turn: system lane, then messages ─→ handler ─→ follow

import { laneReady, runLane } from '../life/run-commands.ts'
import { takesMessages } from '../../deciders/phase.ts'
import type { FrontableQueue } from '../../queues/own-kind.ts'
import { MessageRing } from '../../queues/ring.ts'
import { bareOf, BehaviorNode, same } from '../../values/behavior.ts'
import type { Phase } from '../../values/phase.ts'
import type { Signal } from '../../values/signals.ts'
import type { Children } from './children.ts'
import type { Context } from '../context/context.ts'
import type { Dispatcher } from './dispatcher.ts'
import { Envelope, type Meta } from '../message/envelope.ts'
import { fuse } from '../message/fuse.ts'
import { Extras } from './extras.ts'
import { followMessage, messageFailed } from '../life/outcome.ts'
import { handleGuarded, resumeCalls } from './guarded-turn.ts'
import type { CellHost } from './host.ts'
import type { Command, SystemLane } from '../life/commands.ts'
import type { LocalRef } from '../ref/local-ref.ts'
import type { CellOptions } from '../context/options.ts'
import { type EndInfo, PhaseInfo } from '../life/phase-info.ts'
import { highWater, notePressure } from '../message/pressure.ts'
import { refuse } from '../message/refusing.ts'
import { resumeEnding } from '../life/ending.ts'
import { resumePending } from '../life/pending.ts'
import { beginStart } from '../life/starting.ts'
import { beginStop } from '../life/stopping.ts'
import { closeMiddleware, signalLinks } from './middleware-run.ts'
import { cut, suspected, suspicion } from './suspicion.ts'

/** Neither queued nor in need of a turn. */
const idle = 0
/** In the ready queue, or having its turn. */
const queued = 1
/** Not able to handle messages now: further ones do not queue it, only the system lane does. */
const parked = 2
/** The bits of `scheduled` that hold one of these three. */
const standing = 3

/** Made elsewhere: a closure in `command` itself would cost every command the room for what it holds. */
function commanding(cell: Cell, command: Command): () => void {
  return () => cell.command(command)
}

export class Cell {
  declare readonly ref: LocalRef
  declare readonly dispatcher: Dispatcher
  declare options: CellOptions
  declare behavior: BehaviorNode
  phase: Phase = 'created'
  ctx: Context | undefined
  extras: Extras | undefined
  previous: Cell | undefined
  next: Cell | undefined
  queue: FrontableQueue | undefined
  private slot: unknown = undefined
  /** What `spawn` was given, or the phase's info, which then keeps that: a word less for every actor. */
  private initialOrInfo: BehaviorNode | PhaseInfo | EndInfo | undefined
  /** Where it stands, in the bits above what is known of the time it takes (see suspicion), and above those what is counted of it (see tally): a word less for every actor. */
  scheduled: number = queued

  constructor(ref: LocalRef, dispatcher: Dispatcher, options: CellOptions, initial: BehaviorNode) {
    this.ref = ref
    this.dispatcher = dispatcher
    this.options = options
    this.initialOrInfo = initial
    this.behavior = initial
    ref.cell = this
  }

  /** What `spawn` was given; each incarnation begins here. Dropped at the end. */
  get initial(): BehaviorNode | undefined {
    const held = this.initialOrInfo
    if (held instanceof BehaviorNode) return held
    return held instanceof PhaseInfo ? held.initial : undefined
  }
  set initial(initial: BehaviorNode | undefined) {
    if (this.initialOrInfo instanceof PhaseInfo) this.initialOrInfo.initial = initial
    else if (this.initialOrInfo === undefined || this.initialOrInfo instanceof BehaviorNode) this.initialOrInfo = initial
  }

  /** From its next start on, every incarnation begins with a behavior that is made for it. */
  remake(make: () => unknown): void {
    this.initial = new BehaviorNode('setup', () => bareOf(make()), undefined)
  }

  /** What the phase carries; nothing while running. */
  get info(): PhaseInfo | EndInfo | undefined {
    return this.initialOrInfo instanceof BehaviorNode ? undefined : this.initialOrInfo
  }
  set info(info: PhaseInfo | EndInfo | undefined) {
    const { initial } = this
    if (info instanceof PhaseInfo) info.initial = initial
    this.initialOrInfo = info ?? initial
  }

  /** What it sees of its system. */
  get host(): CellHost {
    return this.dispatcher.host
  }

  /** What only some actors have, made where it is not there yet. One that has it never takes the short way out. */
  ensureExtras(): Extras {
    return (this.extras ??= new Extras())
  }

  get children(): Children | undefined {
    return this.extras?.children
  }
  get lane(): SystemLane | undefined {
    return this.extras?.lane
  }

  /** Taken from the dispatcher where it has none. */
  openLane(): SystemLane {
    return (this.ensureExtras().lane ??= this.dispatcher.takeLane())
  }

  get queuedMessages(): number {
    return (this.slot === undefined ? 0 : 1) + (this.queue?.size ?? 0)
  }

  /** How many messages, at most `most`, are in front of the one with such a meta; in other mailboxes than rings, all that are queued. */
  aheadOf(is: (meta: unknown) => boolean, most: number): number {
    const { queue } = this
    const ahead = queue instanceof MessageRing ? queue.indexOfMeta(is, most) + (this.slot === undefined ? 0 : 1) : this.queuedMessages
    return Math.min(ahead, most)
  }

  /** Takes a message from anywhere; never throws. */
  send(message: unknown, meta: Meta): void {
    if (--fuse.left === 0 && fuse.burn(this, message, meta)) return
    this.dispatcher.ledger.sent++
    this.accept(message, meta)
  }

  /** Takes a message that is already counted as sent. */
  accept(message: unknown, meta: Meta): void {
    if (message !== undefined && (this.phase === 'running' || takesMessages(this.phase))) this.put(message, meta)
    else refuse(this, message, meta)
  }

  /** Queues a message: the inline slot for one that is alone and plain, a ring for more. */
  put(message: unknown, meta: Meta): void {
    const queue = this.queue
    if (queue !== undefined) queue.push(message, meta)
    else if (this.slot === undefined && meta === undefined) this.slot = message
    else (this.queue = this.dispatcher.takeRing()).push(message, meta)
    if ((this.scheduled & standing) === idle) {
      this.scheduled |= queued
      this.dispatcher.enqueue(this)
    }
  }

  /** Takes the next message; its meta is then in `takenMeta`. */
  take(): unknown {
    const slot = this.slot
    if (slot !== undefined) {
      this.slot = undefined
      this.dispatcher.takenMeta = undefined
      return slot
    }
    const queue = this.queue
    if (queue === undefined) return undefined
    const message = queue.shift()
    this.dispatcher.takenMeta = queue.meta as Meta
    return message
  }

  /** Puts messages in front of all that are queued, in the order given; before them those that were there before, and were taken out for this. */
  putBack(messages: readonly (readonly [unknown, Meta])[], before: readonly (readonly [unknown, Meta])[]): void {
    const slot = this.slot
    const front = (this.queue ??= this.dispatcher.takeRing())
    if (slot !== undefined) {
      front.unshift(slot, undefined)
      this.slot = undefined
    }
    for (const list of [messages, before]) for (let i = list.length - 1; i >= 0; i--) front.unshift(list[i]![0], list[i]![1])
    if ((this.scheduled & standing) === idle) this.rouse()
  }

  /** Asks for a control verb; acts in this cell's next turn, before any message. */
  command(command: Command): void {
    if (this.phase === 'terminated') return
    if (fuse.catcher !== undefined) return fuse.catcher.acted(commanding(this, command))
    this.openLane().commands.push(command)
    this.rouse()
  }

  /** Queues a signal for the handler, before any message. */
  signal(signal: Signal): void {
    if (!takesMessages(this.phase) && this.phase !== 'stopping') return
    this.openLane().signals.push(signal)
    this.rouse()
  }

  /** Gives this cell a turn, whatever its phase. */
  rouse(): void {
    if ((this.scheduled & standing) === queued) return
    this.stands(queued)
    this.dispatcher.enqueue(this)
  }

  private stands(where: number): void {
    this.scheduled = (this.scheduled & ~standing) | where
  }

  /** Whether its next turn is to be timed from its beginning, and its first message alone. */
  get dear(): boolean {
    return (this.scheduled & (cut | suspicion)) > 0
  }

  /** It may have held the loop: so many messages are timed one by one. That it was cut says no more than that. */
  suspect(messages: number): void {
    this.scheduled = (this.scheduled & ~(cut | suspicion)) | (messages * suspected)
  }
  /** Counts a message of a suspect that was timed; whether it is to go on so. */
  stillSuspect(): boolean {
    const left = this.scheduled & suspicion
    if (left >= suspected) this.scheduled -= suspected
    return left >= 2 * suspected
  }

  /** One turn: what has settled, the system lane, then up to `quota` messages, as long as the dispatcher lets it go on. */
  turn(quota: number): void {
    const dispatcher = this.dispatcher
    if (this.phase === 'running' && this.options.plain && (this.extras === undefined || this.extras.quiet)) {
      // The way of most turns: nothing but messages.
      let left = quota
      for (;;) {
        const burst = left < dispatcher.untilClock ? left : dispatcher.untilClock
        const handled = this.handle(burst)
        left -= handled
        if (!dispatcher.spend(handled) || handled < burst || left === 0 || this.lane !== undefined || !this.canHandle()) break
        this.lookAtDepth()
      }
      // A mailbox that holds its messages back: looking at it takes time too, and what it waits for may need the loop.
      if (left === quota) dispatcher.spend(1)
    } else this.fullTurn(quota)
    this.afterTurn()
  }

  /** It was given a pill, after all that was queued before it. */
  takePill(): void {
    beginStop(this, 'normal')
  }
  /** Its middleware hears of a signal, before its handlers do. */
  signalLinks(signal: Signal): void {
    signalLinks(this, signal)
  }
  /** It has ended: its own middleware hears of it. */
  closeMiddleware(): void {
    closeMiddleware(this)
  }

  private fullTurn(quota: number): void {
    // Whether the next message has its time to itself.
    let alone = true
    this.extras?.metrics?.turnBegins(this)
    if (this.phase === 'created') {
      alone = false
      // A stop or kill that came before the first turn spares the actor its start.
      if (this.lane !== undefined) runLane(this)
      if (this.phase === 'created') beginStart(this)
    }
    const extras = this.extras
    if (extras !== undefined && (extras.pending?.state === 'settled' || extras.settledCalls !== undefined)) {
      resumePending(this)
      if (extras.settledCalls !== undefined) resumeCalls(this)
      resumeEnding(this)
    }
    let left = quota
    for (;;) {
      if (this.lane !== undefined) {
        if (!runLane(this)) break
        alone = false
      }
      if (left <= 0 || !this.canHandle()) break
      const burst = Math.min(left, this.dispatcher.untilClock)
      const handled = this.options.plain ? this.handle(burst) : handleGuarded(this)
      if (!alone) this.dispatcher.lastMessage = undefined
      alone = true
      left -= handled
      if (handled === 0 || !this.dispatcher.spend(handled) || (handled < burst && this.options.plain && this.lane === undefined)) break
      this.lookAtDepth()
    }
    // Starts, ends and signals take time too; a turn with messages has accounted for itself.
    if (left === quota) this.dispatcher.spend(1)
    else if (this.extras !== undefined) this.extras.receiveTimer?.touch(this.dispatcher.now)
    this.extras?.metrics?.turnEnds(this)
  }

  /** Its turn ended by an error that nothing contained: it fails of it, rather than never having a turn again. */
  broke(cause: unknown): void {
    this.stands(parked)
    this.ctx?.fail('failed', cause)
    this.command({ verb: 'fail', cause })
  }

  /** Whether user messages may be handled now. */
  canHandle(): boolean {
    return this.phase === 'running' && (this.extras === undefined || (this.extras.pending === undefined && !this.extras.saturated))
  }

  private afterTurn(): void {
    // First: whoever hears of it may send something.
    if (this.queue !== undefined && (this.queue.size >= highWater || (this.extras !== undefined && this.extras.pressed))) this.lookAtDepth()
    const { queue } = this
    let empty = this.slot === undefined
    if (empty && queue !== undefined) {
      empty = queue.size === 0
      if (empty && this.options.mailbox === undefined) {
        this.dispatcher.giveRing(queue as MessageRing)
        this.queue = undefined
      }
    }
    const can = this.canHandle()
    if ((can && !empty) || (this.lane !== undefined && laneReady(this, this.lane))) this.dispatcher.requeue(this)
    else this.stands(can ? idle : parked)
  }

  /** Whether the default mailbox has filled up, or emptied again; others notice that themselves. */
  private lookAtDepth(): void {
    const { queue } = this
    const depth = queue === undefined ? 0 : queue.size
    if ((depth >= highWater || this.extras?.pressed === true) && this.options.mailbox === undefined) notePressure(this, depth)
  }

  /** Handles up to `burst` messages, fewer if the mailbox runs empty or the system lane or a promise needs attention. */
  private handle(burst: number): number {
    const dispatcher = this.dispatcher
    const ctx = this.ctx!
    let left = burst
    let message: unknown
    try {
      do {
        message = this.take()
        if (message === undefined) break
        left--
        const meta = dispatcher.takenMeta
        if (meta !== undefined && meta instanceof Envelope) {
          message = meta.open(this, message)
          if (message === undefined) {
            if (this.canHandle()) continue
            break
          }
        }
        ctx.begin(message, meta)
        const next = this.behavior.handle(ctx as never, message as never)
        if (next === undefined || next === same) ctx.finish()
        else if (next instanceof BehaviorNode && next.kind === 'receive') {
          ctx.finish()
          this.behavior = next
        } else if (!followMessage(this, ctx, next)) break
      } while (left > 0 && this.lane === undefined)
    } catch (cause) {
      messageFailed(this, ctx, cause)
    }
    // Handlers that cost much are timed one by one: then the message can be named.
    if (burst === 1) dispatcher.lastMessage = message
    return burst - left
  }

  /** Its phase as far as is known here: that of an actor of another thread is what was told last. */
  get phaseSeen(): Phase {
    return this.phase
  }
  /** Whether its end happens elsewhere, so that it must be waited for there. */
  get endsElsewhere(): boolean {
    return false
  }
  /** Its user code is not waited for any longer. True: that runs elsewhere, has been told so, and comes to an end by itself. */
  hasten(): boolean {
    return false
  }

  /** How it ended; undefined while it lives. */
  get end(): EndInfo | undefined {
    return this.phase === 'stopping' || this.phase === 'stopped' || this.phase === 'terminated' ? (this.info as EndInfo) : undefined
  }
}
