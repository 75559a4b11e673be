// A SQLite journal as records that any journal can take, and such records taken into an empty one. An export reads a
// copy that SQLite makes at one moment: a slow reader of it keeps no transaction open, and what is written meanwhile is no part of it.

import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { loadSqlite, type SqliteConnection, type SqliteRow } from '@troupe/sqlite'
import { nextTurn } from '../loop-slice.ts'
import { JournalDamaged, JournalRefused } from '../../values/errors.ts'
import { readsPrefix } from '../projections.ts'
import { groupsOf, type JournalRecord } from '../records.ts'
import { writeRun } from '../postgres/run-text.ts'
import { fromText, toText } from '../postgres/text.ts'
import { readOffset } from './sqlite-events.ts'
import type { SqliteFile } from './sqlite-file.ts'
import type { ImportBatch } from './sqlite-protocol.ts'
import { eventsOf, Slice, snapshotOf } from './sqlite-reads.ts'
import { checked, DamagedRow, optional, type TableName } from './sqlite-rows.ts'
import { tagsIn } from './sqlite-writes.ts'
import type { SubjectKeys } from './subject-keys.ts'

/** Everything that a file has when this begins. */
export async function* recordsOf(file: SqliteFile, keys: SubjectKeys, signal: AbortSignal | undefined): AsyncGenerator<readonly JournalRecord[]> {
  const copy = `${file.path}.${randomUUID()}.export`
  let connection: SqliteConnection | undefined
  try {
    await file.task({ type: 'copy', to: copy }, signal)
    connection = (await loadSqlite()).open(copy)
    yield* recordsIn(connection, keys, signal)
  } catch (cause) {
    const told = file.errorOf(cause)
    throw told instanceof JournalDamaged ? new JournalDamaged(file.name, told.where.replace(copy, file.path), causeOf(cause), cause) : told
  } finally {
    connection?.close()
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(copy + end, { force: true })
  }
}
function causeOf(cause: unknown): string {
  return cause instanceof JournalDamaged ? 'it cannot be read' : (cause as Error).message
}

async function* recordsIn(
  connection: SqliteConnection,
  keys: SubjectKeys,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly JournalRecord[]> {
  /** Of those ids that have any deleted. */
  const deleted = new Map<string, number>()
  let [expected, found] = [0, 0]
  async function* rows(sql: string, make: (row: SqliteRow) => Iterable<JournalRecord>): AsyncGenerator<readonly JournalRecord[]> {
    const all = connection.prepare(sql).iterate()
    try {
      for (;;) {
        signal?.throwIfAborted()
        const slice = new Slice()
        const some: JournalRecord[] = []
        let row = all.next()
        for (; row.done !== true; row = all.next()) {
          for (const record of make(row.value)) some.push(record)
          slice.add(String(row.value['data'] ?? '').length)
          if (slice.isOver || some.length >= 500) break
        }
        if (some.length > 0) yield some
        if (row.done === true) return
        await nextTurn()
      }
    } finally {
      all.return?.()
    }
  }
  const row = (table: TableName, record: SqliteRow): SqliteRow => checked(table, record, () => fromText(String(record['id'] ?? record['projection'])))
  yield* rows('select * from heads order by id', (record) => {
    const { seq, deleted: gone } = row('heads', record) as unknown as { seq: number; deleted: number }
    const id = fromText(record['id'] as string)
    if (gone > 0) deleted.set(id, gone)
    expected += seq - gone
    return [{ record: 'id', id, seq, deleted: gone }]
  })
  yield* rows('select * from runs order by position', function* (record) {
    const events = eventsOf(record)
    const id = fromText(record['id'] as string)
    const first = record['first'] as number
    for (let i = Math.max(0, (deleted.get(id) ?? 0) + 1 - first); i < events.length; i++) {
      found++
      yield { record: 'event', id, seq: first + i, ...events[i]! }
    }
  })
  // Half a copy is none: rows that a damaged page hides are missed here.
  if (found !== expected) throw new DamagedRow('runs', 'some id', `there are ${found} events, and heads say ${expected}`)
  yield* rows('select * from states order by id', (record) => {
    const { revision, version, data, subject, time } = row('states', record) as unknown as Record<'revision' | 'version' | 'time', number> &
      Record<'data' | 'subject', string | null>
    const id = fromText(record['id'] as string)
    return [{ record: 'state', id, revision, version, data: textOf(data), subject: textOf(subject), time }]
  })
  yield* rows('select * from snapshots order by id, seq', (record) => [
    { record: 'snapshot', id: fromText(record['id'] as string), ...snapshotOf(row('snapshots', record)) },
  ])
  yield* rows('select * from timers order by id, key', (record) => {
    const { id, key, due } = row('timers', record) as unknown as { id: string; key: string; due: number }
    return [{ record: 'timer', id: fromText(id), key: fromText(key), due }]
  })
  for await (const { subject, key } of keys.all()) {
    signal?.throwIfAborted()
    yield [{ record: 'key', subject, key }]
  }
  yield* rows(`select * from offsets where projection not like '${readsPrefix}%' order by projection`, (record) => {
    const { projection, reached } = row('offsets', record) as unknown as { projection: string; reached: string }
    const place = placeOf(connection, reached, deleted)
    return place === undefined ? [] : [{ record: 'place', projection: fromText(projection), ...place }]
  })
}
function textOf(text: string | null): string | undefined {
  return text === null ? undefined : fromText(text)
}

/** The last event that is there up to an offset; without one a projection begins at the beginning, and that needs no record. */
function placeOf(
  connection: SqliteConnection,
  offset: string,
  deleted: ReadonlyMap<string, number>,
): { readonly id: string; readonly seq: number } | undefined {
  const at = readOffset(offset)
  for (const row of connection
    .prepare('select position, id, first, last from runs where position <= ? order by position desc')
    .iterate(at.position)) {
    const { position, first, last } = row as unknown as { position: number; first: number; last: number }
    const id = fromText(row['id'] as string)
    const seq = position === at.position ? Math.min(last, first + at.seen - 1) : last
    if (seq >= first && seq > (deleted.get(id) ?? 0)) return { id, seq }
  }
  return undefined
}

/** Fills a file that has nothing; until it has everything, it cannot be opened. */
export async function restoreInto(file: SqliteFile, keys: SubjectKeys, records: AsyncIterable<readonly JournalRecord[]>): Promise<void> {
  if (!(await keys.isEmpty()))
    throw new JournalRefused(file.name, 'it has keys of subjects already, which an import would overwrite; import into a new one')
  await file.ask({ type: 'beginImport' })
  file.importing = true
  try {
    for await (const some of records) {
      await file.ask({ type: 'import', batch: batchOf(some) })
      const given = some.filter((record) => record.record === 'key')
      await Promise.all(given.map(({ subject, key }) => (key === undefined ? keys.erase(subject) : keys.add(subject, key))))
    }
  } catch (cause) {
    // If this fails too, the mark stays, and the file cannot be opened.
    await keys.clear()
    await file.ask({ type: 'endImport', keep: false })
    throw cause
  } finally {
    file.importing = false
  }
  await file.ask({ type: 'endImport', keep: true })
}

function batchOf(records: readonly JournalRecord[]): ImportBatch {
  const of = <T extends JournalRecord['record']>(type: T): Extract<JournalRecord, { record: T }>[] =>
    records.filter((record): record is Extract<JournalRecord, { record: T }> => record.record === type)
  return {
    heads: of('id').map(({ id, deleted }) => ({ id: toText(id), deleted })),
    runs: groupsOf(of('event')).map((group) =>
      group.map(({ id, first, events }) => {
        const { head, data } = writeRun(events)
        const tags = tagsIn(head)
        return { id: toText(id), first, last: first + events.length - 1, head, data, ...(tags.size > 0 ? { tags: [...tags] } : {}) }
      }),
    ),
    states: of('state').map(({ id, revision, version, data, subject, time }) => ({
      id: toText(id),
      expected: 0,
      revision,
      version,
      data: optional(data),
      subject: optional(subject),
      time,
    })),
    snapshots: of('snapshot').map(({ id, seq, version, data, time }) => ({ id: toText(id), seq, version, data: toText(data), time })),
    timers: of('timer').map(({ id, key, due }) => ({ id: toText(id), key: toText(key), due })),
    places: of('place').flatMap(({ projection, id, seq }) => (id === undefined ? [] : [{ projection: toText(projection), id: toText(id), seq }])),
  }
}
