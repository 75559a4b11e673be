// What goes into an LMDB journal: the rules by which a write is let in, and the records it becomes. Everything here runs inside a write
// transaction, looks first and changes then; keys and records are made before, so that the transaction is short.
//
//   runs    (id, first)  the events of a run, the group it came in and its place there
//   log     group        who came in that group: [id, first, count], 0 where it was deleted since; the order of all events
//   kinds, tags (…, group)  where in the log a kind or a tag is found

import { FenceLost } from '../../values/errors.ts'
import { isWellFormed } from '../../values/names.ts'
import { kindOf, type Outcome, type Ownership, type SnapshotWrite, type TimerChange, type Write } from '../../values/stored.ts'
import { lastNumber, longestText, makeRecord, numberKey, realKey, textKey } from './bytes.ts'
import type { FileState, LmdbFile } from './file.ts'
import { keptHead, putHead, readState } from './heads.ts'
import { countOf, writeRun } from './run-text.ts'

const stored: Outcome = { is: 'stored' }
const fenced: Outcome = { is: 'fenced' }
const conflict: Outcome = { is: 'conflict' }

/** One entry of a group's log record. */
export type LogEntry = readonly [id: string, first: number, count: number] | 0
export interface LogHead {
  readonly entries: LogEntry[]
  readonly kinds: readonly string[]
  /** The tags of the group, each with the places of the runs that have it. */
  readonly tags: Readonly<Record<string, readonly number[]>>
}

/** A write with its keys and records. */
interface Prepared {
  readonly write: Write
  readonly key: Buffer
  readonly record: Buffer
  readonly recordKey: Buffer
}

/** Why something cannot be part of a key. */
export function unfit(what: string, text: string): Error | undefined {
  if (!isWellFormed(text)) return new RangeError(`The ${what} ${JSON.stringify(text)} is not well-formed text, and cannot be a key.`)
  // Three bytes a unit at most: few are long enough to be measured.
  if (text.length * 3 + 2 > longestText && textKey(text).length > longestText)
    return new RangeError(`The ${what} ${JSON.stringify(text.slice(0, 40))}… is longer than the ${longestText} bytes that a key may have.`)
  return undefined
}

/** What becomes of a write that could not be made a record of. */
export function unfitFor(cause: Error): Outcome {
  return { is: 'failed', cause, unfit: true }
}

export function prepare(write: Write): Prepared | Error {
  const texts: [string, string][] = [['id', write.id], ...write.timers.map(({ key }): [string, string] => ['timer', key])]
  if (write.write === 'run') for (const { tags } of write.events) for (const tag of tags) texts.push(['tag', tag])
  for (const [what, text] of texts) {
    const problem = unfit(what, text)
    if (problem !== undefined) return problem
  }
  const key = textKey(write.id)
  if (write.write === 'run') {
    const { head, text } = writeRun(write.events)
    return { write, key, record: makeRecord(head, text), recordKey: numberKey(key, write.first) }
  }
  const { revision, version, time, subject, data } = write
  return { write, key, record: makeRecord([revision, version, time, subject ?? null, data !== undefined], data), recordKey: key }
}

/** The epoch of a scope, and who raised it. */
export function ownerOf(file: LmdbFile, scope: string): { readonly epoch: number; readonly holder: string } | undefined {
  return file.tables.owners.get(textKey(scope), () => scope)?.head as { epoch: number; holder: string } | undefined
}
function owns(file: LmdbFile, { scope, epoch }: Ownership): boolean {
  return (ownerOf(file, scope)?.epoch ?? 0) === epoch
}
export function raise(file: LmdbFile, scope: string, epoch: number, holder: string): void {
  const owner = ownerOf(file, scope)
  if (owner !== undefined && (owner.epoch > epoch || (owner.epoch === epoch && owner.holder !== holder)))
    throw new FenceLost(scope, epoch, owner.epoch)
  file.tables.owners.put(textKey(scope), makeRecord({ epoch, holder }))
}

/** Lets a group in, each write by itself. */
export function apply(file: LmdbFile, state: FileState, group: readonly (Prepared | Error)[]): Outcome[] {
  const owned = new Map<string, boolean>()
  const entries: LogEntry[] = []
  const tags: Record<string, number[]> = Object.create(null) as Record<string, number[]>
  const kinds = new Set<string>()
  const number = state.group + 1
  // All looks come before the first change: one that meets damage leaves nothing behind.
  const looked = group.map((prepared) => {
    if (prepared instanceof Error) return { outcome: unfitFor(prepared) }
    const { write, key } = prepared
    const scope = `${write.epoch} ${write.scope}`
    let mine = owned.get(scope)
    if (mine === undefined) owned.set(scope, (mine = owns(file, write)))
    if (!mine) return { outcome: fenced }
    const head = keptHead(file, write.id, key)
    const revision = write.write === 'state' && head.state ? (readState(file, write.id, key)?.revision ?? 0) : 0
    const follows = write.write === 'run' ? head.seq + 1 === write.first : revision === write.expected
    if (!follows) return { outcome: conflict }
    return { outcome: stored, prepared, head, timers: write.timers.length > 0 ? lookAtTimers(file, write.id, key, write.timers) : noTimers }
  })
  for (const { prepared, head, timers } of looked) {
    if (prepared === undefined) continue
    const { write, key, record, recordKey } = prepared
    if (write.write === 'run') {
      const place = entries.push([write.id, write.first, write.events.length]) - 1
      for (const event of write.events) for (const tag of event.tags) if ((tags[tag] ??= []).at(-1) !== place) tags[tag].push(place)
      kinds.add(kindOf(write.id))
      file.tables.runs.put(recordKey, record, number, place)
      putHead(file, key, { ...head, seq: write.first + write.events.length - 1 })
      state.events += write.events.length
    } else {
      file.tables.states.put(recordKey, record)
      if (!head.state) putHead(file, key, { ...head, state: true })
    }
    for (const timer of timers) setTimer(file, write.id, timer)
  }
  if (entries.length > 0) {
    state.group = number
    file.tables.log.put(numberKey(none, number), makeRecord({ entries, kinds: [...kinds], tags } satisfies LogHead))
    for (const kind of kinds) file.tables.kinds.put(numberKey(textKey(kind), number), makeRecord(0))
    for (const tag of Object.keys(tags)) file.tables.tags.put(numberKey(textKey(tag), number), makeRecord(0))
  }
  return looked.map(({ outcome }) => outcome)
}
const none = Buffer.alloc(0)

/** A timer that is changed, and when it was due before. */
interface LookedAt extends TimerChange {
  readonly place: Buffer
  readonly before: number | undefined
}
const noTimers: readonly LookedAt[] = []

/** What is there of timers that are to change; the last change of each holds. */
export function lookAtTimers(file: LmdbFile, id: string, idKey: Buffer, changes: readonly TimerChange[]): readonly LookedAt[] {
  const { timers } = file.tables
  const looked: LookedAt[] = []
  for (const [key, due] of new Map(changes.map((change) => [change.key, change.due]))) {
    const place = Buffer.concat([idKey, textKey(key)])
    looked.push({ key, due, place, before: timers.get(place, () => `${id} ${key}`)?.head as number | undefined })
  }
  return looked
}
export function setTimer(file: LmdbFile, id: string, { key, due, place, before }: LookedAt): void {
  const { timers, due: index } = file.tables
  if (before !== undefined) index.remove(Buffer.concat([realKey(before), place]))
  if (due === undefined) {
    if (before !== undefined) timers.remove(place)
  } else {
    timers.put(place, makeRecord(due))
    index.put(Buffer.concat([realKey(due), place]), makeRecord([id, key, due]))
  }
}

export function saveSnapshot(file: LmdbFile, write: SnapshotWrite): Outcome {
  if (!owns(file, write)) return fenced
  const key = textKey(write.id)
  const head = keptHead(file, write.id, key)
  const { snapshots } = file.tables
  // Its own number is replaced; of what is left the newest two stay.
  const own = { seq: write.seq, key: numberKey(key, write.seq) }
  const all = [own, ...[...snapshotKeys(file, write.id)].filter(({ seq }) => seq !== write.seq)].sort((one, other) => other.seq - one.seq)
  for (const old of all.slice(2)) snapshots.remove(old.key)
  if (all.indexOf(own) < 2) snapshots.put(own.key, makeRecord([write.version, write.time], write.data))
  if (!head.snapshots) putHead(file, key, { ...head, snapshots: true })
  return stored
}

/** The snapshots of an id, newest first, unread: one that is damaged can be replaced and removed. */
function* snapshotKeys(file: LmdbFile, id: string): Generator<{ readonly seq: number; readonly key: Buffer }> {
  const prefix = textKey(id)
  const keys = [...file.tables.snapshots.keys({ start: numberKey(prefix, Infinity), end: prefix, reverse: true })]
  for (const key of keys) yield { seq: lastNumber(key), key }
}

export function deleteSnapshots(file: LmdbFile, id: string, upTo: number, owner: Ownership): Outcome {
  if (!owns(file, owner)) return fenced
  for (const { seq, key } of snapshotKeys(file, id)) if (seq <= upTo) file.tables.snapshots.remove(key)
  return stored
}

/** Removes up to `most` runs; says whether there is more to do. */
export function deleteEvents(
  file: LmdbFile,
  state: FileState,
  id: string,
  upTo: number,
  owner: Ownership,
  most: number,
): { outcome: Outcome; more: boolean } {
  if (!owns(file, owner)) return { outcome: fenced, more: false }
  const key = textKey(id)
  const head = keptHead(file, id, key)
  const last = Math.min(upTo, head.seq)
  if (last <= head.deleted) return { outcome: stored, more: false }
  const { runs } = file.tables
  const found = [...runs.range({ start: key, end: numberKey(key, last + 1), limit: most + 1 })].map(({ key: runKey, value }) => ({
    key: runKey,
    value,
    first: lastNumber(runKey),
  }))
  const gone = found.slice(0, most).filter(({ key: runKey, value, first }) => {
    const { head: columns } = runs.open(runKey, value, () => `${id}#${first}`)
    return first + countOf(columns) - 1 <= last
  })
  const more = found.length > most
  const deleted = more ? found[most]!.first - 1 : last
  // Looked at before anything is changed, as everywhere.
  const groups = new Map<number, LogHead | undefined>()
  for (const run of gone) {
    const { group, place } = runs.open(run.key, run.value, () => `${id}#${run.first}`)
    const log = groups.get(group) ?? (file.tables.log.get(numberKey(none, group), () => `group ${group}`)?.head as LogHead | undefined)
    if (log !== undefined) log.entries[place] = 0
    groups.set(group, log)
  }
  for (const run of gone) runs.remove(run.key)
  for (const [group, log] of groups) if (log !== undefined) forget(file, group, log)
  state.events -= deleted - head.deleted
  putHead(file, key, { ...head, deleted })
  return { outcome: stored, more }
}

/** Keeps what is left of a group; its record goes with its last run. */
function forget(file: LmdbFile, group: number, head: LogHead): void {
  const { log, kinds, tags } = file.tables
  const key = numberKey(none, group)
  if (head.entries.some((entry) => entry !== 0)) return log.put(key, makeRecord(head))
  log.remove(key)
  for (const kind of head.kinds) kinds.remove(numberKey(textKey(kind), group))
  for (const tag of Object.keys(head.tags)) tags.remove(numberKey(textKey(tag), group))
}
