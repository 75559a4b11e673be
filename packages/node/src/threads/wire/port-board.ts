// What a thread shows of itself where there is no shared memory: small notes by a port, which whoever wants to know reads at
// that moment. Whose turn it is cannot be shown so: a note for each message would cost more than the message.

import type { MessagePort } from 'node:worker_threads'
import type { LedgerCounts } from './ledger-shape.ts'
import { PortReader } from './port-reader.ts'
import { ledgerFrom, type Running, shownFields, type Signs, type SignsSeen, type Vitals } from './signs.ts'
import { countsLength, workLength } from './tally.ts'

type Note =
  | { readonly beat: true }
  | { readonly patience: number }
  | { readonly vitals: Vitals }
  | { readonly ledger: readonly number[] }
  | { readonly counts: readonly number[] }
  | { readonly work: readonly number[]; readonly atWork: boolean }

/** Notes of ledgers and counts that may lie there unread. A main thread that is later than that sees older ones, not a full memory. */
const most = 8192

export class PortSigns implements Signs {
  readonly #port: MessagePort
  readonly #came: PortReader<number>
  #shown: readonly number[] = []
  #counts: readonly number[] = []
  #unread = 0
  #working = false
  constructor(port: MessagePort) {
    this.#port = port
    this.#came = new PortReader(port, (read) => void (this.#unread -= read))
  }

  alive(): void {
    this.#note({ beat: true })
  }
  turn(): void {
    this.#working = true
  }
  idle(): void {
    this.#working = false
  }
  message(): void {}
  patience(ms: number): void {
    this.#note({ patience: ms })
  }
  vitals(vitals: Vitals): void {
    this.#note({ vitals })
  }
  ledger(ledger: LedgerCounts): void {
    if (this.#shown.length > 0 && shownFields.every((field, i) => ledger[field] === this.#shown[i])) return
    if (!this.#hasRoom()) return
    this.#shown = shownFields.map((field) => ledger[field])
    this.#note({ ledger: this.#shown })
  }
  counts(counts: readonly number[]): void {
    if (this.#counts.length > 0 && counts.every((n, i) => n === this.#counts[i])) return
    if (!this.#hasRoom()) return
    this.#counts = [...counts]
    this.#note({ counts: this.#counts })
  }
  work(work: readonly number[]): void {
    if (this.#hasRoom()) this.#note({ work, atWork: this.#working })
  }
  /** Whether one more may lie unread; then it does. */
  #hasRoom(): boolean {
    if (this.#unread >= most) this.#came.look()
    if (this.#unread >= most) return false
    this.#unread++
    return true
  }
  #note(note: Note): void {
    this.#port.postMessage(note, [])
  }
}

export class PortSignsSeen implements SignsSeen {
  readonly #port: MessagePort
  readonly #came: PortReader<Note>
  #beats = 0
  #hangAfter: number | undefined = undefined
  #vitals: Vitals = { queued: 0, busy: 0, loopDelay: 0, actors: 0 }
  #ledger: readonly number[] = shownFields.map(() => 0)
  #counts: readonly number[] = new Array<number>(countsLength).fill(0)
  #work: readonly number[] = new Array<number>(workLength).fill(0)
  #atWork = false
  #read = 0
  readonly running: Running = { uid: 0, inner: 0, message: undefined }
  readonly doing = '; what it was doing cannot be seen without shared memory'
  constructor(port: MessagePort) {
    this.#port = port
    this.#came = new PortReader(port, (note) => this.#take(note))
  }

  get beats(): number {
    this.#look()
    return this.#beats
  }
  get hangAfter(): number | undefined {
    this.#look()
    return this.#hangAfter
  }
  get lastVitals(): Vitals {
    this.#look()
    return this.#vitals
  }
  get lastLedger(): LedgerCounts {
    this.#look()
    return ledgerFrom(this.#ledger)
  }
  get lastCounts(): readonly number[] {
    this.#look()
    return this.#counts
  }
  get lastWork(): readonly number[] {
    this.#look()
    return this.#work
  }
  get atWork(): boolean {
    this.#look()
    return this.#atWork
  }

  #look(): void {
    this.#came.look()
    if (this.#read < most / 4) return
    this.#port.postMessage(this.#read, [])
    this.#read = 0
  }
  #take(note: Note): void {
    if (!('beat' in note) && !('vitals' in note) && !('patience' in note)) this.#read++
    if ('ledger' in note) this.#ledger = note.ledger
    else if ('counts' in note) this.#counts = note.counts
    else if ('work' in note) {
      this.#work = note.work
      this.#atWork = note.atWork
    } else if ('patience' in note) this.#hangAfter = note.patience
    else if ('vitals' in note) this.#vitals = note.vitals
    else this.#beats++
  }
}
