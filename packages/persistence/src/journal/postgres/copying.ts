// A PostgreSQL journal as records that any journal can take, read in one transaction that sees one moment; and such records taken into
// empty tables, in one transaction too: all of them are there, or none.

import { JournalRefused } from '../../values/errors.ts'
import { kindOf } from '../../values/stored.ts'
import { readsPrefix } from '../projections.ts'
import { groupsOf, type JournalRecord } from '../records.ts'
import { tagsOf } from './appending.ts'
import { type Connections, longestPause } from './connection.ts'
import { type SnapshotRow, snapshotOf, stateOf, type StateRow } from './rows.ts'
import { writeRun } from './run-text.ts'
import { lockPositions, nextLockedPosition } from './positions.ts'
import { beginning, bounded, placeAfter, PlacedRun, type Place, type RunRow } from './runs.ts'
import { fromText, toText } from './text.ts'

const pageSize = 1000

type Run = (text: string, values?: unknown[]) => Promise<readonly unknown[]>

/** Everything that is there when this begins. */
export async function* recordsOf(connections: Connections, s: string, signal: AbortSignal | undefined): AsyncGenerator<readonly JournalRecord[]> {
  let end!: () => void
  const over = new Promise<void>((resolve) => (end = resolve))
  const { run, using } = await new Promise<{ run: Run; using: Promise<void> }>((resolve, reject) => {
    const held: Promise<void> = connections.use((query) => {
      resolve({ run: query, using: held })
      return over
    })
    held.catch(reject)
  })
  try {
    await run(connections.beginning('isolation level repeatable read read only', longestPause))
    yield* pages(connections, s, run, signal)
  } finally {
    // Whatever went wrong is told already.
    await run('rollback').catch(() => undefined)
    end()
    await using.catch(() => undefined)
  }
}

async function* pages(connections: Connections, s: string, run: Run, signal: AbortSignal | undefined): AsyncGenerator<readonly JournalRecord[]> {
  /** A table in the order of some columns, a page at a time; `more` is the condition that goes on after the last row. */
  async function* table<Row>(
    text: (more: string) => string,
    key: readonly string[],
    after: (row: Row) => unknown[],
    make: (row: Row) => JournalRecord,
  ): AsyncGenerator<readonly JournalRecord[]> {
    let last: unknown[] | undefined
    for (;;) {
      signal?.throwIfAborted()
      const more: string = last === undefined ? '' : `where (${key.join(', ')}) > (${last.map((_, i) => `$${i + 1}`).join(', ')})`
      const rows = (await run(`${text(more)} order by ${key.join(', ')} limit ${pageSize}`, last)) as readonly Row[]
      if (rows.length > 0) yield rows.map(make)
      if (rows.length < pageSize) return
      last = after(rows.at(-1)!)
    }
  }
  yield* table<{ id: string; seq: string; deleted: string }>(
    (more) => `select id, seq, deleted from ${s}.heads ${more}`,
    ['id'],
    ({ id }) => [id],
    ({ id, seq, deleted }) => ({ record: 'id', id: fromText(id), seq: Number(seq), deleted: Number(deleted) }),
  )
  yield* events(connections, s, run, signal)
  yield* table<StateRow & { readonly id: string }>(
    (more) => `select id, revision, version, data, subject, time from ${s}.states ${more}`,
    ['id'],
    ({ id }) => [id],
    (row) => ({ record: 'state', id: fromText(row.id), ...stateOf(row)! }),
  )
  yield* table<SnapshotRow & { readonly id: string }>(
    (more) => `select id, seq, version, data, time from ${s}.snapshots ${more}`,
    ['id', 'seq'],
    ({ id, seq }) => [id, seq],
    (row) => ({ record: 'snapshot', id: fromText(row.id), ...snapshotOf(row) }),
  )
  yield* table<{ id: string; key: string; due: number }>(
    (more) => `select id, key, due from ${s}.timers ${more}`,
    ['id', 'key'],
    ({ id, key }) => [id, key],
    ({ id, key, due }) => ({ record: 'timer', id: fromText(id), key: fromText(key), due }),
  )
  yield* table<{ subject: string; key: Buffer | null }>(
    (more) => `select subject, key from ${s}.keys ${more}`,
    ['subject'],
    ({ subject }) => [subject],
    ({ subject, key }) => ({ record: 'key', subject: fromText(subject), key: key === null ? undefined : new Uint8Array(key) }),
  )
  // One who has passed nothing that is still there begins where everybody does: that need not be told.
  yield* table<{ projection: string; id: string; seq: string }>(
    // The event at that place, if it is there; else the last one of the run before it.
    (more) => `select o.projection, e.id, e.seq from (select * from ${s}.offsets where left(projection, ${readsPrefix.length}) <> '${readsPrefix}') o
      cross join lateral (select split_part(o.at, '.', 1)::bigint as position, split_part(o.at, '.', 2)::int as pos) p join lateral (
        (select 1 as n, r.id, r.last - (r.pos - p.pos) as seq from (
           select * from ${s}.runs where position = p.position and pos >= p.pos order by pos limit 1) r join ${s}.heads h on h.id = r.id
         where r.last - (r.pos - p.pos) >= greatest(r.first, h.deleted + 1))
        union all
        (select 2 as n, id, last as seq from ${s}.runs where (position, pos) < (p.position, p.pos) order by position desc, pos desc limit 1)
        order by n limit 1) e on true ${more}`,
    ['projection'],
    ({ projection }) => [projection],
    ({ projection, id, seq }) => ({
      record: 'place',
      projection: fromText(projection),
      id: fromText(id),
      seq: Number(seq),
    }),
  )
}

/** The events in the order of all. */
async function* events(connections: Connections, s: string, run: Run, signal: AbortSignal | undefined): AsyncGenerator<readonly JournalRecord[]> {
  let after: Place = beginning
  const text = bounded(
    s,
    `select * from ${s}.runs where (position, pos) > ($1::bigint, $2::int) order by position, pos limit ${pageSize}`,
    ['position', 'pos'],
    pageSize,
  )
  for (;;) {
    signal?.throwIfAborted()
    const rows = (await run(text, [...after])) as readonly RunRow[]
    const last = rows.at(-1)
    if (last === undefined) return
    after = placeAfter(last)
    const made: JournalRecord[] = []
    for (const row of rows) {
      const placed = new PlacedRun(connections, s, row)
      const { id, first, deleted } = placed
      for (const [i, event] of placed.events().entries()) if (first + i > deleted) made.push({ record: 'event', id, seq: first + i, ...event })
    }
    yield made
  }
}

/** Fills tables that have nothing. */
export async function restoreInto(connections: Connections, s: string, records: AsyncIterable<readonly JournalRecord[]>): Promise<void> {
  await connections.use(async (run) => {
    await run(connections.beginning('', longestPause))
    try {
      // Whoever would write meanwhile waits, and then finds what was imported.
      await run(`lock table ${s}.heads in share row exclusive mode`)
      const [found] = (await run(
        `select exists (select from ${s}.heads) or exists (select from ${s}.keys) or exists (select from ${s}.offsets) as there`,
      )) as [{ there: boolean }]
      if (found.there)
        throw new JournalRefused(connections.name, 'it has something already, which an import would overwrite; import into one that is new')
      await run(lockPositions(s))
      for await (const some of records) await take(run, s, some)
      await run('commit')
    } catch (cause) {
      await run('rollback').catch(() => undefined)
      throw cause
    }
  })
}

type Kinds = { readonly [K in JournalRecord['record']]: Extract<JournalRecord, { record: K }>[] }

/** Inserts some records; those of events are one group. */
async function take(run: Run, s: string, records: readonly JournalRecord[]): Promise<void> {
  const by: Kinds = { id: [], event: [], state: [], snapshot: [], timer: [], key: [], place: [] }
  for (const record of records) (by[record.record] as JournalRecord[]).push(record)
  /** Rows as columns; one statement for all of them. */
  const insert = async <R>(rows: readonly R[], statement: string, ...columns: readonly ((row: R) => unknown)[]): Promise<void> => {
    if (rows.length > 0)
      await run(
        statement,
        columns.map((column) => rows.map(column)),
      )
  }
  await insert(
    by.id,
    `insert into ${s}.heads (id, kind, seq, deleted) select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])`,
    ({ id }) => toText(id),
    ({ id }) => toText(kindOf(id)),
    ({ seq }) => seq,
    ({ deleted }) => deleted,
  )
  const [position] = by.event.length === 0 ? [] : ((await run(nextLockedPosition(s))) as [{ position: string }])
  let pos = 0
  const runs: { id: string; first: number; last: number; pos: number; head: string; data: string }[] = []
  const tagged: { tag: string; id: string; first: number; pos: number }[] = []
  for (const { id, first, events: some } of groupsOf(by.event).flat()) {
    pos += some.length
    const { head, data } = writeRun(some)
    runs.push({ id, first, last: first + some.length - 1, pos, head, data })
    for (const tag of tagsOf(some)) tagged.push({ tag, id, first, pos })
  }
  await insert(
    runs,
    `insert into ${s}.runs (id, first, last, position, pos, kind, head, data)
     select r.id, r.first, r.last, ${position?.position}, r.pos, r.kind, r.head, r.data from unnest($1::text[], $2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::text[], $7::text[])
       as r(id, first, last, pos, kind, head, data)`,
    ({ id }) => toText(id),
    ({ first }) => first,
    ({ last }) => last,
    (one) => one.pos,
    ({ id }) => toText(kindOf(id)),
    ({ head }) => head,
    ({ data }) => data,
  )
  await insert(
    tagged,
    `insert into ${s}.run_tags (tag, position, pos, id, first)
     select t.tag, ${position?.position}, t.pos, t.id, t.first from unnest($1::text[], $2::int[], $3::text[], $4::bigint[]) as t(tag, pos, id, first)`,
    ({ tag }) => toText(tag),
    (one) => one.pos,
    ({ id }) => toText(id),
    ({ first }) => first,
  )
  await insert(
    by.state,
    `insert into ${s}.states (id, revision, version, data, subject, time)
     select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::float8[])`,
    ({ id }) => toText(id),
    ({ revision }) => revision,
    ({ version }) => version,
    ({ data }) => optional(data),
    ({ subject }) => optional(subject),
    ({ time }) => time,
  )
  await insert(
    by.snapshot,
    `insert into ${s}.snapshots (id, seq, version, data, time) select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::float8[])`,
    ({ id }) => toText(id),
    ({ seq }) => seq,
    ({ version }) => version,
    ({ data }) => toText(data),
    ({ time }) => time,
  )
  await insert(
    by.timer,
    `insert into ${s}.timers (id, key, due) select * from unnest($1::text[], $2::text[], $3::float8[])`,
    ({ id }) => toText(id),
    ({ key }) => toText(key),
    ({ due }) => due,
  )
  await insert(
    by.key,
    `insert into ${s}.keys (subject, key) select * from unnest($1::text[], $2::bytea[])`,
    ({ subject }) => toText(subject),
    ({ key }) => (key === undefined ? null : Buffer.from(key)),
  )
  await insert(
    by.place.filter(({ id }) => id !== undefined),
    `insert into ${s}.offsets (projection, at) select p.projection, r.position::text || '.' || r.pos - (r.last - p.seq)
     from unnest($1::text[], $2::text[], $3::bigint[]) as p(projection, id, seq)
     join ${s}.runs r on r.id = p.id and r.first <= p.seq and r.last >= p.seq`,
    ({ projection }) => toText(projection),
    ({ id }) => toText(id!),
    ({ seq }) => seq,
  )
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}
