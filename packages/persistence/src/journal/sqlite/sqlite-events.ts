// Events in the order of commits: all, of a tag, or of an entity type. An offset is the position of a run and how many of its events were seen.
// One connection writes at a time, so that no lower position appears after a higher one was seen.

import { InvalidOption } from '@troupe/core'
import type { SqliteRow } from '@troupe/sqlite'
import type { FoundEvent } from '../../values/stored.ts'
import type { EventQuery } from '../port.ts'
import { fromText, toText } from '../postgres/text.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { DamagedRow } from './sqlite-rows.ts'
import { eventsOf, Slice } from './sqlite-reads.ts'

/** After which event a query goes on. */
export interface EventPosition {
  position: number
  /** Events of that run that were seen. */
  seen: number
  /** The rest of a run that is longer than a batch: to read and parse all of it for each batch would take the square of its length. */
  rest?: FoundEvent[] | undefined
}

export function readOffset(offset: string | undefined): EventPosition {
  if (offset === undefined) return { position: 0, seen: 0 }
  const found = /^(\d{1,15})\.(\d{1,9})$/.exec(offset)
  if (found === null) throw new InvalidOption('after', offset, 'use an offset of this journal')
  return { position: Number(found[1]), seen: Number(found[2]) }
}

const columns = 'r.*, (select deleted from heads h where h.id = r.id) as deleted'

function rowsFrom(file: SqliteFile, { tag, kind }: EventQuery, position: number): IterableIterator<SqliteRow> {
  if (tag !== undefined)
    return file
      .sql(
        `select t.position as tagged, ${columns} from run_tags t left join runs r on r.position = t.position where t.tag = ? and t.position >= ? order by t.position`,
      )
      .iterate(toText(tag), position)
  if (kind !== undefined)
    return file.sql(`select ${columns} from runs r where entity_type = ? and position >= ? order by position`).iterate(toText(kind), position)
  return file.sql(`select ${columns} from runs r where position >= ? order by position`).iterate(position)
}

/** The next events after a position, which is moved on; `more` says that it stopped before it had seen everything. */
export function findEvents(file: SqliteFile, query: EventQuery, at: EventPosition): { readonly found: FoundEvent[]; readonly more: boolean } {
  const slice = new Slice()
  const found: FoundEvent[] = []
  // A slice reads one run at least, however long it took to find it: otherwise a slow disk would hold a reader at one place.
  let isBegun = false
  if (at.rest !== undefined && !takeRest(at, found, query.batch)) return { found, more: true }
  for (const row of rowsFrom(file, query, at.position)) {
    const { position, first, last, deleted } = row as unknown as Record<string, number | null>
    if (position === null) throw new DamagedRow('run_tags', JSON.stringify(query.tag), `it names position ${String(row['tagged'])}, which is missing`)
    if (deleted === null) throw new DamagedRow('heads', String(row['id']), 'it is missing, and runs has rows of it')
    if (position !== at.position) Object.assign(at, { position, seen: 0 })
    const skip = Math.max(at.seen, deleted! + 1 - first!)
    if (skip > last! - first!) continue
    if (found.length >= query.batch || (isBegun && slice.isOver)) return { found, more: true }
    isBegun = true
    // First: what is not what was written may be of any type.
    const events = eventsOf(row)
    if (query.kind !== undefined && fromText(row['entity_type'] as string) !== query.kind) continue
    const id = fromText(row['id'] as string)
    slice.add((row['data'] as string).length)
    at.rest = []
    for (let i = events.length - 1; i >= skip; i--) {
      const event = events[i]!
      if (query.tag === undefined || event.tags.includes(query.tag)) at.rest.push({ ...event, id, seq: first! + i, offset: `${position}.${i + 1}` })
    }
    at.seen = events.length
    if (!takeRest(at, found, query.batch)) return { found, more: true }
  }
  return { found, more: false }
}

/** Takes events of the run that was read last, of which the next is the last of the list; says whether that was all of it. */
function takeRest(at: EventPosition, found: FoundEvent[], batch: number): boolean {
  const rest = at.rest!
  while (found.length < batch && rest.length > 0) found.push(rest.pop()!)
  if (rest.length > 0) return false
  at.rest = undefined
  return true
}
