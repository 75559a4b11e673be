// The events of many ids out of a PostgreSQL journal by one query, a part at a time, without a gap: what is missing or damaged ends that id,
// with an error that names the row.

import { JournalDamaged } from '../../values/errors.ts'
import type { Replayed, StoredEvent } from '../../values/stored.ts'
import type { Connections } from './connection.ts'
import { bounded, PlacedRun, type RunRow } from './runs.ts'
import { toArray, toNumbers, toText } from './text.ts'

/** Ids of one query, and events of one answer, at most; but for the last run of it. */
const idsAtOnce = 500
const eventsAtOnce = 5000

/** Up to what is read of an id. */
interface Wanted {
  readonly id: string
  at: number
  readonly last: number
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
    const heads = await connections.query<{ seq: string | null; deleted: string | null }>(
      `select h.seq, h.deleted from unnest($1::text[]) with ordinality as w(id, n) left join ${s}.heads h on h.id = w.id order by w.n`,
      [toArray(some.map(({ id }) => id))],
    )
    let left: Wanted[] = some
      .map(({ id, after }, n) => ({ id, at: Math.max(after, Number(heads[n]!.deleted)), last: Number(heads[n]!.seq) }))
      .filter(({ at, last }) => at < last)
    while (left.length > 0) {
      // As many as have few enough events together; numbers tell how many they are.
      let [asked, events] = [0, 0]
      while (asked < left.length && events < eventsAtOnce) events += left[asked]!.last - left[asked++]!.at
      const rest = yield* part(connections, s, left.slice(0, asked), batch)
      left = [...rest, ...left.slice(asked)]
    }
  }
}

/** One answer; returns of whom there is more. */
async function* part(connections: Connections, s: string, asked: readonly Wanted[], batch: number): AsyncGenerator<Replayed, Wanted[]> {
  const untils = asked.map(({ at, last }) => Math.min(last, at + eventsAtOnce))
  // The run that has the next event is the last one that does not begin after it.
  const rows = await connections.query<RunRow>(
    bounded(
      s,
      `select w.n, r.* from unnest($1::text[], $2::bigint[], $3::bigint[]) with ordinality as w(id, at, until, n)
       join lateral (
         select r.* from ${s}.runs r where r.id = w.id and r.first <= w.until
           and r.first >= coalesce((select b.first from ${s}.runs b where b.id = w.id and b.first <= w.at + 1 order by b.first desc limit 1), 0)
       ) r on true`,
      ['n', 'first'],
      Number.MAX_SAFE_INTEGER,
    ),
    [toArray(asked.map(({ id }) => id)), toNumbers(asked.map(({ at }) => at)), toNumbers(untils)],
  )
  const whole = rows.length === Number(rows[0]?.runs ?? 0)
  const rest: Wanted[] = []
  let row = 0
  for (const [n, one] of asked.entries()) {
    const text = toText(one.id)
    const events: StoredEvent[] = []
    let damage: unknown
    for (; damage === undefined && row < rows.length && rows[row]!.id === text; row++) damage = add(connections, s, rows[row]!, one, events)
    for (let k = 0; k < events.length; k += batch) yield { id: one.id, first: one.at + k + 1, events: events.slice(k, k + batch) }
    one.at += events.length
    if (whole && one.at < untils[n]!) damage ??= missing(connections, s, one)
    if (damage !== undefined) {
      yield { id: one.id, damage: damage as JournalDamaged }
      while (row < rows.length && rows[row]!.id === text) row++
    } else if (one.at < one.last) rest.push(one)
  }
  return rest
}

/** Adds what a run has of the next events; says what is wrong where it has them not. */
function add(connections: Connections, s: string, row: RunRow, one: Wanted, events: StoredEvent[]): unknown {
  const run = new PlacedRun(connections, s, row)
  const next = one.at + events.length + 1
  if (run.last < next || run.first > next) return missing(connections, s, { ...one, at: next - 1 })
  if (run.first < next && events.length > 0) return new JournalDamaged(connections.name, run.where, `event ${run.first} is there twice`)
  try {
    for (const event of run.events().slice(next - run.first, one.last - run.first + 1)) events.push(event)
    return undefined
  } catch (damage) {
    return damage
  }
}

function missing({ name }: Connections, s: string, { id, at, last }: Wanted): JournalDamaged {
  return new JournalDamaged(name, `${s}.runs, ${id}#${at + 1}`, `event ${at + 1} is missing, and the head says ${last}`)
}
