// What is read by id, in the thread of the actors: heads, which are compared with the tables they speak of, lists, and replay. Every read is a
// short transaction. Long ones are cut into slices, so that timers fire in between and no transaction stays open meanwhile.

import { resultCode, type SqliteRow, sqliteResult } from '@troupe/sqlite'
import type { Head, ListedId, Replayed, Snapshot, StoredEvent, StoredState } from '../../values/stored.ts'
import { nextTurn, sliceMs } from '../loop-slice.ts'
import { readRun } from '../postgres/run-text.ts'
import { fromText, toText } from '../postgres/text.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { eventsInPack, readPacks, readShortRuns } from './sqlite-packs.ts'
import { checked, DamagedRow, entityTypeOf, type HeadRow, sumOf } from './sqlite-rows.ts'

/** How many characters of events a slice holds at most. */
const sliceChars = 4_000_000

/** Says when a slice has lasted long enough. */
export class Slice {
  readonly #until = performance.now() + sliceMs
  readonly #most: number
  #chars = 0
  #events = 0
  constructor(most: number = Infinity) {
    this.#most = most
  }
  add(chars: number, events: number = 0): void {
    this.#chars += chars
    this.#events += events
  }
  get isOver(): boolean {
    return this.#events >= this.#most || this.#chars > sliceChars || performance.now() >= this.#until
  }
}

/** The head of an id, as it is stored. Fails with `DamagedRow`. */
export function headRow(file: SqliteFile, id: string): HeadRow | undefined {
  const row = file.sql('select * from heads where id = ?').get(id)
  return row === undefined ? undefined : (checked('heads', row, () => id) as unknown as HeadRow)
}

/** Where an id is, or that this cannot be told. An id that any table has is never taken for a new one. */
export function readHead(file: SqliteFile, id: string, onBadSnapshot: (damage: unknown) => void): Head {
  const key = toText(id)
  try {
    const head = headRow(file, key)
    if (head === undefined) checkUnknown(file, key)
    else checkHead(file, key, head)
    const state = head === undefined || head.revision === 0 ? undefined : readState(file, key)
    const snapshot = head === undefined ? undefined : snapshotBelow(file, key, Number.MAX_SAFE_INTEGER, onBadSnapshot)
    return { id, seq: head?.seq ?? 0, deleted: head?.deleted ?? 0, snapshot, state }
  } catch (cause) {
    return { id, seq: 0, deleted: 0, snapshot: undefined, state: undefined, damage: file.errorOf(cause) as Error }
  }
}
function checkUnknown(file: SqliteFile, id: string): void {
  for (const table of ['runs', 'states', 'snapshots', 'timers'])
    if (file.sql(`select 1 from ${table} where id = ? limit 1`).get(id) !== undefined)
      throw new DamagedRow('heads', id, `it is missing, and ${table} has rows of it`)
}
function checkHead(file: SqliteFile, id: string, { seq, deleted, revision }: HeadRow): void {
  const last = file.sql('select last from runs where id = ? order by first desc limit 1').get(id)?.['last'] as number | undefined
  if ((last ?? deleted) !== seq) throw new DamagedRow('runs', id, `its last event is ${last ?? 'missing'}, and its head says ${seq}`)
  const found = file.sql('select revision from states where id = ?').get(id)?.['revision'] as number | undefined
  if ((found ?? 0) !== revision) throw new DamagedRow('states', id, `its revision is ${found ?? 'missing'}, and its head says ${revision}`)
}
function readState(file: SqliteFile, id: string): StoredState {
  const row = checked('states', file.sql('select * from states where id = ?').get(id)!, () => id)
  const [revision, version, time] = [row['revision'], row['version'], row['time']] as [number, number, number]
  return { revision, version, data: text(row['data']), subject: text(row['subject']), time }
}
function text(value: unknown): string | undefined {
  return typeof value === 'string' ? fromText(value) : undefined
}

export function snapshotOf(row: SqliteRow): Snapshot {
  const { seq, version, data, time } = row as unknown as Snapshot
  return { seq, version, data: fromText(data), time }
}
/** The newest snapshot below a number that can be read; others are as good. */
export function snapshotBelow(file: SqliteFile, id: string, seq: number, onBad: (damage: unknown) => void): Snapshot | undefined {
  // At most two are kept.
  for (const row of file.sql('select * from snapshots where id = ? and seq < ? order by seq desc').all(id, seq))
    try {
      return snapshotOf(checked('snapshots', row, () => `${id}#${String(row['seq'])}`))
    } catch (cause) {
      onBad(file.errorOf(cause))
    }
  return undefined
}

/** Ids in order. */
export function listIds(
  file: SqliteFile,
  { kind, after, most }: { readonly kind?: string | undefined; readonly after?: string | undefined; readonly most: number },
): ListedId[] {
  const start = after === undefined ? '' : toText(after)
  const entityType = kind === undefined ? null : toText(kind)
  const rows =
    entityType === null
      ? file.sql('select * from heads where id > ? order by id limit ?').all(start, most)
      : file
          .sql('select * from heads where id > ? and id >= ? and id < ? and entity_type = ? order by id limit ?')
          .all(start, entityType, `${entityType}0`, entityType, most)
  return rows.map((row) => {
    const id = row['id'] as string
    const { seq, deleted, revision } = checked('heads', row, () => id) as unknown as HeadRow
    const snapshots = file.sql('select seq from snapshots where id = ? order by seq desc').all(id)
    return {
      id: fromText(id),
      seq,
      deleted,
      snapshots: snapshots.map((snapshot) => snapshot['seq'] as number),
      revision: revision === 0 ? undefined : revision,
    }
  })
}

/** The events of a row, if it is what was written. Fails with `DamagedRow`. */
export function eventsOf(row: SqliteRow): StoredEvent[] {
  return eventsOfId(row, row['id'] as string, row['entity_type'] as string)
}
/** The same for a row that was found by its id, which need not be read again. */
function eventsOfId(row: SqliteRow, id: string, entityType: string): StoredEvent[] {
  const { position, first, last, head, data } = row as unknown as RunColumns
  if (sumOf('runs', position, id, entityType, first, last, head, data) !== row['crc'])
    throw new DamagedRow('runs', `${id}#${first}`, 'its checksum does not match')
  try {
    return readRun(head, data, last - first + 1)
  } catch (cause) {
    throw new DamagedRow('runs', `${id}#${first}`, (cause as Error).message)
  }
}
interface RunColumns {
  readonly position: number
  readonly first: number
  readonly last: number
  readonly head: string
  readonly data: string
}

/** What is to be read of one id. */
interface Wanted {
  readonly id: string
  /** As it is stored. */
  readonly key: string
  next: number
  readonly last: number
  damage?: Error
}

/** The events of many ids, each after a number, up to what is there when it begins. */
export async function* replay(
  file: SqliteFile,
  from: readonly { readonly id: string; readonly after: number }[],
  batch: number,
  read: <T>(look: () => T) => T,
): AsyncGenerator<Replayed> {
  const wanted: Wanted[] = []
  while (wanted.length < from.length) {
    if (wanted.length > 0) await nextTurn()
    read(() => {
      const slice = new Slice()
      do wanted.push(wantedOf(file, from[wanted.length]!))
      while (wanted.length < from.length && !slice.isOver)
    })
  }
  let turn = performance.now()
  for (let at = 0; at < wanted.length;) {
    // About a batch at a time: events that are collected for longer outlive the young generation, and cost more to collect than to read.
    const parts: Replayed[] = []
    at = read(() => collect(file, wanted, at, batch, parts))
    for (const part of parts) yield part
    if (at >= wanted.length || performance.now() - turn < sliceMs) continue
    await nextTurn()
    turn = performance.now()
  }
}

function wantedOf(file: SqliteFile, { id, after }: { readonly id: string; readonly after: number }): Wanted {
  const key = toText(id)
  try {
    const head = headRow(file, key)
    if (head === undefined) checkUnknown(file, key)
    return { id, key, next: Math.max(after, head?.deleted ?? 0) + 1, last: head?.seq ?? 0 }
  } catch (cause) {
    return { id, key, next: 0, last: 0, damage: file.errorOf(cause) as Error }
  }
}

/** Reads for as long as a slice lasts; returns at which id to go on. */
function collect(file: SqliteFile, wanted: readonly Wanted[], from: number, batch: number, parts: Replayed[]): number {
  const slice = new Slice(batch)
  let at = from
  do {
    const one = wanted[at]!
    try {
      if (one.damage !== undefined) throw one.damage
      if (collectEvents(file, one, batch, parts, slice)) at++
    } catch (cause) {
      parts.push({ id: one.id, damage: file.errorOf(cause) as Error })
      at++
    }
  } while (at < wanted.length && !slice.isOver)
  return at
}

/** Reads events of one id; returns whether that was all. */
function collectEvents(file: SqliteFile, one: Wanted, batch: number, parts: Replayed[], slice: Slice): boolean {
  const { key, last } = one
  while (one.next <= last) {
    const until = Math.min(last, one.next + batch - 1)
    // No pack is complete beyond this.
    const packed = last - (last % eventsInPack)
    if (one.next <= packed) {
      const packs = packsOf(file, key, one.next, Math.min(until, packed))
      if (packs !== undefined) {
        if (take(one, packs.first, packs.events, batch, parts, slice)) break
        continue
      }
    }
    if (!collectRuns(file, one, one.next <= packed ? nextPack(file, one, until) : until, batch, parts, slice) || slice.isOver) break
  }
  return one.next > last
}

/** The packs that have the next events, if there are any. */
function packsOf(file: SqliteFile, key: string, next: number, until: number): ReturnType<typeof readPacks> {
  try {
    return readPacks((sql) => file.sql(sql), key, next, until)
  } catch (cause) {
    if (!isCorrupt(cause)) throw cause
    return undefined
  }
}
/** The event before the next pack, up to a number; packs that cannot be read count as well. */
function nextPack(file: SqliteFile, { key, next }: Wanted, until: number): number {
  try {
    const row = file.sql('select min(first) as first from packs where id = ? and first > ?').get(key, next)
    return Math.min(until, ((row?.['first'] ?? Infinity) as number) - 1)
  } catch (cause) {
    if (!isCorrupt(cause)) throw cause
    return until
  }
}

/** Takes what a row has of the next events; returns whether the slice is over. */
function take(one: Wanted, first: number, events: StoredEvent[], batch: number, parts: Replayed[], slice: Slice): boolean {
  const { id, last } = one
  slice.add(0, events.length)
  const until = Math.min(events.length, last - first + 1)
  for (let i = one.next - first; i < until;) {
    const part = parts.at(-1)
    if (part !== undefined && part.id === id && 'events' in part && part.events.length + until - i <= batch) {
      // One part for many short rows: each costs whoever reads it more than its events.
      const joined = part.events as StoredEvent[]
      for (; i < until; i++) joined.push(events[i]!)
    } else {
      const some = i === 0 && until <= batch && until === events.length ? events : events.slice(i, Math.min(i + batch, until))
      parts.push({ id, first: first + i, events: some })
      i += some.length
    }
  }
  one.next = first + until
  return slice.isOver
}

/** Reads runs of one id up to an event; returns whether it has all of them. */
function collectRuns(file: SqliteFile, one: Wanted, until: number, batch: number, parts: Replayed[], slice: Slice): boolean {
  const { id, key, last } = one
  if (until - one.next < 2 * eventsInPack) {
    const events = readShortRuns((sql) => file.sql(sql), key, one.next, until)
    if (events !== undefined) {
      take(one, one.next, events, batch, parts, slice)
      return true
    }
  }
  const entityType = entityTypeOf(key)
  const runs = file.sql(
    'select position, first, last, head, data, crc from runs where id = ? and first >= ifnull((select max(first) from runs where id = ? and first <= ?), ?) and first <= ? order by first',
  )
  for (const row of runs.iterate(key, key, one.next, one.next, until)) {
    const [first, end] = [row['first'], row['last']] as [number, number]
    if (first > one.next || end < one.next) break
    const events = eventsOfId(row, key, entityType)
    slice.add((row['data'] as string).length)
    const isOver = take(one, first, events, batch, parts, slice)
    if (one.next > until) return true
    if (isOver) return false
  }
  const { deleted } = headRow(file, key) ?? { deleted: 0 }
  if (deleted >= one.next) throw new DamagedRow('runs', `${id}#${one.next}`, 'it was deleted while it was read; read it again')
  throw new DamagedRow('runs', `${id}#${one.next}`, `event ${one.next} is missing, and the head says ${last}`)
}

/** SQLite cannot read a page. */
function isCorrupt(cause: unknown): boolean {
  return ((sqliteResult(cause) ?? 0) & 0xff) === resultCode.corrupt
}
