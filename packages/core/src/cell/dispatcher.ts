// Decides whose turn it is. A ready queue in which a cell stands at most once; turns of `throughput` messages, round
// robin; after `slice` ms the host gets its turn. The clock costs more than a message, so it is read every `stride`
// messages, and the stride follows what handlers cost.

import { Histogram } from '../queues/histogram.ts'
import { Ring, MessageRing } from '../queues/ring.ts'
import type { ExecutionRuntime } from '../values/runtime.ts'
import { typeOf } from '../values/errors.ts'
import type { Cell } from './cell.ts'
import type { Context } from './context.ts'
import type { Meta } from './envelope.ts'
import { Fairness } from './fairness.ts'
import type { CellHost } from './host.ts'
import type { Ledger } from './ledger.ts'
import type { Spawner } from './spawner.ts'

const longestStride = 64
const spareRings = 64

/** A dispatcher's life. */
export type DispatcherState = 'starting' | 'running' | 'draining' | 'stopped'

export interface DispatcherSettings {
  readonly throughput: number
  readonly slice: number
  readonly maxTurns: number
}

export class Dispatcher {
  readonly name: string
  readonly host: CellHost
  readonly ledger: Ledger
  readonly throughput: number
  readonly slice: number
  readonly maxTurns: number
  /** The time of the last clock read; at most a slice old inside a turn. */
  now: number
  /** Whose turn it is. */
  current: Cell | undefined = undefined
  /** The meta of the message that a cell took last, and the message itself where it is timed alone. */
  takenMeta: Meta = undefined
  lastMessage: unknown = undefined
  /** Whose message is on its way to the handler, in the hands of an adapter, a schema or middleware: it cannot be moved on yet. */
  entering: Context | undefined = undefined
  /** Who held the loop for longer than a slice; only while the clock read that noticed it fires what is due. */
  held: { readonly cell: Cell; readonly what: string | undefined; readonly ms: number } | undefined = undefined
  /** Messages until the next clock read. */
  untilClock = 1
  state: DispatcherState = 'starting'
  /** Who makes the cells of actors that run elsewhere; undefined where they run here. */
  spawner: Spawner | undefined = undefined
  /** Cells that were spawned here and have not terminated. */
  population = 0
  readonly loopLatency: Histogram = new Histogram()

  readonly #runtime: ExecutionRuntime
  readonly #ready: Ring<Cell> = new Ring()
  readonly #rings: MessageRing[] = []
  readonly #fairness: Fairness = new Fairness()
  #yieldedAt = NaN
  /** Turns of earlier passes, and messages up to the last clock read: counting costs nothing per turn. */
  #earlierTurns = 0
  #earlierMessages = 0
  #drains = 0
  /** What `untilClock` began with. */
  #granted = 1
  #awake = false
  #pass = -1
  #sliceEnd = 0
  /** The slice was over at the last clock read; a flag, because comparing two doubles each turn costs more. */
  #over = true
  #turns = 0
  #stride = 1
  /** Whose messages the present stride holds; null once there are several. */
  #timed: Cell | undefined | null = undefined
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
    this.state = 'running'
  }

  /** Whether a drain is under way or on its way. */
  get awake(): boolean {
    return this.#awake
  }

  get turns(): number {
    return this.#earlierTurns + this.#turns
  }
  /** Messages and signals handled here. */
  get messages(): number {
    return this.#earlierMessages + this.#granted - this.untilClock
  }
  get fairness(): number {
    return this.#fairness.score
  }
  get depth(): number {
    return this.#ready.size
  }

  /** Puts a cell at the back of the queue; the caller has marked it as queued. */
  enqueue(cell: Cell): void {
    this.#ready.push(cell)
    if (!this.#awake) this.#wake()
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
    this.#read(runtime.now())
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
    }
    this.#over = this.now >= this.#sliceEnd
    try {
      this.#runTurns()
    } catch (cause) {
      // Cells contain whatever user code does; what gets here is a bug of ours, and must not stop the others.
      this.host.logger.error({ cause, dispatcher: this.name, actor: this.current?.ref.path }, 'a turn broke')
      this.current?.broke(cause)
      this.current = undefined
    }
    this.host.running = outer
    this.host.youngAsks.arm()
    if (this.#ready.size === 0) {
      this.#awake = false
      this.host.idle()
    } else {
      this.#yieldedAt = this.now
      runtime.yield(this.#drain)
    }
  }

  #runTurns(): void {
    const choices = this.#runtime.choices
    const ready = this.#ready
    // One drain of 16 is looked at closely, which is enough for how evenly turns share.
    const measured = (this.#drains++ & 15) === 0
    while (!this.#spent()) {
      const cell = choices === undefined ? ready.shift() : ready.takeAt(choices.pick(ready.size, ready))
      if (cell === undefined) return
      if (this.#timed === undefined) this.#timed = cell
      else if (this.#timed !== cell) this.#timed = null
      this.#turns++
      this.current = cell
      const before = measured ? this.messages : 0
      cell.turn(choices === undefined ? this.throughput : choices.quota(this.throughput))
      this.current = undefined
      if (measured && this.messages > before) this.#fairness.add(this.messages - before)
    }
  }

  /** Accounts for messages handled since the last call; reads the clock when it is time. False: the slice is over. */
  spend(messages: number): boolean {
    this.untilClock -= messages
    if (this.untilClock > 0) return true
    const before = this.now
    const stride = this.#stride
    const now = this.#runtime.now()
    const elapsed = now - before
    // Long enough for a question that was asked in this drain to be due.
    if (elapsed > this.slice) this.host.youngAsks.arm()
    if (elapsed > this.slice && this.#timed !== null && this.#timed !== undefined) this.#slow(this.#timed, stride === 1, elapsed)
    const each = elapsed / (stride - this.untilClock)
    const fits = each > 0 ? Math.floor(this.slice / 8 / each) : longestStride
    this.#stride = Math.max(1, Math.min(fits, stride * 2, longestStride))
    this.#read(now)
    this.held = undefined
    this.lastMessage = undefined
    this.#over = now >= this.#sliceEnd
    return !this.#over
  }

  #read(now: number): void {
    this.now = now
    this.#earlierMessages += this.#granted - this.untilClock
    this.#granted = this.untilClock = this.#stride
    this.lastMessage = undefined
    this.#timed = this.current
    if (this.host.timers.next <= now) this.host.timers.fireDue(now)
  }

  #slow(cell: Cell, alone: boolean, ms: number): void {
    const message = alone && this.lastMessage !== undefined ? typeOf(this.lastMessage) : undefined
    this.held = { cell, what: message, ms }
    if (!this.host.listening) return
    this.host.observe({ type: 'turn.slow', ref: cell.ref, message, ms, at: this.now + ms })
  }

  /** An empty ring for a mailbox that needs more than its inline slot. */
  takeRing(): MessageRing {
    return this.#rings.pop() ?? new MessageRing()
  }

  /** Takes an empty ring back. */
  giveRing(ring: MessageRing): void {
    if (this.#rings.length < spareRings) this.#rings.push(ring)
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
