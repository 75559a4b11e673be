// The events of many ids out of a PostgreSQL journal, a part at a time, without a gap: what is missing or damaged ends that id, with an error that
// names the row.
//
// An actor that commits one event at a time has a row for each, and a row costs the server and the driver more than its event does. So the server joins
// the short rows of an id into one text, in which each row is checked as if it had come alone; a second query reads the long rows.
//
//   spans  1,2,3:9,10        first and last event of each row of the id, in order
//   heads  head␁,head␁,␁,head      the head of each, empty where the row is long; data likewise

import { JournalDamaged } from '../../values/errors.ts'
import type { Replayed, StoredEvent } from '../../values/stored.ts'
import type { Connections } from './connection.ts'
import { bytesAtOnce } from './runs.ts'
import { readRun, SimilarHeads } from './run-text.ts'
import { fromJoined, sqlJoint, toArray, toNumbers, toText } from './text.ts'

/** Ids of one query, and events of one answer, at most; but for the last run of it. */
const idsAtOnce = 500
const eventsAtOnce = 5000
/** Longer rows are read one by one, which keeps the answer with short rows below `bytesAtOnce`. */
const maxShortRowBytes = bytesAtOnce / eventsAtOnce

/** Up to what is read of an id. */
interface Wanted {
  readonly id: string
  at: number
  readonly last: number
}

/** An id, and the last event of it that one query reads. */
interface Asked {
  readonly wanted: Wanted
  readonly until: number
}

/** The events of ids, each up to its last; rows are asked for as they are taken. */
export async function* replay(
  connections: Connections,
  s: string,
  from: readonly { readonly id: string; readonly after: number }[],
  batch: number,
): AsyncGenerator<Replayed> {
  const reading = new Reading(connections, s, batch)
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
      const asked: Asked[] = []
      for (let events = 0; asked.length < left.length && events < eventsAtOnce;) {
        const wanted = left[asked.length]!
        const until = Math.min(wanted.last, wanted.at + eventsAtOnce - events)
        asked.push({ wanted, until })
        events += until - wanted.at
      }
      const rest = yield* reading.part(asked)
      left = [...rest, ...left.slice(asked.length)]
    }
  }
}

/** The rows of one id, joined. */
interface JoinedRows {
  /** None where there are no rows. */
  readonly spans: string | null
  readonly heads: string
  readonly data: string
}

/** The rows of one id, in order. */
interface Rows {
  readonly id: string
  readonly spans: readonly string[]
  readonly heads: readonly string[]
  /** Empty where a row is long: each has a line for each of its events. */
  readonly data: readonly string[]
}

/** A long row, as the second query gives it. */
interface LongRow {
  readonly k: string
  readonly head: string
  readonly data: string
  /** The number of long rows, also of those that this answer leaves out because of its size. */
  readonly runs: string
}

class Reading {
  readonly #connections: Connections
  readonly #s: string
  readonly #batch: number
  readonly #heads = new SimilarHeads()

  constructor(connections: Connections, s: string, batch: number) {
    this.#connections = connections
    this.#s = s
    this.#batch = batch
  }

  /** The events of one answer; returns of whom there is more. */
  async *part(asked: readonly Asked[]): AsyncGenerator<Replayed, Wanted[]> {
    const found = await this.#joined(asked)
    const long = await this.#long(found)
    const rest: Wanted[] = []
    for (const [n, { wanted, until }] of asked.entries()) {
      let row = 0
      let problem: Problem | undefined
      let isOver = false
      while (!isOver) {
        // About a batch at a time: what is collected for longer outlives the young generation, and costs more to collect than to read.
        const took = this.#take(wanted, until, found[n]!, row, long)
        const { events } = took
        ;({ row, problem, isOver } = took)
        for (let k = 0; k < events.length; k += this.#batch)
          yield { id: wanted.id, first: wanted.at + k + 1, events: events.length <= this.#batch ? events : events.slice(k, k + this.#batch) }
        wanted.at += events.length
      }
      if (problem !== undefined) yield { id: wanted.id, damage: await this.#damageOf(wanted, problem) }
      else if (wanted.at < wanted.last) rest.push(wanted)
    }
    return rest
  }

  /** The rows of each id that have its next events: from the last one that does not begin after the next event. */
  async #joined(asked: readonly Asked[]): Promise<readonly Rows[]> {
    const rows = await this.#connections.query<JoinedRows>(
      `select a.spans, a.heads, a.data from unnest($1::text[], $2::bigint[], $3::bigint[]) with ordinality as w(id, at, until, n)
       cross join lateral (
         select string_agg(case when r.first = r.last then r.first::text else r.first || ':' || r.last end, ',') as spans,
           string_agg(case when r.is_short then r.head else '' end, ${sqlJoint}) as heads,
           string_agg(case when r.is_short then r.data else '' end, ${sqlJoint}) as data
         from (
           select r.first, r.last, r.head, r.data, octet_length(r.head) + octet_length(r.data) <= ${maxShortRowBytes} as is_short
           from ${this.#s}.runs r where r.id = w.id and r.first <= w.until
             and r.first >= coalesce((select b.first from ${this.#s}.runs b where b.id = w.id and b.first <= w.at + 1 order by b.first desc limit 1), 0)
           order by r.first
         ) r
       ) a order by w.n`,
      [toArray(asked.map(({ wanted }) => wanted.id)), toNumbers(asked.map(({ wanted }) => wanted.at)), toNumbers(asked.map(({ until }) => until))],
    )
    return rows.map((row, n) => rowsOf(asked[n]!.wanted.id, row))
  }

  /** The long rows among them, as many as are not too much for one answer. */
  async #long(found: readonly Rows[]): Promise<LongRows> {
    const wanted: { readonly id: string; readonly first: number }[] = []
    for (const { id, spans, data } of found)
      for (let i = data.indexOf(''); i >= 0; i = data.indexOf('', i + 1)) wanted.push({ id, first: readSpan(spans[i]!).first })
    const long: LongRows = new Map()
    if (wanted.length === 0) return long
    const rows = await this.#connections.query<LongRow>(
      `select q.k, q.head, q.data, q.runs from (
         select w.k, r.head, r.data, count(*) over () as runs,
           sum(octet_length(r.head) + octet_length(r.data)) over (order by w.k rows between unbounded preceding and 1 preceding) as bytes
         from unnest($1::text[], $2::bigint[]) with ordinality as w(id, first, k) join ${this.#s}.runs r on r.id = w.id and r.first = w.first
       ) q where coalesce(q.bytes, 0) < ${bytesAtOnce} order by q.k`,
      [toArray(wanted.map(({ id }) => id)), toNumbers(wanted.map(({ first }) => first))],
    )
    for (const row of rows) {
      const { id, first } = wanted[Number(row.k) - 1]!
      long.set(keyOf(id, first), row)
    }
    if (rows.length < Number(rows[0]?.runs ?? 0))
      for (const { id, first } of wanted.slice(Number(rows.at(-1)!.k))) long.set(keyOf(id, first), undefined)
    return long
  }

  /** The next events of an id, a batch or more, out of its rows from one on; and what is wrong with the row after them. */
  #take({ at, last }: Wanted, until: number, { id, spans, heads, data }: Rows, from: number, long: LongRows): Taken {
    const events: StoredEvent[] = []
    let row = from
    const over = (problem?: Problem): Taken => ({ events, row, problem, isOver: true })
    for (; row < spans.length && events.length < this.#batch; row++) {
      const next = at + events.length + 1
      const { first, last: end } = readSpan(spans[row]!)
      if (first < next && row > 0) return over({ seq: first, is: `event ${first} is there twice` })
      if (end < next || first > next) return over({ seq: next })
      let [head, lines] = [heads[row]!, data[row]!]
      if (lines === '') {
        const key = keyOf(id, first)
        const found = long.get(key)
        if (found === undefined) return over(long.has(key) ? undefined : { seq: next })
        ;({ head, data: lines } = found)
      }
      try {
        if (first === end) events.push(this.#heads.readOne(head, lines))
        else for (const event of readRun(head, lines, end - first + 1).slice(next - first, last - first + 1)) events.push(event)
      } catch (cause) {
        return over({ seq: first, is: (cause as Error).message, cause })
      }
    }
    if (row < spans.length) return { events, row, problem: undefined, isOver: false }
    const next = at + events.length + 1
    return over(next > until ? undefined : { seq: next })
  }

  async #damageOf({ id, last }: Wanted, { seq, is, cause }: Problem): Promise<JournalDamaged> {
    const damage = (problem: string): JournalDamaged => new JournalDamaged(this.#connections.name, `${this.#s}.runs, ${id}#${seq}`, problem, cause)
    if (is !== undefined) return damage(is)
    const [head] = await this.#connections.query<{ deleted: string }>(`select deleted from ${this.#s}.heads where id = $1`, [toText(id)])
    return damage(
      Number(head?.deleted ?? 0) >= seq ? 'it was deleted while it was read; read it again' : `event ${seq} is missing, and the head says ${last}`,
    )
  }
}

/** Why an event cannot be read; it is missing unless told. */
interface Problem {
  readonly seq: number
  readonly is?: string
  readonly cause?: unknown
}

interface Taken {
  readonly events: readonly StoredEvent[]
  /** The row to go on with. */
  readonly row: number
  readonly problem: Problem | undefined
  /** True if this answer has nothing more of the id. */
  readonly isOver: boolean
}

/** Long rows by `keyOf`; undefined where they are too much for this answer. */
type LongRows = Map<string, { readonly head: string; readonly data: string } | undefined>

function keyOf(id: string, first: number): string {
  return `${first} ${id}`
}

function readSpan(span: string): { readonly first: number; readonly last: number } {
  const colon = span.indexOf(':')
  const first = Number(colon < 0 ? span : span.slice(0, colon))
  return { first, last: colon < 0 ? first : Number(span.slice(colon + 1)) }
}

function rowsOf(id: string, joined: JoinedRows): Rows {
  if (joined.spans === null) return { id, spans: [], heads: [], data: [] }
  const [spans, heads, data] = [joined.spans.split(','), fromJoined(joined.heads), fromJoined(joined.data)]
  // A row that is damaged may have in it what parts one row from the next. Then each is read by itself, which tells the one.
  const isWhole = heads.length === spans.length && data.length === spans.length
  return isWhole ? { id, spans, heads, data } : { id, spans, heads: spans.map(() => ''), data: spans.map(() => '') }
}
