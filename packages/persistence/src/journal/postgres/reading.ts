// What is read of ids out of a PostgreSQL journal: heads of many by one query, and which there are.

import type { Head, ListedId } from '../../values/stored.ts'
import type { Connections } from './connection.ts'
import { headOf, type HeadRow } from './rows.ts'
import { fromText, toText } from './text.ts'

/** Ids of one query, at most. */
const idsAtOnce = 500

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
