// What is read out of a PostgreSQL journal: heads and events of many ids by one query, and events in the order of their commits.

import { JournalDamaged } from '../../values/errors.ts'
import type { FoundEvent, Head, ListedId, Replayed, StoredEvent, Verified } from '../../values/stored.ts'
import type { EventQuery } from '../port.ts'
import type { Connections } from './connection.ts'
import { eventColumns, eventOf, type EventRow, foundOf, type FoundRow, headOf, type HeadRow } from './rows.ts'
import { fromText, toText } from './text.ts'

/** Ids of one query, and rows of one answer, at most. */
const idsAtOnce = 500
const rowsAtOnce = 5000

export async function readHeads(connections: Connections, s: string, ids: readonly string[]): Promise<Head[]> {
  const heads: Head[] = []
  for (let i = 0; i < ids.length; i += idsAtOnce) {
    const some = ids.slice(i, i + idsAtOnce)
    const rows = await connections.query<HeadRow>(
      `select h.seq, h.deleted, p.seq as p_seq, p.version as p_version, p.data as p_data, p.time as p_time,
         x.revision, x.version, x.data, x.subject, x.time
       from unnest($1::text[]) with ordinality as w(id, n)
       left join ${s}.heads h on h.id = w.id left join ${s}.states x on x.id = w.id
       left join lateral (select * from ${s}.snapshots q where q.id = w.id order by q.seq desc limit 1) p on true
       order by w.n`,
      [some.map(toText)],
    )
    rows.forEach((row, n) => heads.push(headOf(some[n]!, row)))
  }
  return heads
}

/** The events of ids, each up to its last; rows are asked for as they are taken. */
export async function* replay(
  connections: Connections,
  s: string,
  from: readonly { readonly id: string; readonly after: number }[],
  batch: number,
): AsyncGenerator<Replayed> {
  for (let i = 0; i < from.length; i += idsAtOnce) {
    const some = from.slice(i, i + idsAtOnce)
    const heads = await readHeads(
      connections,
      s,
      some.map(({ id }) => id),
    )
    let left = some
      .map(({ id, after }, n) => ({ id, at: Math.max(after, heads[n]!.deleted), last: heads[n]!.seq }))
      .filter(({ at, last }) => at < last)
    while (left.length > 0) {
      const rows = await connections.query<EventRow>(
        `select ${eventColumns} from unnest($1::text[], $2::bigint[], $3::bigint[]) with ordinality as w(id, at, last, n)
         join ${s}.events e on e.id = w.id and e.seq > w.at and e.seq <= w.last order by w.n, e.seq limit ${rowsAtOnce}`,
        [left.map(({ id }) => toText(id)), left.map(({ at }) => at), left.map(({ last }) => last)],
      )
      const whole = rows.length < rowsAtOnce
      let row = 0
      const rest: typeof left = []
      for (const one of left) {
        const text = toText(one.id)
        const events: StoredEvent[] = []
        for (; row < rows.length && rows[row]!.id === text && Number(rows[row]!.seq) === one.at + events.length + 1; row++)
          events.push(eventOf(rows[row]!))
        for (let k = 0; k < events.length; k += batch) yield { id: one.id, first: one.at + k + 1, events: events.slice(k, k + batch) }
        one.at += events.length
        const gap = row < rows.length && rows[row]!.id === text
        if (gap || (whole && one.at < one.last)) {
          yield {
            id: one.id,
            damage: new JournalDamaged(
              connections.name,
              `${s}.events, ${one.id}#${one.at + 1}`,
              `event ${one.at + 1} is missing, and the head says ${one.last}`,
            ),
          }
          while (row < rows.length && rows[row]!.id === text) row++
        } else if (one.at < one.last) rest.push(one)
      }
      left = rest
    }
  }
}

/**
 * The next events in the order of (transaction, place). A transaction that is still open may have a lower number than one that is
 * seen; so nothing is given from the oldest open one on. By place or time alone a reader would miss what commits late.
 */
export async function find(connections: Connections, s: string, query: EventQuery, [xid, pos]: readonly [string, number]): Promise<FoundEvent[]> {
  const { tag, kind, batch } = query
  const values: unknown[] = [xid, pos, batch]
  const value = (text: string): string => `$${values.push(toText(text))}`
  const o = tag === undefined ? 'e' : 't'
  const rows = await connections.query<FoundRow>(
    `select ${eventColumns}, ${o}.xid::text as xid, ${o}.pos from ${
      tag === undefined ? `${s}.events e` : `${s}.event_tags t join ${s}.events e on e.id = t.id and e.seq = t.seq`
    }
     where (${o}.xid, ${o}.pos) > ($1::xid8, $2::int) and ${o}.xid < pg_snapshot_xmin(pg_current_snapshot())
     ${tag === undefined ? '' : `and t.tag = ${value(tag)}`} ${kind === undefined ? '' : `and e.kind = ${value(kind)}`}
     order by ${o}.xid, ${o}.pos limit $3`,
    values,
  )
  return rows.map(foundOf)
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

export async function listIds(
  connections: Connections,
  s: string,
  { kind, after, most }: { readonly kind?: string | undefined; readonly after?: string | undefined; readonly most: number },
): Promise<ListedId[]> {
  const rows = await connections.query<{ id: string; seq: string; deleted: string; snapshots: string[] | null; revision: string | null }>(
    `select h.id, h.seq, h.deleted, x.revision, (select array_agg(p.seq::text order by p.seq desc) from ${s}.snapshots p where p.id = h.id) as snapshots
     from ${s}.heads h left join ${s}.states x on x.id = h.id
     where ($1::text is null or h.kind = $1) and ($2::text is null or h.id > $2) order by h.id limit $3`,
    [kind === undefined ? null : toText(kind), after === undefined ? null : toText(after), most],
  )
  return rows.map(({ id, seq, deleted, snapshots, revision }) => ({
    id: fromText(id),
    seq: Number(seq),
    deleted: Number(deleted),
    snapshots: (snapshots ?? []).map(Number),
    revision: revision === null ? undefined : Number(revision),
  }))
}

/** Compares every head with its events, page by page. */
export async function verify(connections: Connections, s: string, signal: AbortSignal | undefined): Promise<Verified> {
  const damages: Verified['damages'][number][] = []
  let [ids, events, after] = [0, 0, null as string | null]
  for (;;) {
    signal?.throwIfAborted()
    const rows = await connections.query<{ id: string; seq: string; deleted: string; count: string; least: string | null; most: string | null }>(
      `select h.id, h.seq, h.deleted, e.count, e.least, e.most from (
         select * from ${s}.heads where $1::text is null or id > $1 order by id limit ${idsAtOnce}) h
       cross join lateral (select count(*), min(seq) as least, max(seq) as most from ${s}.events where id = h.id) e order by h.id`,
      [after],
    )
    for (const row of rows) {
      ids++
      events += Number(row.count)
      const [id, seq, deleted] = [fromText(row.id), Number(row.seq), Number(row.deleted)]
      const report = (at: number, problem: string): unknown =>
        damages.length < 1000 && damages.push({ where: `${s}.events, ${id}#${at}`, id, seq: at, problem })
      if (row.most !== null && Number(row.most) > seq) report(Number(row.most), `it goes on to ${row.most}, and the head says ${seq}`)
      else if (Number(row.count) !== seq - deleted) report(deleted + 1, `${row.count} of the events ${deleted + 1} to ${seq} are there`)
    }
    if (rows.length < idsAtOnce) break
    after = rows.at(-1)!.id
  }
  const strays = await connections.query<{ id: string; seq: string }>(
    `select e.id, min(e.seq) as seq from ${s}.events e where not exists (select from ${s}.heads h where h.id = e.id) group by e.id limit 1000`,
  )
  for (const { id, seq } of strays)
    damages.push({ where: `${s}.events, ${fromText(id)}#${seq}`, id: fromText(id), seq: Number(seq), problem: 'there is no head for it' })
  const [snapshots] = await connections.query<{ count: string }>(`select count(*) from ${s}.snapshots`)
  return { ids, events, snapshots: Number(snapshots!.count), damages: damages.slice(0, 1000) }
}
