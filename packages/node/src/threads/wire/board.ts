// What a thread shows of itself in shared memory, where it can be read also when it hangs or is gone: that it lives,
// whose turn it is and on which message, its ledger and its counts as of the last time something left it, its work as of its last beat.
//
//   numbers  │ beat │ type │ words │ working │ patience │   counters │ sent │ handled │ … │ uid │   counts, work │ … │   words │ length, text … │

import type { LedgerCounts } from './ledger-shape.ts'
import { ledgerFrom, type Running, shownFields as fields, type Signs, type SignsSeen, type Vitals } from './signs.ts'
import { countsLength, workLength } from './tally.ts'

const numbers = 8
const counters = 16
const countsAt = numbers * 4 + counters * 8
const workAt: number = countsAt + countsLength * 8
const wordsAt: number = workAt + workLength * 8
const wordBytes = 32 * 1024

const beat = 0
const type = 1
const wordsUsed = 2
const working = 3
/** 0 says nothing, and below 0 is for ever. */
const patienceAt = 4
const longest = 2 ** 31 - 1

const uidAt = fields.length
const innerAt = uidAt + 1
const queuedAt = uidAt + 2
const busyAt = uidAt + 3
const delayAt = uidAt + 4
const actorsAt = uidAt + 5

export function makeBoard(): SharedArrayBuffer {
  return new SharedArrayBuffer(wordsAt + wordBytes)
}

export class Board implements Signs, SignsSeen {
  readonly #numbers: Int32Array
  readonly #counters: Float64Array
  readonly #words: Buffer
  readonly lastCounts: Float64Array
  readonly lastWork: Float64Array
  readonly #ids = new Map<string, number>()
  #lastType: string | undefined
  #lastId = 0

  constructor(memory: SharedArrayBuffer) {
    this.#numbers = new Int32Array(memory, 0, numbers)
    this.#counters = new Float64Array(memory, numbers * 4, counters)
    this.lastCounts = new Float64Array(memory, countsAt, countsLength)
    this.lastWork = new Float64Array(memory, workAt, workLength)
    this.#words = Buffer.from(memory, wordsAt, wordBytes)
  }

  // What the thread writes.

  alive(): void {
    Atomics.add(this.#numbers, beat, 1)
  }
  turn(inner: number, hosted: number): void {
    this.#counters[innerAt] = inner
    this.#counters[uidAt] = hosted
    this.#numbers[type] = 0
    this.#numbers[working] = 1
  }
  idle(): void {
    this.#numbers[working] = 0
  }
  message(name: string): void {
    if (name !== this.#lastType) {
      this.#lastType = name
      this.#lastId = this.#idOf(name)
    }
    this.#numbers[type] = this.#lastId
  }
  /** Names are written where the other side can read them before they are first used. */
  #idOf(name: string): number {
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    const at = this.#numbers[wordsUsed]!
    const length = Buffer.byteLength(name)
    if (at + 2 + length > wordBytes || length > 255) return 0
    this.#words[at] = length
    this.#words.write(name, at + 1, 'utf8')
    this.#numbers[wordsUsed] = at + 1 + length
    // 0 says that it is not known.
    this.#ids.set(name, at + 1)
    return at + 1
  }
  patience(ms: number): void {
    Atomics.store(this.#numbers, patienceAt, ms === Infinity ? -1 : Math.min(ms, longest))
  }
  ledger(ledger: LedgerCounts): void {
    for (let i = 0; i < fields.length; i++) this.#counters[i] = ledger[fields[i]!]
  }
  counts(counts: readonly number[]): void {
    // At every flush: a loop is several times as fast as `set` from an array.
    for (let i = 0; i < countsLength; i++) this.lastCounts[i] = counts[i]!
  }
  work(work: readonly number[]): void {
    this.lastWork.set(work)
  }
  vitals(vitals: Vitals): void {
    this.#counters[queuedAt] = vitals.queued
    this.#counters[busyAt] = vitals.busy
    this.#counters[delayAt] = vitals.loopDelay
    this.#counters[actorsAt] = vitals.actors
  }

  // What others read.

  get beats(): number {
    return Atomics.load(this.#numbers, beat)
  }
  get hangAfter(): number | undefined {
    const shown = Atomics.load(this.#numbers, patienceAt)
    return shown === 0 ? undefined : shown < 0 ? Infinity : shown
  }
  get running(): Running {
    const id = Atomics.load(this.#numbers, type)
    const at = id - 1
    const message = id === 0 ? undefined : this.#words.toString('utf8', at + 1, at + 1 + this.#words[at]!)
    return { uid: this.#counters[uidAt]!, inner: this.#counters[innerAt]!, message }
  }
  get doing(): string {
    const { message } = this.running
    return message === undefined ? '' : `, since it took a ${message}`
  }
  get atWork(): boolean {
    return Atomics.load(this.#numbers, working) === 1
  }
  get lastLedger(): LedgerCounts {
    return ledgerFrom(this.#counters)
  }
  get lastVitals(): Vitals {
    return {
      queued: this.#counters[queuedAt]!,
      busy: this.#counters[busyAt]!,
      loopDelay: this.#counters[delayAt]!,
      actors: this.#counters[actorsAt]!,
    }
  }
}
