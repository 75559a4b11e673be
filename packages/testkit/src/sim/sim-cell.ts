// A cell that is watched. It does what every cell does, through the same code; around it stands a second account of where
// each message must be, kept from what goes in and comes out, against which the real one is checked.

import { type BehaviorNode, Cell, type CellOptions, type Dispatcher, type LocalRef, type Meta } from 'troupe/internal'
import type { Signal } from 'troupe'
import { traced, type TracedNode } from './traced-node.ts'
import type { SimTap } from './sim-tap.ts'

/** One message, from its sending to its end. */
export class Entry {
  readonly id: number
  message: unknown
  readonly meta: Meta
  readonly type: string
  to: SimCell
  /** Came back from the stash: in front of all, and not counted towards a bound. */
  fronted = false
  /** The incarnation of its receiver when it was sent. */
  readonly sentIn: number
  state: 'under way' | 'queued' | 'taken' | 'running' | 'stashed' | 'ended' = 'under way'
  constructor(id: number, message: unknown, meta: Meta, type: string, to: SimCell) {
    this.id = id
    this.message = message
    this.meta = meta
    this.type = type
    this.to = to
    this.sentIn = to.incarnation
  }
}

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
  /** Restarts counted against the limit: since when, how many. */
  windowStart = 0
  windowCount = 0
  failedAt = -1
  changedAt = 0
  restartsBefore = 0
  limitsBefore = 0
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

  get fifo(): boolean {
    const kind = this.options.mailbox?.kind
    return kind === undefined || kind === 'unbounded' || kind === 'bounded'
  }

  override send(message: unknown, meta: Meta): void {
    const { tap } = this
    const before = tap.arriving
    tap.arriving = tap.sent(this, message, meta)
    super.send(message, meta)
    tap.arriving = before
  }
  override accept(message: unknown, meta: Meta): void {
    const { tap } = this
    if (tap.arriving !== undefined) return super.accept(message, meta)
    tap.arriving = tap.forwarded(this, message)
    super.accept(message, meta)
    tap.arriving = undefined
  }
  override put(message: unknown, meta: Meta): void {
    this.tap.queued(this, message, meta)
    const before = this.tap.putting
    this.tap.putting = this
    if (this.#unheard) this.#listen()
    super.put(message, meta)
    this.tap.putting = before
    if (this.options.mailbox?.capacity !== undefined) this.tap.checkBound(this)
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
          this.tap.admitted(this, offer.message, offer.meta as Meta)
          offer.took()
        },
        fail: (cause) => offer.fail(cause),
      })
  }
  override take(): unknown {
    const message = super.take()
    this.tap.took(this, message)
    return message
  }
  override putBack(messages: readonly (readonly [unknown, Meta])[]): void {
    this.tap.unstashed(this, messages)
    super.putBack(messages)
  }
  override turn(quota: number): void {
    const { tap } = this
    tap.turnBegins()
    super.turn(quota)
    tap.turnEnded(this)
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
