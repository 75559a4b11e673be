// The events of an LMDB journal in the order in which they were committed: an offset is group, place in the group, event of the run.
// Groups are numbered inside the write transaction, so that no lower number appears after a higher one was seen.

import { InvalidOption } from '@troupe/core'
import { type FoundEvent, kindOf } from '../../values/stored.ts'
import type { EventQuery } from '../port.ts'
import { lastNumber, numberKey, textKey } from './bytes.ts'
import type { LmdbFile } from './file.ts'
import { keptHead } from './heads.ts'
import { readRun } from './run-text.ts'
import type { LogHead } from './writes.ts'

/** After which event a search goes on. */
export interface Position {
  group: number
  place: number
  event: number
}

export function readOffset(offset: string | undefined): Position {
  if (offset === undefined) return { group: 0, place: 0, event: 0 }
  const found = /^(\d{1,15})\.(\d{1,9})\.(\d{1,9})$/.exec(offset)
  if (found === null) throw new InvalidOption('after', offset, 'use an offset of this journal')
  return { group: Number(found[1]), place: Number(found[2]), event: Number(found[3]) }
}

/** How many runs one look reads at most: then the loop has its turn. */
const most = 1000

/** The next events after a position, which it moves on; `more` tells that it stopped before it had seen everything. */
export function find(file: LmdbFile, query: EventQuery, position: Position): { readonly found: FoundEvent[]; readonly more: boolean } {
  const found: FoundEvent[] = []
  let read = 0
  for (const group of groupsFrom(file, query, position.group)) {
    if (group !== position.group) Object.assign(position, { group, place: 0, event: 0 })
    const record = file.tables.log.get(numberKey(none, group), () => `group ${group}`)
    if (record === undefined) continue
    const { entries, tags } = record.head as LogHead
    const wanted = query.tag === undefined ? undefined : new Set(Object.hasOwn(tags, query.tag) ? tags[query.tag] : [])
    for (; position.place < entries.length; Object.assign(position, { place: position.place + 1, event: 0 })) {
      const entry = entries[position.place]!
      if (entry === 0 || wanted?.has(position.place) === false || (query.kind !== undefined && kindOf(entry[0]) !== query.kind)) continue
      if (found.length >= query.batch || ++read > most) return { found, more: true }
      take(file, query, position, entry, found)
      if (found.length >= query.batch) return { found, more: true }
    }
  }
  return { found, more: false }
}

function take(
  file: LmdbFile,
  query: EventQuery,
  position: Position,
  [id, first, count]: readonly [string, number, number],
  found: FoundEvent[],
): void {
  if (position.event >= count) return
  const { deleted } = keptHead(file, id)
  const skip = Math.max(position.event, deleted + 1 - first)
  if (skip >= count) return
  const record = file.tables.runs.get(numberKey(textKey(id), first), () => `${id}#${first}`)
  if (record === undefined) throw file.tables.runs.damage(`${id}#${first}`, 'it is missing, and was never deleted')
  for (const [i, event] of readRun(record.head, record.text, skip).entries()) {
    if (found.length >= query.batch) return
    position.event = skip + i + 1
    if (query.tag !== undefined && !event.tags.includes(query.tag)) continue
    found.push({ ...event, id, seq: first + skip + i, offset: `${position.group}.${position.place}.${position.event}` })
  }
}
const none = Buffer.alloc(0)

/** The numbers of groups that may have what is sought, from one on. */
function* groupsFrom(file: LmdbFile, { tag, kind }: EventQuery, from: number): Generator<number> {
  const table = tag !== undefined ? file.tables.tags : kind !== undefined ? file.tables.kinds : file.tables.log
  const prefix = tag !== undefined ? textKey(tag) : kind !== undefined ? textKey(kind) : none
  for (const key of table.keys({ start: numberKey(prefix, from), end: numberKey(prefix, Infinity) })) yield lastNumber(key)
}
