// What is measured of one actor that asked for it: plain counters at every message, times at one of 64 (and one turn of 16),
// because a clock read costs more than a message. Hangs on the guarded turn and on a mailbox of its own: other actors pay nothing.

import type { FrontableQueue } from '../../queues/own-kind.ts'
import { Histogram } from '../../queues/histogram.ts'
import type { WaitingOffer } from '../../values/mailbox.ts'
import type { ActorMetrics } from '../../values/metrics.ts'
import type { PhaseInfo } from '../life/phase-info.ts'
import type { Cell } from '../turn/cell.ts'
import { notePressure } from './pressure.ts'

const sampleEvery = 64
const sampleTurns = 16
/** At so many recent turns they count half. */
const recentTurns = 128
/** After how many messages beyond its place a sampled one is given up for lost. */
const longestWait = 1024

export class CellMetrics {
  enqueued = 0
  dropped = 0
  peak = 0
  processed = 0
  signals = 0
  suspendedMs = 0
  readonly handlerTime: Histogram = new Histogram()
  readonly queueTime: Histogram = new Histogram()
  turns = 0
  readonly turnTime: Histogram = new Histogram()
  readonly loopLatency: Histogram = new Histogram()
  #recent = 0
  #unfinished = 0
  #turnBegan = NaN
  #leftAt = NaN
  #second = 0
  #inSecond = 0
  #lastSecond = 0

  arrived(): void {
    this.enqueued++
  }
  lost(evicted: boolean): void {
    this.dropped++
    if (!evicted) this.enqueued--
  }
  /** When the handling begins that begins now, if it is to be timed. */
  handles(cell: Cell): number {
    return this.processed % sampleEvery === 0 ? cell.host.runtime.now() : NaN
  }
  /** A handling is over that was to be timed if it has a beginning. */
  handled(cell: Cell, began: number): void {
    if (began === began) this.handlerTime.add(cell.host.runtime.now() - began)
    this.processed++
    this.#turnTo(cell.dispatcher.now)
    this.#inSecond++
  }
  turnBegins(cell: Cell): void {
    const waited = this.#leftAt === this.#leftAt
    const timed = this.turns++ % sampleTurns === 0
    if (++this.#recent >= recentTurns) {
      this.#recent /= 2
      this.#unfinished /= 2
    }
    this.#turnBegan = NaN
    if (!timed && !waited) return
    const now = cell.host.runtime.now()
    if (timed) this.#turnBegan = now
    if (waited) this.loopLatency.add(now - this.#leftAt)
    this.#leftAt = NaN
  }
  turnEnds(cell: Cell): void {
    if (this.#turnBegan === this.#turnBegan) this.turnTime.add(cell.host.runtime.now() - this.#turnBegan)
  }
  /** Its turn has ended, and it has more to do. */
  leaves(cell: Cell): void {
    this.#unfinished++
    this.#leftAt = cell.host.runtime.now()
  }
  #turnTo(now: number): void {
    const second = Math.floor(now / 1000)
    if (second === this.#second) return
    this.#lastSecond = second === this.#second + 1 ? this.#inSecond : 0
    this.#second = second
    this.#inSecond = 0
  }
  report(cell: Cell, now: number): ActorMetrics {
    this.#turnTo(now)
    const suspended = cell.phase === 'suspended' ? now - (cell.info as PhaseInfo).since : 0
    const all = this.processed + this.signals
    return {
      mailbox: {
        enqueued: this.enqueued,
        dropped: this.dropped,
        depth: cell.queuedMessages,
        peak: this.peak,
        queueTime: this.queueTime.report(),
      },
      invoker: {
        processed: this.processed,
        rate: this.#lastSecond,
        handlerTime: this.handlerTime.report(),
        turns: this.turns,
        perTurn: this.turns === 0 ? 0 : this.processed / this.turns,
        turnTime: this.turnTime.report(),
        loopLatency: this.loopLatency.report(),
        pressure: this.#recent === 0 ? 0 : (100 * this.#unfinished) / this.#recent,
      },
      systemShareUsed: all === 0 ? 0 : (100 * this.signals) / all,
      suspendedMs: this.suspendedMs + suspended,
    }
  }
}

/** Counts what goes through a mailbox, and times one of 64 messages from end to end. */
export class MeteredQueue implements FrontableQueue {
  meta: unknown
  readonly #inner: FrontableQueue
  readonly #cell: Cell
  readonly #metrics: CellMetrics
  /** The message that is being timed; a primitive is told by how many are ahead of it. */
  #sampled: unknown
  #ahead = 0
  #since = 0
  constructor(inner: FrontableQueue, cell: Cell, metrics: CellMetrics) {
    this.#inner = inner
    this.#cell = cell
    this.#metrics = metrics
  }
  get size(): number {
    return this.#inner.size
  }
  push(message: unknown, meta: unknown): void {
    const metrics = this.#metrics
    if (metrics.enqueued % sampleEvery === 0 && (this.#sampled === undefined || this.#inner.size === 0)) {
      this.#sampled = message
      this.#ahead = this.#inner.size
      this.#since = this.#cell.host.runtime.now()
    }
    metrics.arrived()
    this.#inner.push(message, meta)
    const { size } = this.#inner
    if (size > metrics.peak) metrics.peak = size
    this.#note(size)
  }
  unshift(message: unknown, meta: unknown): void {
    this.#inner.unshift(message, meta)
  }
  shift(): unknown {
    const message = this.#inner.shift()
    this.meta = this.#inner.meta
    const sampled = this.#sampled
    if (sampled !== undefined && this.#isIt(message, sampled)) {
      this.#sampled = undefined
      this.#metrics.queueTime.add(this.#cell.host.runtime.now() - this.#since)
    }
    this.#note(this.#inner.size)
    return message
  }
  #isIt(message: unknown, sampled: unknown): boolean {
    if (message === sampled && typeof message === 'object') return true
    if (--this.#ahead >= 0) return false
    if (typeof sampled !== 'object') return message === sampled
    // Dropped by a policy, it will never come; overtaken by others, it will come late.
    if (this.#ahead < -longestWait) this.#sampled = undefined
    return false
  }
  /** The default mailbox has no rules of its own that would notice. */
  #note(size: number): void {
    if (this.#cell.options.mailbox?.capacity === undefined) notePressure(this.#cell, size)
  }
  hasRoom(): boolean {
    return this.#inner.hasRoom?.() ?? true
  }
  wait(offer: WaitingOffer): void {
    this.#inner.wait?.(offer)
  }
  endWaits(cause: Error): void {
    this.#inner.endWaits?.(cause)
  }
}
