// An LMDB journal as records that any journal can take, read as of one moment; and such records taken into an empty file, which is marked
// until the last of them is in.

import { JournalRefused } from '../../values/errors.ts'
import type { Ownership } from '../../values/stored.ts'
import { groupsOf, type JournalRecord } from '../records.ts'
import { lastNumber, makeRecord, numberKey, type Opened, readText, textKey } from './bytes.ts'
import { type FileState, type LmdbFile, type Table, type TableView, WriteFailed } from './file.ts'
import { readOffset } from './finding.ts'
import { keptHead, putHead, readSnapshot, readState } from './heads.ts'
import type { SubjectKeyFiles } from '../sqlite/subject-key-files.ts'
import { countOf, readRun } from './run-text.ts'
import { apply, type LogHead, lookAtTimers, prepare, saveSnapshot, setTimer } from './writes.ts'

/** How many records are read before the loop has its turn. */
const step = 500
const none = Buffer.alloc(0)

/** Everything that a file has when this begins. */
export async function* recordsOf(file: LmdbFile, keys: SubjectKeyFiles, signal: AbortSignal | undefined): AsyncGenerator<readonly JournalRecord[]> {
  const view = file.freeze()
  const { heads, log, states, snapshots, timers, offsets } = view.tables
  /** Of those ids that have any. */
  const deleted = new Map<string, number>()
  /** A table as records, in the order of its keys. */
  async function* taken(
    table: Table,
    name: (key: Buffer) => string,
    make: (record: Opened, key: Buffer) => Iterable<JournalRecord>,
  ): AsyncGenerator<readonly JournalRecord[]> {
    let start: Buffer | undefined
    for (;;) {
      signal?.throwIfAborted()
      const some = [...table.range({ ...(start === undefined ? {} : { start }), limit: step })]
      const made: JournalRecord[] = []
      for (const { key, value } of some)
        for (const record of make(
          table.open(key, value, () => name(key)),
          key,
        ))
          made.push(record)
      if (made.length > 0) yield made
      if (some.length < step) return
      start = Buffer.concat([some.at(-1)!.key, Buffer.from([0])])
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const first = (key: Buffer): string => readText(key).text
  try {
    yield* taken(heads, first, ({ head }, key) => {
      const id = first(key)
      const [seq, gone] = head as [number, number]
      if (gone > 0) deleted.set(id, gone)
      return [{ record: 'id', id, seq, deleted: gone }]
    })
    yield* taken(
      log,
      (key) => `group ${lastNumber(key)}`,
      ({ head }) => eventsOf(view, head as LogHead, deleted),
    )
    yield* taken(states, first, (_, key) => [{ record: 'state', id: first(key), ...readState(view, first(key), key)! }])
    yield* taken(snapshots, first, (record, key) => [{ record: 'snapshot', id: first(key), ...readSnapshot(key, record) }])
    yield* taken(timers, first, ({ head }, key) => {
      const { text: id, end } = readText(key)
      return [{ record: 'timer', id, key: readText(key, end).text, due: head as number }]
    })
    for await (const { subject, key } of keys.all()) {
      signal?.throwIfAborted()
      yield [{ record: 'key', subject, key }]
    }
    yield* taken(offsets, first, ({ text }, key) => {
      const place = placeOf(view, text, deleted)
      return place === undefined ? [] : [{ record: 'place', projection: first(key), ...place }]
    })
  } finally {
    view.end()
  }
}

/** The events of one group. */
function* eventsOf({ tables }: TableView, { entries }: LogHead, deleted: ReadonlyMap<string, number>): Generator<JournalRecord> {
  for (const entry of entries) {
    if (entry === 0) continue
    const [id, start, count] = entry
    const skip = Math.max(0, (deleted.get(id) ?? 0) + 1 - start)
    if (skip >= count) continue
    const run = tables.runs.get(numberKey(textKey(id), start), () => `${id}#${start}`)
    if (run === undefined) throw tables.runs.damage(`${id}#${start}`, 'it is missing, and was never deleted')
    for (const [i, event] of readRun(run.head, run.text, skip).entries()) yield { record: 'event', id, seq: start + skip + i, ...event }
  }
}

/** The last event that is there up to an offset; without one a projection begins where everybody does, and that need not be told. */
function placeOf(
  { tables }: TableView,
  offset: string,
  deleted: ReadonlyMap<string, number>,
): { readonly id: string; readonly seq: number } | undefined {
  const { group, place, event } = readOffset(offset)
  for (const { key, value } of tables.log.range({ start: numberKey(none, group), reverse: true })) {
    const number = lastNumber(key)
    const { entries } = tables.log.open(key, value, () => `group ${number}`).head as LogHead
    for (let i = number === group ? Math.min(place, entries.length - 1) : entries.length - 1; i >= 0; i--) {
      const entry = entries[i]!
      if (entry === 0) continue
      const [id, first, count] = entry
      const seq = number === group && i === place ? first + event - 1 : first + count - 1
      if (seq >= first && seq > (deleted.get(id) ?? 0)) return { id, seq }
    }
  }
  return undefined
}

/** Nobody raises it: no scope is called so. */
const owner: Ownership = { scope: '', epoch: 0 }

/** Fills a file that has nothing. */
export async function restoreInto(file: LmdbFile, keys: SubjectKeyFiles, records: AsyncIterable<readonly JournalRecord[]>): Promise<void> {
  const write = async <T>(change: (state: FileState) => T): Promise<T> => {
    try {
      return await file.write(change)
    } catch (cause) {
      throw cause instanceof WriteFailed ? cause.cause : cause
    }
  }
  const taken = new JournalRefused(file.name, 'it has something already, which an import would overwrite; import into one that is new')
  if (!(await keys.isEmpty())) throw taken
  await write(() => {
    const { heads, offsets } = file.tables
    for (const table of [heads, offsets]) for (const _ of table.keys({ limit: 1 })) throw taken
    file.markRestoring(true)
  })
  try {
    for await (const some of records) {
      // Told afterwards: what threw inside would leave half a transaction.
      const problem = await write((state) => take(file, state, some))
      if (problem !== undefined) throw new JournalRefused(file.name, `the import cannot go on: ${problem}`)
      for (const record of some)
        if (record.record === 'key') await (record.key === undefined ? keys.erase(record.subject) : keys.add(record.subject, record.key))
    }
  } catch (cause) {
    // Where that does not come about, the mark stays, and nobody opens it.
    await keys.clear()
    for (const table of Object.values(file.tables)) if (table.name !== 'meta' && table.name !== 'owners') await table.clear()
    await write((state) => {
      Object.assign(state, { group: 0, events: 0 })
      file.markRestoring(false)
    })
    throw cause
  }
  await write(() => file.markRestoring(false))
}

/** Ids, then events, then what refers to them; says what could not be taken. */
function take(file: LmdbFile, state: FileState, records: readonly JournalRecord[]): string | undefined {
  for (const record of records)
    if (record.record === 'id' && record.deleted > 0)
      // All numbers up to there were given; what is there comes after them.
      putHead(file, textKey(record.id), { seq: record.deleted, deleted: record.deleted, state: false, snapshots: false })
  const events = records.filter((record) => record.record === 'event')
  for (const group of groupsOf(events)) {
    const writes = group.map((run) => prepare({ write: 'run', ...run, timers: [], ...owner }))
    for (const [i, outcome] of apply(file, state, writes).entries())
      if (outcome.is !== 'stored')
        return `${group[i]!.id}#${group[i]!.first} is ${outcome.is}${outcome.is === 'failed' ? `: ${String(outcome.cause)}` : ''}`
  }
  for (const record of records) {
    const problem = record.record === 'id' || record.record === 'event' || record.record === 'key' ? undefined : takeOne(file, state, record)
    if (problem !== undefined) return problem
  }
  return undefined
}

function takeOne(file: LmdbFile, state: FileState, record: Exclude<JournalRecord, { record: 'id' | 'event' | 'key' }>): string | undefined {
  const { offsets } = file.tables
  switch (record.record) {
    case 'state': {
      const { id, revision, version, data, subject, time } = record
      const write = prepare({ write: 'state', id, expected: 0, revision, version, data, subject, time, timers: [], ...owner })
      return apply(file, state, [write])[0]!.is === 'stored' ? undefined : `the state of ${id} is there already`
    }
    case 'snapshot':
      saveSnapshot(file, { ...record, ...owner })
      return undefined
    case 'timer':
      for (const timer of lookAtTimers(file, record.id, textKey(record.id), [record])) setTimer(file, record.id, timer)
      return undefined
    case 'place': {
      if (record.id === undefined) return undefined
      const offset = offsetOf(file, record.id, record.seq)
      if (offset === undefined) return `projection ${record.projection} stands at ${record.id}#${record.seq}, which is not there`
      offsets.put(textKey(record.projection), makeRecord(0, offset))
      return undefined
    }
  }
}

/** Where an event is in the order of all. */
function offsetOf(file: LmdbFile, id: string, seq: number): string | undefined {
  const prefix = textKey(id)
  const [entry] = file.tables.runs.range({ start: numberKey(prefix, seq), end: prefix, reverse: true, limit: 1 })
  if (entry === undefined || seq > keptHead(file, id).seq) return undefined
  const first = lastNumber(entry.key)
  const { group, place, head } = file.tables.runs.open(entry.key, entry.value, () => `${id}#${first}`)
  return seq < first + countOf(head) ? `${group}.${place}.${seq - first + 1}` : undefined
}
