// A cell that is watched. It does what every cell does, through the same code; around it stands a second account of where
// each message must be, kept from what goes in and comes out, against which the real one is checked.

import { type BehaviorNode, Cell, type CellOptions, type Command, type Dispatcher, fuse, type LocalRef, type Meta } from '@troupe/core/internal'
import type { Signal } from '@troupe/core'
import { makers } from './choices.ts'
import type { Budget, Failures } from './decision-account.ts'
import type { Entry } from './entry.ts'
import { traced, type TracedNode } from './traced-node.ts'
import type { SimTap } from './sim-tap.ts'
import type { Awaited } from './wait-account.ts'

/** What a cell tells itself, which nobody sends. */
const ownWords: ReadonlySet<Command['verb']> = new Set(['children-gone', 'step-timeout', 'relaunch', 'next-slice'])

export class SimCell extends Cell {
  readonly tap: SimTap
  /** What must be in the mailbox, in this order. */
  readonly waiting: Entry[] = []
  /** What must be in the stash, in this order. */
  readonly aside: Entry[] = []
  /** What its handler is at. */
  running: Entry | undefined = undefined
  /** What its handlers are at, of a reentrant actor. */
  calls: Entry[] | undefined = undefined
  /** Handlers of this context that have not settled: at most one may be. */
  unsettled = 0
  unsettledOf: unknown = undefined
  /** Exempt from injected faults. */
  spared = false
  incarnation = 0
  livingChildren = 0
  /** Children that ended, and of which it was not told yet. */
  childEnds = 0
  /** Signals of this incarnation. */
  sawPreStart = false
  sawPostStart = false
  /** Whether this incarnation came up. */
  ran = false
  postStops = 0
  setups = 0
  /** Failures of children of which it was not told yet. */
  childFailures = 0
  failures: Failures | undefined = undefined
  /** What its children have used up of their restarts, where they share their fate. */
  budget: Budget | undefined = undefined
  /** When its phase changed last, when it came up or failed, and when it had its last turn. */
  changedAt = 0
  ranAt = 0
  turnAt = 0
  /** The step of its last turn. */
  turnStep = 0
  /** When it began to start, and to stop or restart; -1 before that. */
  startingAt = -1
  endingAt = -1
  /** Since when it has been ending, for one reason or another: those below that were told then have the time of then. */
  endsFrom = -1
  /** The same, at the end of its last turn. */
  startedBefore = -1
  endedBefore = -1
  /** By when it is to end, as its supervisor declares. */
  declared: number = Infinity
  /** What it waits for, and since when. */
  awaited: Awaited | undefined = undefined
  awaitedSince = 0
  /** What was asked of it from outside: the incarnation that was to be replaced is -1 where none was. */
  killed = false
  stopAsked = false
  suspendAsked: boolean | undefined = false
  restartAsked = -1
  /** The incarnation in which its parent told it to begin anew with it, and the turn in which it went on from a failure. */
  toldAnew = -1
  wentOn = -1
  /** The last incarnation that a restart somebody asked for may end. */
  restartDue = -1
  /** Whether a signal handler of it is running. */
  inUserCode = false
  /** Pills that a restart took out of the mailbox, and must put back. */
  pillsAside = 0
  /** The behavior that its next message must meet, where that is known; and whether it returned `stopped`. */
  becomes: BehaviorNode | undefined = undefined
  ends = false
  /** The incarnation of its parent that it was born in, and the type of the message it handled last. */
  bornIn = 0
  lastType = ''
  /** Keyed timers that may still tick, and those whom it watches, as this account has it. */
  timers: Map<string, unknown> | undefined = undefined
  watchesOf: Map<unknown, SimCell | undefined> | undefined = undefined
  /** Waits for a promise that is known to settle never. */
  never = false
  #unheard = true
  inner!: BehaviorNode
  readonly shell: TracedNode

  constructor(tap: SimTap, ref: LocalRef, dispatcher: Dispatcher, options: CellOptions, initial: BehaviorNode) {
    super(ref, dispatcher, options, initial)
    this.tap = tap
    this.shell = traced(this)
    if (initial.kind === 'setup') this.initial = this.shell.ofSetup(initial)
    Object.defineProperty(this, 'behavior', tracedBehavior)
    this.behavior = initial
  }

  override remake(make: () => unknown): void {
    super.remake(make)
    this.initial = this.shell.ofSetup(this.initial!)
  }

  get fifo(): boolean {
    const kind = this.options.mailbox?.kind
    return kind === undefined || kind === 'unbounded' || kind === 'bounded'
  }

  override send(message: unknown, meta: Meta): void {
    // Not sent yet: whoever holds it sends it later.
    if (fuse.catcher !== undefined) return fuse.catcher.caught(this, message, meta)
    const { messages } = this.tap
    const before = messages.arriving
    messages.arriving = messages.sent(this, message, meta)
    super.send(message, meta)
    messages.arriving = before
  }
  override accept(message: unknown, meta: Meta): void {
    const { messages } = this.tap
    if (messages.arriving !== undefined) return super.accept(message, meta)
    messages.arriving = messages.forwarded(this, message)
    super.accept(message, meta)
    messages.arriving = undefined
  }
  override put(message: unknown, meta: Meta): void {
    const { messages } = this.tap
    messages.queued(this, message, meta)
    const before = messages.putting
    messages.putting = this
    if (this.#unheard) this.#listen()
    super.put(message, meta)
    messages.putting = before
    if (this.options.mailbox?.capacity !== undefined) messages.checkBound(this)
  }
  /** Offers that waited for room come into the mailbox by another door. */
  #listen(): void {
    this.#unheard = false
    const { queue } = this
    const wait = queue?.wait?.bind(queue)
    if (queue === undefined || wait === undefined) return
    queue.wait = (offer) =>
      wait({
        message: offer.message,
        meta: offer.meta,
        get ended() {
          return offer.ended
        },
        took: () => {
          this.tap.messages.admitted(this, offer.message, offer.meta as Meta)
          offer.took()
        },
        fail: (cause) => offer.fail(cause),
      })
  }
  override take(): unknown {
    const message = super.take()
    const { messages } = this.tap
    messages.took(this, message)
    // Offers that waited may have come in.
    if (this.options.mailbox?.capacity !== undefined) messages.checkBound(this)
    return message
  }
  override putBack(messages: readonly (readonly [unknown, Meta])[], before: readonly (readonly [unknown, Meta])[]): void {
    this.tap.messages.unstashed(this, messages, before.length)
    super.putBack(messages, before)
  }
  override turn(quota: number): void {
    const { tap } = this
    const before = tap.handling.handled
    const { maker } = tap.choices
    tap.choices.maker = makers.actor(this.ref.uid)
    tap.turnBegins()
    super.turn(quota)
    tap.choices.maker = maker
    const handled = tap.handling.handled - before
    if (handled > quota) tap.violate('C11', this, `handled ${handled} messages in a turn of ${quota}`)
    tap.turnEnded(this)
  }
  override command(command: Command): void {
    if (fuse.catcher !== undefined) return fuse.catcher.acted(() => this.command(command))
    this.tap.rest.stirs(this)
    this.tap.commands.asked(this, command)
    if (!ownWords.has(command.verb)) this.tap.trace.add('send', this.tap.sender(), this.ref.uid, command.verb, 0)
    super.command(command)
  }
  override signal(signal: Signal): void {
    this.tap.signalled(this, signal)
    super.signal(signal)
  }
}

/** In place of the field: whatever the cell becomes is called through its shell. One descriptor for all, so that cells share a shape. */
const tracedBehavior: PropertyDescriptor = {
  get(this: SimCell): BehaviorNode {
    return this.shell.node
  },
  set(this: SimCell, node: BehaviorNode): void {
    this.inner = node
    this.shell.become(node)
  },
  configurable: false,
  enumerable: true,
}
