// A group as one statement of PostgreSQL: fence, expected numbers and all rows, whole or not at all for each write, in one round trip.
//
//   owned     the scopes that have the epoch that a write names, locked `for share` in scope order: who raises an epoch waits for us,
//             and we for him. (`for key share` would let a takeover through while this statement is open.)
//   accepted  heads that stood right before a run, moved on: the row is locked, so that of two writers one finds it moved
//
// The place in the order of all events is (transaction, place in the group).

import { kindOf, type Outcome, type Write } from '../../values/stored.ts'
import type { Connections, QueryFailed } from './connection.ts'
import { toArray, toText } from './text.ts'

export function appendStatement(s: string): string {
  return `
with w as materialized (
  select * from unnest($1::int[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bool[])
    as w(n, scope, epoch, id, kind, first, last, is_run)
), owned as materialized (
  select o.scope, o.epoch from ${s}.owners o
  where (o.scope, o.epoch) in (select w.scope, w.epoch from w) order by o.scope for share of o
), mine as materialized (
  select w.* from w join owned o on o.scope = w.scope and o.epoch = w.epoch
), begun as (
  insert into ${s}.heads as h (id, kind, seq) select id, kind, last from mine where is_run and first = 1 order by id
  on conflict (id) do update set seq = excluded.seq where h.seq = 0 returning h.id
), moved as (
  update ${s}.heads h set seq = m.last from mine m where m.is_run and m.first > 1 and h.id = m.id and h.seq = m.first - 1 returning h.id
), st as materialized (
  select * from unnest($9::int[], $10::bigint[], $11::bigint[], $12::int[], $13::text[], $14::text[], $15::float8[])
    as s(n, expected, revision, version, data, subject, time)
), created as (
  insert into ${s}.states (id, revision, version, data, subject, time)
  select m.id, st.revision, st.version, st.data, st.subject, st.time from mine m join st on st.n = m.n where st.expected = 0
  on conflict (id) do nothing returning id
), replaced as (
  update ${s}.states x set revision = st.revision, version = st.version, data = st.data, subject = st.subject, time = st.time
  from mine m join st on st.n = m.n where st.expected > 0 and x.id = m.id and x.revision = st.expected returning x.id
), listed as (
  insert into ${s}.heads (id, kind, seq) select m.id, m.kind, 0 from mine m join created c on c.id = m.id where not m.is_run on conflict do nothing
), accepted as (
  select m.n, m.id, m.kind from mine m where m.is_run and m.id in (select id from begun union all select id from moved)
  union all
  select m.n, m.id, m.kind from mine m where not m.is_run and m.id in (select id from created union all select id from replaced)
), e as materialized (
  select * from unnest($16::int[], $17::bigint[], $18::text[], $19::int[], $20::text[], $21::text[], $22::text[], $23::float8[])
    with ordinality as e(n, seq, type, version, data, tags, subject, time, pos)
), written as (
  insert into ${s}.events (id, seq, pos, kind, type, version, data, tags, subject, time)
  select a.id, e.seq, e.pos, a.kind, e.type, e.version, e.data, e.tags::text[], e.subject, e.time from e join accepted a on a.n = e.n
), tagged as (
  insert into ${s}.event_tags (tag, xid, pos, id, seq)
  select distinct t.tag, pg_current_xact_id(), e.pos::int, a.id, e.seq
  from e join accepted a on a.n = e.n cross join lateral unnest(e.tags::text[]) as t(tag) where e.tags <> '{}'
), t as materialized (
  select * from unnest($24::int[], $25::text[], $26::float8[]) as t(n, key, due)
), unset as (
  delete from ${s}.timers x using t join accepted a on a.n = t.n where t.due is null and x.id = a.id and x.key = t.key
), set_ as (
  insert into ${s}.timers (id, key, due) select a.id, t.key, t.due from t join accepted a on a.n = t.n where t.due is not null
  on conflict (id, key) do update set due = excluded.due
)
select w.n, case when m.n is null then 'fenced' when a.n is null then 'conflict' else 'stored' end as is
from w left join mine m on m.n = w.n left join accepted a on a.n = w.n`
}

/** Twenty-six lists, in the order of the statement. */
function columns(group: readonly Write[]): unknown[][] {
  const lists: unknown[][] = Array.from({ length: 26 }, () => [])
  const put = (from: number, ...values: unknown[]): void => values.forEach((value, i) => lists[from + i]!.push(value))
  for (const [n, write] of group.entries()) {
    const id = toText(write.id)
    const isRun = write.write === 'run'
    const last = isRun ? write.first + write.events.length - 1 : 0
    put(0, n, toText(write.scope), write.epoch, id, toText(kindOf(write.id)), isRun ? write.first : 0, last, isRun)
    if (isRun)
      for (const [i, { type, version, data, tags, subject, time }] of write.events.entries())
        put(15, n, write.first + i, toText(type), version, toText(data), tags.length === 0 ? '{}' : toArray(tags), optional(subject), time)
    else put(8, n, write.expected, write.revision, write.version, optional(write.data), optional(write.subject), write.time)
    // Of two changes of one timer the later holds; PostgreSQL would refuse to touch a row twice.
    for (const [key, due] of new Map(write.timers.map((timer) => [timer.key, timer.due]))) put(23, n, toText(key), due ?? null)
  }
  return lists
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}

/** Longest id, timer, tag and the like: an index of PostgreSQL takes no more. */
const longest = 900

/** Why a write cannot be kept at all. */
function unfit(write: Write): Error | undefined {
  const names = [write.id, write.scope, ...write.timers.map(({ key }) => key)]
  if (write.write === 'run') for (const { tags } of write.events) names.push(...tags)
  const long = names.find((name) => name.length * 4 > longest && Buffer.byteLength(toText(name)) > longest)
  return long === undefined
    ? undefined
    : new RangeError(`${JSON.stringify(long.slice(0, 40))}… is longer than the ${longest} bytes that an id, a tag or a timer may have.`)
}

/** Stores a group. Never rejects. */
export async function append(connections: Connections, schema: string, statement: string, group: readonly Write[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = group.map((write) => ({ is: 'failed', cause: unfit(write), unfit: true }))
  const fit = group.map((write, i) => ({ write, i })).filter(({ i }) => (outcomes[i] as { cause?: unknown }).cause === undefined)
  if (fit.length === 0) return outcomes
  try {
    // A scope that was never raised has no row to hold on to.
    const unraised = [...new Set(fit.filter(({ write }) => write.epoch === 0).map(({ write }) => toText(write.scope)))]
    if (unraised.length > 0)
      await connections.query(`insert into ${schema}.owners select scope, 0, '' from unnest($1::text[]) scope on conflict do nothing`, [unraised])
    const rows = await connections.query<{ n: number; is: 'stored' | 'fenced' | 'conflict' }>(
      statement,
      columns(fit.map(({ write }) => write)),
      `troupe-append-${schema}`,
    )
    for (const { n, is } of rows) outcomes[fit[n]!.i] = { is }
  } catch (cause) {
    const { unknown, state = '', cause: why = cause } = cause as QueryFailed
    // Data that it cannot hold, or too much of it: it will say the same tomorrow.
    const never = /^(22|54)/.test(state) ? ({ unfit: true } as const) : {}
    for (const { i } of fit) outcomes[i] = unknown ? { is: 'unknown', cause: why } : { is: 'failed', cause: why, ...never }
  }
  return outcomes
}
