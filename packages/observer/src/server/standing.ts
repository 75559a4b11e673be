// How each actor stands, from round to round: what the survey says, how fast it goes, and the worst that can be said of it. One for all
// streams of a page; kept only while one is open. It has columns beside those of the picture, under the same rows, so that a hundred
// thousand actors that all did something cost a pass over numbers; and only what a round tells of is touched.

import { phaseNames } from '@troupe/core/internal'
import type { Finding } from '../findings/finding.ts'
import { Picture, type SeenActor } from '../survey/picture.ts'
import type { Update } from '../source/update.ts'
import type { Cells } from '../feed/cells.ts'
import { Ages } from './ages.ts'

export interface Stand {
  readonly seen: SeenActor
  /** Messages in a second, and milliseconds of turns in a second. */
  readonly rate: number
  readonly load: number
  /** Turns in a second, and by how many its mailbox grew in a second. */
  readonly turns: number
  readonly growth: number
  /** An index into `states`. */
  readonly state: number
}

/** A mailbox of so many is behind. */
const behindFrom = 100
const pendingLong = 10_000
const idle = 0
const busy = 1
const behind = 2
const trouble = 3

/** Phases in which it handles nothing though it should. */
const ill = Uint8Array.from(phaseNames, (phase) => (phase === 'failed' || phase === 'suspended' || phase === 'restarting' ? 1 : 0))

/** What is kept of each, under the row of the picture: whose it was in the last round, what was known of it then, and how it stands. */
class Records {
  readonly uid: Float64Array
  readonly processed: Float64Array
  readonly busy: Float64Array
  readonly turns: Float64Array
  readonly queued: Float64Array
  readonly rate: Float64Array
  readonly load: Float64Array
  readonly pace: Float64Array
  readonly growth: Float64Array
  readonly state: Uint8Array
  constructor(length: number, from?: Records) {
    const column = (of: Float64Array | undefined): Float64Array => {
      const made = new Float64Array(length)
      if (of !== undefined) made.set(of)
      return made
    }
    this.uid = column(from?.uid)
    this.processed = column(from?.processed)
    this.busy = column(from?.busy)
    this.turns = column(from?.turns)
    this.queued = column(from?.queued)
    this.rate = column(from?.rate)
    this.load = column(from?.load)
    this.pace = column(from?.pace)
    this.growth = column(from?.growth)
    this.state = new Uint8Array(length)
    if (from !== undefined) this.state.set(from.state)
  }
}

const nothing: Cells = { whole: false, gone: [], uids: [], state: new Uint8Array(0) }

export class Standing {
  /** Messages in all mailboxes. */
  queued = 0
  at = 0
  /** The number of the last round that is in it, and what that one changed. */
  seq = 0
  changes: Cells = nothing
  /** Another one as soon as something new is known of any actor: what was made of it before is out of date. */
  version = 0
  readonly ages: Ages = new Ages()
  #picture = new Picture()
  #records = new Records(256)
  #size = 0
  /** Rows that had something to do in the last round, or were marked by a finding. */
  #stirred: readonly Uint32Array[] = []

  /** What is known of all actors. */
  get picture(): Picture {
    return this.#picture
  }
  /** Under the rows of the picture; not to be kept from one round to the next. */
  get records(): Readonly<Pick<Records, 'rate' | 'load' | 'state'>> {
    return this.#records
  }
  /** How many actors there are; what they all stand below is none of them. */
  get size(): number {
    return this.#size - (this.#picture.children.get(0) ?? 0)
  }

  take(update: Update, picture: Picture): void {
    if (update.surveyed === false) {
      this.seq = update.seq
      this.changes = nothing
      return
    }
    this.version++
    const passed = Math.max(1, update.at - this.at) / 1000
    const first = this.at === 0
    this.#picture = picture
    this.at = update.at
    this.seq = update.seq
    const capacity = picture.columns.uid.length
    if (this.#records.uid.length < capacity) this.#records = new Records(capacity, this.#records)
    const gone = this.#forget(picture)
    const marks = marksOf(update.findings, picture)
    const changed: number[] = []
    if (first) {
      // Others have looked before this page did: what it has not heard is in the picture.
      for (let row = 0; row < picture.used; row++) if (picture.columns.uid[row] !== 0) this.#tell(row, passed, marks, changed, first)
    } else {
      const { told } = picture
      for (let i = 0; i < told.length; i++) if (picture.columns.uid[told[i]!] !== 0) this.#tell(told[i]!, passed, marks, changed, first)
      for (const rows of this.#stirred) for (let i = 0; i < rows.length; i++) this.#rest(rows[i]!, marks, changed)
    }
    // A finding colours also those that nothing happened to.
    for (const [row, mark] of marks)
      if (this.#records.uid[row] !== 0 && this.#records.state[row]! < mark) {
        this.#records.state[row] = mark
        changed.push(row)
      }
    this.#stirred = [picture.told.slice(), Uint32Array.from(marks.keys())]
    this.changes = this.#cells(false, gone, changed)
  }

  clear(): void {
    this.version++
    this.#picture = new Picture()
    this.#records = new Records(256)
    this.#stirred = []
    this.ages.clear()
    this.queued = this.at = this.seq = this.#size = 0
  }

  /** One of them; undefined of one that is not known. */
  of(uid: number): Stand | undefined {
    const row = this.#picture.rowOf(uid)
    return row === undefined || this.#records.uid[row] !== uid ? undefined : this.in(row)
  }
  in(row: number): Stand {
    const { rate, load, pace, growth, state } = this.#records
    return {
      seen: this.#picture.actorIn(row),
      rate: rate[row]!,
      load: load[row]!,
      turns: pace[row]!,
      growth: growth[row]!,
      state: state[row]!,
    }
  }

  /** All of them as they are now. */
  whole(): Cells {
    const rows: number[] = []
    for (let row = 0; row < this.#records.uid.length; row++) if (this.#records.uid[row] !== 0) rows.push(row)
    return this.#cells(true, [], rows)
  }

  #cells(whole: boolean, gone: readonly number[], rows: readonly number[]): Cells {
    const { uid, state } = this.#records
    const { parent } = this.#picture.columns
    // A column sorts by itself, and quicker than by a function. Twice in it is whoever was told of and then marked; what stands at the top is no actor.
    const sorted = Float64Array.from(rows, (row) => (parent[row] === 0 ? 0 : uid[row]!)).sort()
    const uids: number[] = []
    for (let i = 0; i < sorted.length; i++) if (sorted[i] !== 0 && sorted[i] !== sorted[i - 1]) uids.push(sorted[i]!)
    return { whole, gone, uids, state: Uint8Array.from(uids, (one) => state[this.#picture.rowOf(one)!]!) }
  }

  #tell(row: number, passed: number, marks: Marks, changed: number[], first: boolean): void {
    const { columns } = this.#picture
    const r = this.#records
    const known = r.uid[row] !== 0
    const queued = columns.queued[row]! + columns.waiting[row]!
    const processed = columns.processed[row]!
    const turns = columns.turns[row]!
    const worn = columns.busy[row]!
    const before = r.queued[row]!
    this.queued += queued - before
    if (queued > 0 || before > 0) this.ages.take({ uid: columns.uid[row]!, queued, processed }, this.at, !first)
    let worked: boolean
    if (known) {
      worked = turns > r.turns[row]! || processed > r.processed[row]!
      r.rate[row] = Math.max(0, processed - r.processed[row]!) / passed
      r.load[row] = Math.max(0, worn - r.busy[row]!) / passed
      r.pace[row] = Math.max(0, turns - r.turns[row]!) / passed
      r.growth[row] = (queued - before) / passed
    } else {
      worked = turns > 0 && columns.round[row] === this.#picture.round
      r.uid[row] = columns.uid[row]!
      r.rate[row] = r.load[row] = r.pace[row] = r.growth[row] = 0
      this.#size++
    }
    r.processed[row] = processed
    r.busy[row] = worn
    r.turns[row] = turns
    r.queued[row] = queued
    const state = this.#stateOf(row, worked, marks)
    if (known && r.state[row] === state) return
    r.state[row] = state
    changed.push(row)
  }

  /** It had something to do in the last round, and in this one not. */
  #rest(row: number, marks: Marks, changed: number[]): void {
    const r = this.#records
    if (r.uid[row] === 0 || this.#picture.columns.round[row] === this.#picture.round) return
    r.rate[row] = r.load[row] = r.pace[row] = r.growth[row] = 0
    const state = this.#stateOf(row, false, marks)
    if (state === r.state[row]) return
    r.state[row] = state
    changed.push(row)
  }

  #stateOf(row: number, worked: boolean, marks: Marks): number {
    const { phase, queued, waiting, pendingSince } = this.#picture.columns
    const since = pendingSince[row]!
    const pending = !Number.isNaN(since)
    let state = worked || pending ? busy : idle
    if (queued[row]! + waiting[row]! > behindFrom || (pending && this.at - since > pendingLong)) state = behind
    if (ill[phase[row]!] === 1) state = trouble
    return marks.size === 0 ? state : Math.max(state, marks.get(row) ?? idle)
  }

  /** Those whose row is nobody's now, or another's. */
  #forget({ columns }: Picture): number[] {
    const gone: number[] = []
    const { uid, queued } = this.#records
    for (let row = 0; row < uid.length; row++) {
      const was = uid[row]!
      if (was === 0 || was === columns.uid[row]) continue
      this.queued -= queued[row]!
      queued[row] = uid[row] = 0
      this.#size--
      this.ages.forget(was)
      gone.push(was)
    }
    return gone.sort((a, b) => a - b)
  }
}

/** By row. */
type Marks = ReadonlyMap<number, number>

function marksOf(findings: readonly Finding[], picture: Picture): Marks {
  const marks = new Map<number, number>()
  for (const { severity, uids } of findings)
    for (const uid of uids) {
      const row = picture.rowOf(uid)
      if (row !== undefined) marks.set(row, Math.max(marks.get(row) ?? idle, severity === 'error' ? trouble : behind))
    }
  return marks
}
