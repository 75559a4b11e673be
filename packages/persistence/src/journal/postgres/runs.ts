// Rows of runs: as many of a query as one answer should carry, and the events that are in one. Events up to `deleted` of the head are in a
// row as long as one after them is, and count as gone.

import { JournalDamaged } from '../../values/errors.ts'
import type { FoundEvent, StoredEvent } from '../../values/stored.ts'
import type { Connections } from './connection.ts'
import { readRun } from './run-text.ts'
import { fromText } from './text.ts'

export interface RunRow {
  readonly id: string
  readonly first: string
  readonly last: string
  readonly position: string
  readonly pos: number
  readonly head: string
  readonly data: string
  /** None where there is no head. */
  readonly deleted: string | null
  /** How many runs the query has: more than there are rows where they are too long for one answer. */
  readonly runs: string
}

/** Bytes of one answer: the run with which there are more is the last one. */
export const bytesAtOnce = 4_000_000

/**
 * The first runs of a query for rows of the table, by some of its columns: those before which there are fewer events and bytes than an answer should
 * have, so that there is one always. What is long is not looked at for that.
 */
export function bounded(s: string, query: string, order: readonly string[], events: number): string {
  return `select b.id, b.first, b.last, b.position, b.pos, b.head, b.data, b.runs, (select deleted from ${s}.heads h where h.id = b.id) as deleted from (
    select q.*, count(*) over () as runs, sum((q.last - q.first + 1)::int) over w as events,
      sum(octet_length(q.head) + octet_length(q.data)) over w as bytes from (${query}) q
    window w as (order by ${order.map((column) => `q.${column}`).join(', ')} rows between unbounded preceding and 1 preceding)
  ) b where coalesce(b.events, 0) < ${events} and coalesce(b.bytes, 0) < ${bytesAtOnce} order by ${order.map((column) => `b.${column}`).join(', ')}`
}

/** A run as a row has it. */
export class PlacedRun {
  readonly id: string
  readonly first: number
  readonly last: number
  readonly deleted: number
  readonly #s: string
  readonly #name: string
  readonly #row: RunRow

  constructor({ name }: Connections, s: string, row: RunRow) {
    this.#name = name
    this.#s = s
    this.#row = row
    this.id = fromText(row.id)
    this.first = Number(row.first)
    this.last = Number(row.last)
    this.deleted = Number(row.deleted)
  }

  get where(): string {
    return `${this.#s}.runs, ${this.id}#${this.first}`
  }

  /** All of its events. Throws `JournalDamaged`. */
  events(): StoredEvent[] {
    try {
      return readRun(this.#row.head, this.#row.data, this.last - this.first + 1)
    } catch (cause) {
      throw new JournalDamaged(this.#name, this.where, (cause as Error).message, cause)
    }
  }

  /** Those that were not deleted, come after a place in the order of all, and have a tag if one is given. Throws `JournalDamaged`. */
  found([after, pos]: Place, tag: string | undefined): FoundEvent[] {
    const { id, first, last, deleted } = this
    const position = Number(this.#row.position)
    /** The place of the event before the first one. */
    const before = this.#row.pos - (last - first + 1)
    const skip = Math.max(0, deleted + 1 - first, after === position ? pos - before : 0)
    const found: FoundEvent[] = []
    for (const [i, { type, version, data, tags, subject, time }] of this.events().entries()) {
      if (i < skip || (tag !== undefined && !tags.includes(tag))) continue
      // A spread would take several times as long.
      found.push({ type, version, data, tags, subject, time, id, seq: first + i, offset: `${position}.${before + i + 1}` })
    }
    return found
  }
}

/** The place of an event in the order of all: the position of its group, and its place there. */
export type Place = readonly [position: number, pos: number]
export const beginning: Place = [0, 0]

/** The place of the last event of a row. */
export function placeAfter({ position, pos }: RunRow): Place {
  return [Number(position), pos]
}
