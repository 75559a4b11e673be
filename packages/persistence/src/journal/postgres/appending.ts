// A group as one statement of PostgreSQL: fence, expected numbers and all rows, whole or not at all for each write, in one round trip.
//
//   owned     the scopes that have the epoch that a write names, locked `for share` in scope order: who raises an epoch waits for us,
//             and we for him. (`for key share` would let a takeover through while this statement is open.)
//   accepted  heads that stood right before a run, moved on: the row is locked, so that of two writers one finds it moved
//
//   placed    the position of the group among all groups (`positions.ts`), taken once every head is ours, so that no group that waits for
//             another writer holds readers back
//
// A run is one row. The place of its last event in the order of all events is (position of the group, place in the group).

import type { Outcome, StoredEvent, Write } from '../../values/stored.ts'
import type { Connections, QueryFailed } from './connection.ts'
import { nextPosition } from './positions.ts'
import { writeRun } from './run-text.ts'
import { split, toArray, toJoined, toNumbers, toText } from './text.ts'

/**
 * What was begun or created is found by `(… in …) is true`, which is no join: the planner expects a row or two of all this, and would compare each
 * with each.
 */
export function appendStatement(s: string): string {
  return `
with named as materialized (
  select * from unnest($1::text[], $2::bigint[]) with ordinality as o(scope, epoch, k)
), owned as materialized (
  select o.scope, o.epoch from ${s}.owners o
  where (o.scope, o.epoch) in (select scope, epoch from named) order by o.scope for share of o
), mine as materialized (
  select k from named join owned using (scope, epoch)
), w as materialized (
  select w.n, w.id, w.first, w.last, split_part(w.id, '/', 1) as kind
  from unnest($3::int[], $4::int[], $5::text[], $6::bigint[], $7::bigint[]) as w(n, k, id, first, last) join mine using (k)
), begun as (
  insert into ${s}.heads as h (id, kind, seq) select id, kind, last from w where first = 1 order by id
  on conflict (id) do update set seq = excluded.seq where h.seq = 0 returning h.id
), moved as (
  update ${s}.heads h set seq = w.last from w where w.first > 1 and h.id = w.id and h.seq = w.first - 1 returning w.*
), accepted as materialized (
  select * from moved union all select * from w where first = 1 and (id in (select id from begun)) is true
), placed as materialized (
  ${nextPosition(s, '(select count(*) from accepted) > 0')}
), written as (
  insert into ${s}.runs (id, first, last, position, pos, kind, head, data)
  select a.id, a.first, a.last, (select position from placed), r.pos, a.kind, r.head, r.data
  from unnest($3::int[], $8::int[], ${split('$9')}, ${split('$10')}) as r(n, pos, head, data) join accepted a using (n)
), tagged as (
  insert into ${s}.run_tags (tag, position, pos, id, first) select t.tag, (select position from placed), t.pos, a.id, a.first
  from unnest($11::int[], $12::int[], $13::text[]) as t(n, pos, tag) join accepted a using (n)
), x as materialized (
  select x.* from unnest($14::int[], $15::int[], $16::text[], $17::bigint[], $18::bigint[], $19::bigint[], $20::text[], $21::text[], $22::float8[])
    as x(n, k, id, expected, revision, version, data, subject, time) join mine using (k)
), created as (
  insert into ${s}.states (id, revision, version, data, subject, time)
  select id, revision, version, data, subject, time from x where expected = 0 order by id on conflict (id) do nothing returning id
), replaced as (
  update ${s}.states o set revision = x.revision, version = x.version, data = x.data, subject = x.subject, time = x.time
  from x where x.expected > 0 and o.id = x.id and o.revision = x.expected returning x.n, x.id
), listed as (
  insert into ${s}.heads (id, kind, seq) select id, split_part(id, '/', 1), 0 from created on conflict do nothing
), stored as materialized (
  select n, id from accepted union all select n, id from replaced
  union all select n, id from x where expected = 0 and (id in (select id from created)) is true
), t as materialized (
  select s.id, t.key, t.due from unnest($23::int[], $24::text[], $25::float8[]) as t(n, key, due) join stored s using (n)
), unset as (
  delete from ${s}.timers o using t where t.due is null and o.id = t.id and o.key = t.key
), set_ as (
  insert into ${s}.timers (id, key, due) select id, key, due from t where due is not null on conflict (id, key) do update set due = excluded.due
)
select (select string_agg(n::text, ',') from stored) as stored,
  (select string_agg(n::text, ',') from (select n from w union all select n from x) l) as let_in`
}

/** What the statement takes, in its order. Lists are written here where that is cheaper than to let `pg` do it. */
function parameters(group: readonly Write[]): unknown[] {
  const [scopes, epochs]: [string[], number[]] = [[], []]
  const known = new Map<string, number>()
  const ownerOf = ({ scope, epoch }: Write): number => {
    const owner = `${epoch} ${scope}`
    let k = known.get(owner)
    if (k === undefined) {
      known.set(owner, (k = scopes.push(scope)))
      epochs.push(epoch)
    }
    return k
  }
  const runs = { n: [] as number[], k: [] as number[], id: [] as string[], first: [] as number[], last: [] as number[], pos: [] as number[] }
  const texts = { head: [] as string[], data: [] as string[] }
  const tags = { n: [] as number[], pos: [] as number[], tag: [] as string[] }
  const states: unknown[][] = Array.from({ length: 9 }, () => [])
  const timers: unknown[][] = [[], [], []]
  let pos = 0
  for (const [n, write] of group.entries()) {
    if (write.write === 'run') {
      const { head, data } = writeRun(write.events)
      pos += write.events.length
      runs.n.push(n)
      runs.k.push(ownerOf(write))
      runs.id.push(write.id)
      runs.first.push(write.first)
      runs.last.push(write.first + write.events.length - 1)
      runs.pos.push(pos)
      texts.head.push(head)
      texts.data.push(data)
      for (const tag of tagsOf(write.events)) {
        tags.n.push(n)
        tags.pos.push(pos)
        tags.tag.push(tag)
      }
    } else {
      const { expected, revision, version, data, subject, time } = write
      put(states, n, ownerOf(write), toText(write.id), expected, revision, version, optional(data), optional(subject), time)
    }
    // Of two changes of one timer the later holds; PostgreSQL would refuse to touch a row twice.
    if (write.timers.length > 0)
      for (const [key, due] of new Map(write.timers.map((timer) => [timer.key, timer.due]))) put(timers, n, toText(key), due ?? null)
  }
  return [
    toArray(scopes),
    toNumbers(epochs),
    toNumbers(runs.n),
    toNumbers(runs.k),
    toArray(runs.id),
    toNumbers(runs.first),
    toNumbers(runs.last),
    toNumbers(runs.pos),
    toJoined(texts.head),
    toJoined(texts.data),
    toNumbers(tags.n),
    toNumbers(tags.pos),
    toArray(tags.tag),
    ...states,
    ...timers,
  ]
}

function put(lists: readonly unknown[][], ...values: readonly unknown[]): void {
  for (const [i, value] of values.entries()) lists[i]!.push(value)
}

const none: ReadonlySet<string> = new Set()

/** The tags of a run's events, each once. */
export function tagsOf(events: readonly StoredEvent[]): ReadonlySet<string> {
  let all: Set<string> | undefined
  for (const { tags } of events) if (tags.length > 0) for (const tag of tags) (all ??= new Set()).add(tag)
  return all ?? none
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}

/** Longest id, timer, tag and the like: an index of PostgreSQL takes no more. */
const longest = 900

/** Why a write cannot be kept at all. */
function unfit(write: Write): Error | undefined {
  const names = [write.id, write.scope, ...write.timers.map(({ key }) => key), ...(write.write === 'run' ? tagsOf(write.events) : none)]
  const long = names.find((name) => name.length * 4 > longest && Buffer.byteLength(toText(name)) > longest)
  return long === undefined
    ? undefined
    : new RangeError(`${JSON.stringify(long.slice(0, 40))}… is longer than the ${longest} bytes that an id, a tag or a timer may have.`)
}

function numbersOf(list: string | null): ReadonlySet<number> {
  return new Set(list?.split(',').map(Number))
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
    const values = parameters(fit.map(({ write }) => write))
    const [row] = await connections.query<{ stored: string | null; let_in: string | null }>(statement, values, `troupe-append-${schema}`)
    const [stored, letIn] = [numbersOf(row!.stored), numbersOf(row!.let_in)]
    for (const [n, { i }] of fit.entries()) outcomes[i] = { is: stored.has(n) ? 'stored' : letIn.has(n) ? 'conflict' : 'fenced' }
  } catch (cause) {
    const { unknown, state = '', cause: why = cause } = cause as QueryFailed
    // Data that it cannot hold, or too much of it: it will say the same tomorrow.
    const never = /^(22|54)/.test(state) ? ({ unfit: true } as const) : {}
    for (const { i } of fit) outcomes[i] = unknown ? { is: 'unknown', cause: why } : { is: 'failed', cause: why, ...never }
  }
  return outcomes
}
