// Where each id stands, as LMDB keeps it: one small record per id, read and written by every append.

import { kindOf, type Head, type ListedId, type Snapshot, type StoredState } from '../../values/stored.ts'
import { afterAll, lastNumber, makeRecord, numberKey, type Opened, readText, textKey } from './bytes.ts'
import type { LmdbFile, TableView } from './file.ts'

/** What the record of an id says. */
export interface KeptHead {
  readonly seq: number
  readonly deleted: number
  /** Whether it has a state, or snapshots: where not, nobody looks for them. */
  readonly state: boolean
  readonly snapshots: boolean
}

const unknown: KeptHead = { seq: 0, deleted: 0, state: false, snapshots: false }

function read({ head }: Opened): KeptHead {
  const [seq, deleted, flags] = head as [number, number, number]
  return { seq, deleted, state: (flags & 1) !== 0, snapshots: (flags & 2) !== 0 }
}

export function keptHead(file: TableView, id: string, key: Buffer = textKey(id)): KeptHead {
  const found = file.tables.heads.get(key, () => id)
  return found === undefined ? unknown : read(found)
}

export function putHead(file: LmdbFile, key: Buffer, { seq, deleted, state, snapshots }: KeptHead): void {
  file.tables.heads.put(key, makeRecord([seq, deleted, (state ? 1 : 0) | (snapshots ? 2 : 0)]))
}

export function readSnapshot(key: Buffer, { head, text }: Opened): Snapshot {
  const [version, time] = head as [number, number]
  return { seq: lastNumber(key), version, data: text, time }
}

/** The snapshots of an id below a number, newest first; those that cannot be read are passed over, for others stand for as much. */
export function* snapshotsBelow(file: LmdbFile, id: string, seq: number, report?: (damage: unknown) => void): Generator<Snapshot> {
  if (seq <= 0) return
  const prefix = textKey(id)
  const { snapshots } = file.tables
  for (const { key, value } of snapshots.range({ start: numberKey(prefix, seq - 1), end: prefix, reverse: true })) {
    let record: Opened
    try {
      record = snapshots.open(key, value, () => `${id}#${lastNumber(key)}`)
    } catch (damage) {
      report?.(damage)
      continue
    }
    yield readSnapshot(key, record)
  }
}

export function readState(file: TableView, id: string, key: Buffer): StoredState | undefined {
  const found = file.tables.states.get(key, () => id)
  if (found === undefined) return undefined
  const [revision, version, time, subject, there] = found.head as [number, number, number, string | null, boolean]
  return { revision, version, data: there ? found.text : undefined, subject: subject ?? undefined, time }
}

function fullHead(file: LmdbFile, id: string, report: (damage: unknown) => void): Head {
  const key = textKey(id)
  const kept = keptHead(file, id, key)
  const [newest] = kept.snapshots ? snapshotsBelow(file, id, Infinity, report) : []
  return { id, seq: kept.seq, deleted: kept.deleted, snapshot: newest, state: kept.state ? readState(file, id, key) : undefined }
}

/** The same, or that it cannot be read. */
export function headOrDamage(file: LmdbFile, id: string, report: (damage: unknown) => void): Head {
  try {
    return fullHead(file, id, report)
  } catch (damage) {
    return { id, seq: 0, deleted: 0, snapshot: undefined, state: undefined, damage: damage as Error }
  }
}

/** Ids in order. */
export function listIds(
  file: LmdbFile,
  { kind, after, most }: { readonly kind?: string | undefined; readonly after?: string | undefined; readonly most: number },
): ListedId[] {
  const listed: ListedId[] = []
  const prefix = kind === undefined ? undefined : textKey(`${kind}/`).subarray(0, -2)
  const range: { start?: Buffer; end?: Buffer } = {}
  if (prefix !== undefined) [range.start, range.end] = [prefix, afterAll(prefix)]
  if (after !== undefined) {
    const next = afterAll(textKey(after))
    if (range.start === undefined || next.compare(range.start) > 0) range.start = next
  }
  if (range.start !== undefined && range.end !== undefined && range.start.compare(range.end) >= 0) return listed
  for (const { key, value } of file.tables.heads.range({ ...range, limit: most })) {
    const id = readText(key).text
    const { seq, deleted, state, snapshots } = read(file.tables.heads.open(key, value, () => id))
    const revision = state ? readState(file, id, key)?.revision : undefined
    listed.push({
      id,
      seq,
      deleted,
      snapshots: snapshots ? [...snapshotsBelow(file, id, Infinity)].map((snapshot) => snapshot.seq) : [],
      revision,
    })
  }
  return kind === undefined ? listed : listed.filter(({ id }) => kindOf(id) === kind)
}
