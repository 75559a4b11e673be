// Rows of a PostgreSQL journal as the values they stand for. Numbers of 64 bits come as text.

import { InvalidOption } from '@troupe/core'
import type { Head, Snapshot, StoredState } from '../../values/stored.ts'
import { beginning, type Place } from './runs.ts'
import { fromText } from './text.ts'

/** The place of the last event that was seen. */
export function readOffset(offset: string | undefined): Place {
  if (offset === undefined) return beginning
  const found = /^(\d{1,15})\.(\d{1,9})$/.exec(offset)
  if (found === null) throw new InvalidOption('after', offset, 'use an offset of this journal')
  return [Number(found[1]), Number(found[2])]
}

export interface SnapshotRow {
  readonly seq: string
  readonly version: string
  readonly data: string
  readonly time: number
}
export function snapshotOf({ seq, version, data, time }: SnapshotRow): Snapshot {
  return { seq: Number(seq), version: Number(version), data: fromText(data), time }
}

export interface HeadRow extends StateRow {
  readonly seq: string | null
  readonly deleted: string | null
  readonly p_seq: string | null
  readonly p_version: string
  readonly p_data: string
  readonly p_time: number
}
export interface StateRow {
  readonly revision: string | null
  readonly version: string
  readonly data: string | null
  readonly subject: string | null
  readonly time: number
}
export function headOf(id: string, row: HeadRow): Head {
  const snapshot = row.p_seq === null ? undefined : snapshotOf({ seq: row.p_seq, version: row.p_version, data: row.p_data, time: row.p_time })
  return { id, seq: Number(row.seq ?? 0), deleted: Number(row.deleted ?? 0), snapshot, state: stateOf(row) }
}
export function stateOf({ revision, version, data, subject, time }: StateRow): StoredState | undefined {
  if (revision === null) return undefined
  return { revision: Number(revision), version: Number(version), data: maybe(data), subject: maybe(subject), time }
}

function maybe(text: string | null): string | undefined {
  return text === null ? undefined : fromText(text)
}
