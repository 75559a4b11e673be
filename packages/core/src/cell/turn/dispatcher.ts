// Decides whose turn it is. A ready queue in which a cell stands at most once; turns, round robin, of an eighth of the
// slice or `throughput` messages; after `slice` ms the host gets its turn. The clock costs more than a message, so it is
// read every `stride` messages, and the stride follows what handlers cost. Whose turn was cut by time, or who may have held
// the loop (see suspicion), has its next turn timed from its beginning, with stride 1.

import { Histogram } from '../../queues/histogram.ts'
import { ReadyQueue } from '../../queues/ready-queue.ts'
import { MessageRing } from '../../queues/ring.ts'
import type { DispatcherState } from '../../values/metrics.ts'
import type { ExecutionRuntime } from '../../values/runtime.ts'
import { typeOf } from '../../values/errors.ts'
import type { Cell } from './cell.ts'
import type { Context } from '../context/context.ts'
import type { Meta } from '../message/envelope.ts'
import { Fairness, type Shares } from './fairness.ts'
import type { CellHost } from './host.ts'
import type { Ledger } from '../message/ledger.ts'
import type { Spawner } from '../context/remote-spawner.ts'
import { cut, suspect } from './suspicion.ts'
import { SystemLane } from '../life/commands.ts'
import type { Witness } from './witness.ts'

const longestStride = 64
/** Turns of full length in a slice. */
const turnsInSlice = 8
/** Empty rings, and lanes, that are kept for whoever needs one next. */
const spares = 64

export type { DispatcherState }

export interface DispatcherSettings {
  readonly throughput: number
  readonly slice: number
  readonly maxTurns: number
}

export class Dispatcher {
  declare readonly name: string
  declare readonly host: CellHost
  declare readonly ledger: Ledger
  declare readonly throughput: number
  declare readonly slice: number
  declare readonly maxTurns: number
  /** The time of the last clock read; at most a slice old inside a turn. */
  declare now: number
  /** Whose turn it is. */
  current: Cell | undefined
  /** The meta of the message that a cell took last, and the message itself where it is timed alone. */
  takenMeta: Meta
  lastMessage: unknown
  /** Whose message is on its way to the handler, in the hands of an adapter, a schema or middleware: it cannot be moved on yet. */
  entering: Context | undefined
  /** Who held the loop for longer than a slice; only while the clock read that noticed it fires what is due. */
  held: { readonly cell: Cell; readonly what: string | undefined; readonly ms: number } | undefined
  /** Messages until the next clock read. */
  untilClock = 1
  state: DispatcherState = 'starting'
  /** Who looks on; looked up at the beginning of each drain. */
  witness: Witness | undefined
  /** Who makes the cells of actors that run elsewhere; undefined where they run here. */
  spawner: Spawner | undefined
  /** Cells that were spawned here and have not terminated. */
  population = 0
  /** Turns that ended while the actor had more to do. */
  unfinished = 0
  readonly loopLatency: Histogram = new Histogram()

  readonly #runtime: ExecutionRuntime
  /** Remembers who had a turn since the last clock read. */
  readonly #ready: ReadyQueue<Cell> = new ReadyQueue()
  readonly #rings: MessageRing[] = []
  readonly #lanes: SystemLane[] = []
  readonly #fairness: Fairness = new Fairness()
  #yieldedAt = NaN
  /** Turns of earlier passes, and messages up to the last clock read: counting costs nothing per turn. */
  #earlierTurns = 0
  #earlierMessages = 0
  /** Messages from one clock read to the next: what `untilClock` began with. */
  #stride = 1
  #awake = false
  #pass = -1
  #sliceEnd = 0
  /** The slice was over at the last clock read; a flag, because comparing two doubles each turn costs more. */
  #over = true
  #turns = 0
  /** When the present turn began, as far as known, and which it is; set at the first clock read in it. */
  #turnBegan = 0
  #turnRead = 0
  /** Whether timers fired since the last clock read, which is nobody's time. */
  #fired = false
  readonly #drain = (): void => this.#runtime.enter(this.#turnAll)

  constructor(name: string, host: CellHost, settings: DispatcherSettings) {
    this.name = name
    this.host = host
    this.ledger = host.ledger
    this.throughput = settings.throughput
    this.slice = settings.slice
    this.maxTurns = settings.maxTurns
    this.#runtime = host.runtime
    this.now = host.runtime.now()
    this.witness = host.reporter
    this.state = 'running'
  }

  /** Whether a drain is under way or on its way. */
  get awake(): boolean {
    return this.#awake
  }
  get workers(): number {
    return this.#awake ? 1 : 0
  }

  get turns(): number {
    return this.#earlierTurns + this.#turns
  }
  /** Messages and signals handled here. */
  get messages(): number {
    return this.#earlierMessages + this.#stride - this.untilClock
  }
  get shares(): Shares {
    return this.#fairness.shares
  }
  get depth(): number {
    return this.#ready.size
  }

  /** Puts a cell at the back of the queue; the caller has marked it as queued. */
  enqueue(cell: Cell): void {
    this.#ready.push(cell)
    if (!this.#awake) this.#wake()
  }

  /** Puts a cell that has more to do than its turn had time for to the back of the queue. */
  requeue(cell: Cell): void {
    this.unfinished++
    cell.extras?.metrics?.leaves(cell)
    this.enqueue(cell)
  }

  #wake(): void {
    this.#awake = true
    // A slice that is used up in this pass of the host's loop stays used up, however often we are woken.
    if (this.#pass === this.#runtime.pass && this.#spent()) this.#runtime.yield(this.#drain)
    else this.#runtime.wake(this.#runtime.wakesNeutral === true ? this.#turnAll : this.#drain)
  }

  #spent(): boolean {
    return this.#over || this.#turns >= this.maxTurns
  }

  readonly #turnAll = (): void => {
    const runtime = this.#runtime
    const outer = this.host.running
    this.host.running = this
    const now = runtime.now()
    // Somebody may have held the loop at the end of the last drain; or the host was busy, or had nothing to do.
    if (now - this.now > this.slice && this.untilClock !== this.#stride) suspect(this.#ready.lately(), now - this.now)
    this.#read(now, this.#stride)
    this.host.youngAsks.began = this.now
    if (this.#yieldedAt === this.#yieldedAt) {
      this.loopLatency.add(this.now - this.#yieldedAt)
      this.#yieldedAt = NaN
    }
    if (this.#pass !== runtime.pass) {
      this.#pass = runtime.pass
      this.#sliceEnd = this.now + this.slice
      this.#earlierTurns += this.#turns
      this.#turns = 0
      this.#turnRead = 0
    }
    // Past it, not at it: a slice that is too small for the clock to tell still lets each pass have a turn.
    this.#over = this.now > this.#sliceEnd
    try {
      this.#runTurns()
    } catch (cause) {
      // Cells contain whatever user code does; what gets here is a bug of ours, and must not stop the others.
      this.host.logger.error({ cause, dispatcher: this.name, actor: this.current?.ref.path }, 'a turn broke')
      this.current?.broke(cause)
      this.current = undefined
    }
    this.host.running = outer
    this.witness?.rest()
    this.host.youngAsks.arm()
    if (this.#ready.size === 0) {
      if (this.#ready.idle) this.#ready.shrink()
      this.#awake = false
      this.host.onIdle?.()
    } else {
      this.#yieldedAt = this.now
      runtime.yield(this.#drain)
    }
  }

  #runTurns(): void {
    const choices = this.#runtime.choices
    const { witness } = this
    const ready = this.#ready
    let looked = this.#fairness.room(this.turns)
    while (!this.#spent()) {
      const cell = choices === undefined ? ready.shift() : ready.takeAt(choices.pick(ready.size, ready))
      if (cell === undefined) return
      if (cell.dear) this.#beginTimed(cell)
      this.#turns++
      this.current = cell
      if (witness !== undefined) witness.turn(cell)
      const before = looked > 0 ? this.messages : 0
      cell.turn(choices === undefined ? this.throughput : choices.quota(this.throughput))
      this.current = undefined
      if (looked-- > 0 && this.messages > before) this.#fairness.add(cell.ref.uid, this.messages - before)
    }
  }

  /** What came before is not this one's time, and the stride of others is not its own. */
  #beginTimed(cell: Cell): void {
    cell.scheduled &= ~cut
    this.#ready.putBack()
    if (this.#fired || this.untilClock !== this.#stride) this.look()
    else this.#ready.forget(0)
    this.#ready.shift()
    this.#stride = this.untilClock = 1
  }

  /** Accounts for messages handled since the last call; reads the clock when it is time. False: the turn is over. */
  spend(messages: number): boolean {
    this.untilClock -= messages
    return this.untilClock > 0 || this.look()
  }

  /** Reads the clock: who took too long, when it is to be read next, and whether the turn may go on. False: it is over. */
  look(): boolean {
    const { now: before, current, slice } = this
    const handled = this.#stride - this.untilClock
    const now = this.#runtime.now()
    const elapsed = now - before
    if (elapsed > slice) this.#tooLong(elapsed)
    const share = slice / turnsInSlice
    const fits = elapsed > 0 ? Math.floor((share / elapsed) * handled) : longestStride
    const alone = current !== undefined && current.stillSuspect()
    this.#read(now, alone ? 1 : Math.max(1, Math.min(fits, this.#stride * 2, longestStride)))
    this.held = undefined
    this.#over = now >= this.#sliceEnd
    if (current === undefined) return true
    if (this.#turnRead !== this.#turns) {
      this.#turnRead = this.#turns
      this.#turnBegan = before
    }
    if (!this.#over && now - this.#turnBegan < share) return true
    current.scheduled |= cut
    return false
  }

  #read(now: number, stride: number): void {
    this.now = now
    this.#earlierMessages += this.#stride - this.untilClock
    this.#stride = this.untilClock = stride
    this.lastMessage = undefined
    this.#ready.forget(this.current === undefined ? 0 : 1)
    this.#fired = this.host.timers.next <= now
    if (this.#fired) this.host.timers.fireDue(now)
    this.witness?.clockRead?.(now, this.#fired)
  }

  #tooLong(ms: number): void {
    // Long enough for a question that was asked in this drain to be due.
    this.host.youngAsks.arm()
    const cells = this.#ready.lately()
    const [cell] = cells
    if (cell !== undefined && cells.size === 1 && !this.#fired) this.#slow(cell, ms)
    suspect(cells, ms)
  }

  #slow(cell: Cell, ms: number): void {
    const message = this.#stride === 1 && this.lastMessage !== undefined ? typeOf(this.lastMessage) : undefined
    this.held = { cell, what: message, ms }
    if (!this.host.listening) return
    this.host.observe({ type: 'turn.slow', ref: cell.ref, message, ms, at: this.now + ms })
  }

  /** An empty ring for a mailbox that needs more than its inline slot. */
  takeRing(): MessageRing {
    return this.#rings.pop() ?? this.host.reporter?.makeRing() ?? new MessageRing()
  }

  /** Takes an empty ring back. */
  giveRing(ring: MessageRing): void {
    if (this.#rings.length < spares) this.#rings.push(ring)
  }

  /** An empty lane for a cell that has to hear or do something. */
  takeLane(): SystemLane {
    return this.#lanes.pop() ?? new SystemLane()
  }

  /** Takes an empty lane back. */
  giveLane(lane: SystemLane): void {
    if (this.#lanes.length < spares) this.#lanes.push(lane)
  }

  /** Drains: takes no new actors; stopped once the last has gone. */
  close(): void {
    if (this.state === 'running') this.state = this.population === 0 ? 'stopped' : 'draining'
  }

  joined(): void {
    this.population++
  }

  left(): void {
    if (--this.population === 0 && this.state === 'draining') this.state = 'stopped'
  }
}
