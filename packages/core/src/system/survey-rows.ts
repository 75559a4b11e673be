// What a survey knows of each actor, as columns under one index. Columns grow by doubling and are cut to their length at the end.

import type { Cell } from '../cell/turn/cell.ts'
import type { TurnCount } from '../cell/turn/stirred.ts'
import type { Phase } from '../values/phase.ts'

/** The phases as numbers of the column `phase`. */
export const phaseNames: readonly Phase[] = [
  'created',
  'starting',
  'running',
  'suspended',
  'failed',
  'restarting',
  'stopping',
  'stopped',
  'terminated',
]

/** Of each actor, under one index. */
export interface Rows {
  readonly length: number
  readonly uid: Float64Array
  /** The uid of its parent; 0 at the top. */
  readonly parent: Float64Array
  /** Messages and signals handled since somebody looks. */
  readonly processed: Float64Array
  /** Milliseconds that its turns took since. Of one of whom only messages are counted, because too many have turns: what so many take on average. */
  readonly busy: Float64Array
  /** Of such a one as many as messages. */
  readonly turns: Float64Array
  /** For how many milliseconds a handler is pending; NaN where none is. */
  readonly pending: Float64Array
  readonly queued: Uint32Array
  readonly stashed: Uint32Array
  readonly timers: Uint32Array
  readonly incarnation: Uint32Array
  /** An index into `phaseNames`. */
  readonly phase: Uint8Array
  /** 1: it only stands here for one on another thread, which tells of it too; `queued` is then what waits to go there. */
  readonly stub: Uint8Array
}

/** Rows that may be left at the end of columns. */
const spare = 1024

type Columns = { -readonly [K in keyof Rows]: Rows[K] }

/** Fields by name: what is put together by a loop is looked up by hash ever after. */
function columnsOf(length: number): Columns {
  return {
    length,
    uid: new Float64Array(length),
    parent: new Float64Array(length),
    processed: new Float64Array(length),
    busy: new Float64Array(length),
    turns: new Float64Array(length),
    pending: new Float64Array(length),
    queued: new Uint32Array(length),
    stashed: new Uint32Array(length),
    timers: new Uint32Array(length),
    incarnation: new Uint32Array(length),
    phase: new Uint8Array(length),
    stub: new Uint8Array(length),
  }
}

/** The first `length` of all of them. */
function cut(from: Columns, length: number): Columns {
  return {
    length,
    uid: from.uid.subarray(0, length),
    parent: from.parent.subarray(0, length),
    processed: from.processed.subarray(0, length),
    busy: from.busy.subarray(0, length),
    turns: from.turns.subarray(0, length),
    pending: from.pending.subarray(0, length),
    queued: from.queued.subarray(0, length),
    stashed: from.stashed.subarray(0, length),
    timers: from.timers.subarray(0, length),
    incarnation: from.incarnation.subarray(0, length),
    phase: from.phase.subarray(0, length),
    stub: from.stub.subarray(0, length),
  }
}
function copied(from: Columns, length: number): Columns {
  const columns = columnsOf(length)
  const source = cut(from, Math.min(length, from.length))
  columns.uid.set(source.uid)
  columns.parent.set(source.parent)
  columns.processed.set(source.processed)
  columns.busy.set(source.busy)
  columns.turns.set(source.turns)
  columns.pending.set(source.pending)
  columns.queued.set(source.queued)
  columns.stashed.set(source.stashed)
  columns.timers.set(source.timers)
  columns.incarnation.set(source.incarnation)
  columns.phase.set(source.phase)
  columns.stub.set(source.stub)
  return columns
}

export class RowWriter {
  readonly #price: number
  #columns: Columns
  #size = 0

  /** For about so many; `price` is what a message takes of one that has no account. */
  constructor(expected = 256, price = 0) {
    this.#columns = columnsOf(Math.max(256, expected))
    this.#price = price
  }

  /** What is counted of it is an account, or how many messages it handled. Returns whether something about it may change without a turn of its own. */
  add(cell: Cell, count: TurnCount | number | undefined, now: number): boolean {
    if (this.#size === this.#columns.length) this.#columns = copied(this.#columns, this.#size * 2)
    const columns = this.#columns
    const at = this.#size++
    const { ref, extras } = cell
    const phase = cell.phaseSeen
    const queued = cell.queuedMessages
    columns.uid[at] = ref.uid
    columns.parent[at] = ref.parent?.uid ?? 0
    columns.phase[at] = phaseNames.indexOf(phase)
    columns.queued[at] = queued
    columns.stub[at] = cell.endsElsewhere ? 1 : 0
    columns.pending[at] = NaN
    if (typeof count === 'number') {
      columns.processed[at] = columns.turns[at] = count
      columns.busy[at] = count * this.#price
    } else if (count !== undefined) {
      columns.processed[at] = count.processed
      columns.busy[at] = count.busy
      columns.turns[at] = count.turns
    }
    if (extras === undefined) return queued > 0 || phase !== 'running'
    const { pending, stash } = extras
    const stashed = stash?.size ?? 0
    if (pending !== undefined) columns.pending[at] = Math.max(0, now - pending.since)
    columns.stashed[at] = stashed
    columns.timers[at] = extras.timers?.timers.size ?? 0
    columns.incarnation[at] = extras.incarnation
    return queued > 0 || stashed > 0 || phase !== 'running' || pending !== undefined || extras.asked !== undefined || extras.asking !== undefined
  }

  rows(): Rows {
    const columns = this.#columns
    // To copy all for the sake of a few that are left would take longer than to keep them.
    return columns.length - this.#size > spare ? copied(columns, this.#size) : cut(columns, this.#size)
  }
  /** Messages in the mailbox of the one that was added last. */
  get lastQueued(): number {
    return this.#columns.queued[this.#size - 1]!
  }
}
