// Positions of groups in the order of all events, given by a sequence of the journal's own schema, so that they mean the same in any server that
// the tables are restored into.
//
// A sequence gives numbers in an order in which writers need not commit. So a writer first takes a shared advisory lock whose key says how far the
// sequence was, and then its position, which is above that; the lock ends with its transaction, after its rows can be seen. A reader asks how far
// the sequence is, then for those locks, and reads no further than the lowest of them:
//
//   writer   lock(41) ── position 42 ── rows ── commit ── unlock
//   reader              last position 43 ── lowest lock 41 ── reads up to 41           later: no lock ── reads up to 43
//
// Nothing else holds readers back: no other transaction of this database, and none of another.

import type { Connections } from './connection.ts'
import { literal } from './text.ts'

/** The last position that was given. The sequence begins at 1, and says so before it has given that. */
const last = (s: string): string => `select last_value - (not is_called)::int as last from ${s}.positions`
const sequence = (s: string): string => `${literal(`${s}.positions`)}::regclass`

/** The lock of a writer, taken where `p.last` is how far the sequence was. */
const lock = (s: string): string => `pg_advisory_xact_lock_shared(${sequence(s)}::oid::int, p.last::bit(32)::int)`

/** A query of one row with a new position, or of none unless `condition` holds, which is evaluated first. `case` keeps lock and position in order. */
export function nextPosition(s: string, condition: string): string {
  return `select case when ${lock(s)} is not null then nextval(${sequence(s)}) end as position from (${last(s)}) p where ${condition}`
}

/** For a transaction that takes many positions: one lock for all of them, which is taken first, and a query for each. */
export function lockPositions(s: string): string {
  return `select ${lock(s)} from (${last(s)}) p`
}
export function nextLockedPosition(s: string): string {
  return `select nextval(${sequence(s)}) as position`
}

/** The position up to which a reader may read now. */
export interface Readable {
  /** Every group up to this position is visible, or never will be. */
  readonly until: number
  /** The last position that was given; more than `until` while a group is being written. */
  readonly last: number
  /** The server process that writes the group after `until`. */
  readonly pid: number | undefined
}

/** The lateral join makes PostgreSQL read the sequence before the locks: the other way round a writer could come in between. */
export async function readableNow(connections: Connections, s: string): Promise<Readable> {
  const [row] = await connections.query<{ last: string; behind: string | null; pid: number | null }>(
    `select p.last, w.behind, w.pid from (${last(s)}) p left join lateral (
       select l.pid, ((p.last & 4294967295) - l.objid::bigint) & 4294967295 as behind from pg_locks l
       where l.locktype = 'advisory' and l.objsubid = 2 and l.classid = ${sequence(s)}::oid
         and l.database = (select d.oid from pg_database d where d.datname = current_database())
         and ((p.last & 4294967295) - l.objid::bigint) & 4294967295 < 2147483648
       order by behind desc limit 1) w on true`,
  )
  const position = Number(row!.last)
  return { last: position, until: position - Number(row!.behind ?? 0), pid: row!.pid ?? undefined }
}
