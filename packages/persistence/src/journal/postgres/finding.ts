// The events of a PostgreSQL journal in the order of all: by the position of their group, and their place there.

import type { FoundEvent } from '../../values/stored.ts'
import { nextTurn, sliceMs } from '../loop-slice.ts'
import type { EventQuery } from '../port.ts'
import type { Connections } from './connection.ts'
import { bounded, placeAfter, PlacedRun, type Place, type RunRow } from './runs.ts'
import { toText } from './text.ts'

/** So many events are asked for at least, whatever a batch is: few long answers cost less than many short ones. */
const ahead = 1000

/**
 * The next events after a place, up to a position, and the place of the last that was looked at; undefined where there is nothing more. There may be
 * none though there are more, or more than a batch: a run is read as a whole, from the first event that was not seen.
 */
export async function find(
  connections: Connections,
  s: string,
  query: EventQuery,
  after: Place,
  until: number,
): Promise<{ readonly events: FoundEvent[]; readonly last: Place | undefined }> {
  const { tag, kind } = query
  const most = Math.max(query.batch, ahead)
  const values: unknown[] = [...after, until, most]
  const value = (text: string): string => `$${values.push(toText(text))}`
  const o = tag === undefined ? 'r' : 't'
  const rows = await connections.query<RunRow>(
    bounded(
      s,
      `select r.* from ${tag === undefined ? `${s}.runs r` : `${s}.run_tags t join ${s}.runs r on r.id = t.id and r.first = t.first`}
       where (${o}.position, ${o}.pos) > ($1::bigint, $2::int) and ${o}.position <= $3
       ${tag === undefined ? '' : `and t.tag = ${value(tag)}`} ${kind === undefined ? '' : `and r.kind = ${value(kind)}`}
       order by ${o}.position, ${o}.pos limit $4`,
      ['position', 'pos'],
      // Of a run that has a tag few events may have it.
      tag === undefined ? most : most * 4,
    ),
    values,
  )
  const events: FoundEvent[] = []
  // The driver has parsed the answer in this turn, which may have used up the slice.
  let turn = -Infinity
  for (const row of rows) {
    if (performance.now() - turn >= sliceMs) {
      await nextTurn()
      turn = performance.now()
    }
    for (const event of new PlacedRun(connections, s, row).found(after, tag)) events.push(event)
  }
  const last = rows.at(-1)
  return { events, last: last === undefined ? undefined : placeAfter(last) }
}
