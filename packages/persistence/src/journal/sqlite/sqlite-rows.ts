// Checksums of rows, and rows as values. A sum is a CRC-32 over the table's name and all columns: a row that was moved to another table or
// under another key does not match either. Used by the worker too: nothing here needs core.

import { crc32 } from 'node:zlib'
import type { SqliteRow, SqliteValue } from '@troupe/sqlite'
import { toText } from '../postgres/text.ts'

export type TableName = 'meta' | 'journal_state' | 'epochs' | 'heads' | 'runs' | 'packs' | 'states' | 'snapshots' | 'timers' | 'offsets'

/** Columns of each table that a sum covers, in their order; the long one last. */
const covered: Readonly<Record<TableName, readonly string[]>> = {
  meta: ['key', 'value'],
  journal_state: ['commits', 'position', 'ids', 'events', 'snapshots', 'timers', 'epochs', 'offsets'],
  epochs: ['scope', 'epoch', 'holder'],
  heads: ['id', 'entity_type', 'seq', 'deleted', 'revision'],
  runs: ['position', 'id', 'entity_type', 'first', 'last', 'head', 'data'],
  packs: ['id', 'first', 'last', 'head', 'data'],
  states: ['id', 'revision', 'version', 'time', 'subject', 'data'],
  snapshots: ['id', 'seq', 'version', 'time', 'data'],
  timers: ['id', 'key', 'due'],
  offsets: ['projection', 'reached'],
}

/** The sum of a row with these columns, given in the order of `covered`. */
export function sumOf(table: TableName, ...values: readonly SqliteValue[]): number {
  let text: string = table
  const last = values.length - 1
  // No column has a NUL, so that columns cannot run into each other; null is told from an empty text.
  for (let i = 0; i < last; i++) text += values[i] === null ? '\0\u0001n' : `\0${String(values[i])}`
  const end = values[last]
  return crc32(end === null ? '\u0001n' : String(end), crc32(`${text}\0`))
}

/** The sum of a text that was put together as `sumOf` does. */
export function crcOf(text: string): number {
  return crc32(text)
}

/** A row that is not what was written. */
export class DamagedRow extends Error {
  readonly table: string
  readonly record: string
  constructor(table: string, record: string, problem: string) {
    super(problem)
    this.table = table
    this.record = record
  }
}

/** The row, if its sum matches. Fails with `DamagedRow`. */
export function checked(table: TableName, row: SqliteRow, record: () => string): SqliteRow {
  if (sumOf(table, ...covered[table].map((column) => row[column] ?? null)) !== row['crc'])
    throw new DamagedRow(table, record(), 'its checksum does not match')
  return row
}

/** Where an id stands. */
export interface HeadRow {
  readonly seq: number
  readonly deleted: number
  /** Of its state; 0 if it has none. */
  readonly revision: number
}

/** The entity type of an id, as it is stored. */
export function entityTypeOf(id: string): string {
  const slash = id.indexOf('/')
  return slash < 0 ? id : id.slice(0, slash)
}

/** A text that can be null, as it is stored. */
export function optional(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}

/** The longest id, tag, timer, scope or projection in bytes: a longer one would not fit into a page of an index with others. */
const longestName = 1000

/** Why a text cannot be a name here. */
export function unfitName(what: string, text: string): string | undefined {
  if (text.length * 3 <= longestName || Buffer.byteLength(toText(text)) <= longestName) return undefined
  return `The ${what} ${JSON.stringify(text.slice(0, 40))}… is longer than the ${longestName} bytes that a name may have.`
}
