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
  /** Milliseconds that its turns took since. */
  readonly busy: Float64Array
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

const doubles = ['uid', 'parent', 'processed', 'busy', 'turns', 'pending'] as const
const wholes = ['queued', 'stashed', 'timers', 'incarnation'] as const
const bytes = ['phase', 'stub'] as const

type Columns = { -readonly [K in keyof Rows]: Rows[K] }

function makeColumns(length: number, from?: Columns): Columns {
  const columns = { length } as Record<string, unknown>
  const make = (names: readonly string[], Kind: new (length: number) => Float64Array | Uint32Array | Uint8Array): void => {
    for (const name of names) {
      const column = new Kind(length)
      const before = from?.[name as 'uid']
      if (before !== undefined) column.set(before.length > length ? before.subarray(0, length) : before)
      columns[name] = column
    }
  }
  make(doubles, Float64Array)
  make(wholes, Uint32Array)
  make(bytes, Uint8Array)
  return columns as unknown as Columns
}

export class RowWriter {
  #columns = makeColumns(256)
  #size = 0

  /** Whether something about it may change without a turn of its own. */
  add(cell: Cell, count: TurnCount | undefined, now: number): boolean {
    if (this.#size === this.#columns.length) this.#columns = makeColumns(this.#size * 2, this.#columns)
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
    if (count !== undefined) {
      columns.processed[at] = count.processed
      columns.busy[at] = count.busy
      columns.turns[at] = count.turns
    }
    if (extras === undefined) return queued > 0 || phase !== 'running'
    const { pending, stash } = extras
    const stashed = stash?.size ?? 0
    if (pending !== undefined) columns.pending[at] = Math.max(0, now - pending.since)
    columns.stashed[at] = stashed
    columns.timers[at] = extras.timers?.size ?? 0
    columns.incarnation[at] = extras.incarnation
    return queued > 0 || stashed > 0 || phase !== 'running' || pending !== undefined || extras.asked !== undefined || extras.asking !== undefined
  }

  rows(): Rows {
    return makeColumns(this.#size, this.#columns)
  }
}
