// The events of a PostgreSQL journal in the order of their commits: by (transaction, place).

import type { FoundEvent } from '../../values/stored.ts'
import type { EventQuery } from '../port.ts'
import type { Connections } from './connection.ts'
import { bounded, PlacedRun, type Place, type RunRow } from './runs.ts'
import { toText } from './text.ts'

/** So many events are asked for at least, whatever a batch is: few long answers cost less than many short ones. */
const ahead = 1000

/**
 * The next events in the order of (transaction, place), and the place of the last that was looked at; undefined where there is nothing more. There
 * may be none though there are more, or more than a batch: a run is read as a whole, from the first event that was not seen.
 *
 * A transaction that is still open may have a lower number than one that is seen; so nothing is given from the oldest open one on. By place or time
 * alone a reader would miss what commits late.
 */
export async function find(
  connections: Connections,
  s: string,
  query: EventQuery,
  after: Place,
): Promise<{ readonly events: FoundEvent[]; readonly last: Place | undefined }> {
  const { tag, kind } = query
  const most = Math.max(query.batch, ahead)
  const values: unknown[] = [...after, most]
  const value = (text: string): string => `$${values.push(toText(text))}`
  const o = tag === undefined ? 'r' : 't'
  const rows = await connections.query<RunRow>(
    bounded(
      s,
      `select r.* from ${tag === undefined ? `${s}.runs r` : `${s}.run_tags t join ${s}.runs r on r.id = t.id and r.first = t.first`}
       where (${o}.xid, ${o}.pos) > ($1::xid8, $2::int) and ${o}.xid < pg_snapshot_xmin(pg_current_snapshot())
       ${tag === undefined ? '' : `and t.tag = ${value(tag)}`} ${kind === undefined ? '' : `and r.kind = ${value(kind)}`}
       order by ${o}.xid, ${o}.pos limit $3`,
      ['xid', 'pos'],
      // Of a run that has a tag few events may have it.
      tag === undefined ? most : most * 10,
    ),
    values,
  )
  const events: FoundEvent[] = []
  for (const row of rows)
    for (const event of new PlacedRun(connections, s, row).found(after)) if (tag === undefined || event.tags.includes(tag)) events.push(event)
  const last = rows.at(-1)
  return { events, last: last === undefined ? undefined : [last.xid, last.pos] }
}

/** A number that every transaction that has begun by now is below. */
export async function now(connections: Connections): Promise<string> {
  const [row] = await connections.query<{ xid: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as xid')
  return row!.xid
}
/** Whether all transactions below a number have ended, so that a look sees all that they did. */
export async function isPast(connections: Connections, xid: string): Promise<boolean> {
  const [row] = await connections.query<{ past: boolean }>('select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as past', [xid])
  return row!.past
}
