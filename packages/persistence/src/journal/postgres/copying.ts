// A PostgreSQL journal as records that any journal can take, read in one transaction that sees one moment; and such records taken into
// empty tables, in one transaction too: all of them are there, or none.

import { JournalRefused } from '../../values/errors.ts'
import { kindOf } from '../../values/stored.ts'
import type { JournalRecord } from '../records.ts'
import type { Connections } from './connection.ts'
import { eventColumns, foundOf, type FoundRow, type SnapshotRow, snapshotOf, stateOf, type StateRow } from './rows.ts'
import { fromText, toArray, toText } from './text.ts'

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
    await run('begin isolation level repeatable read read only')
    yield* pages(s, run, signal)
  } finally {
    // Whatever went wrong is told already.
    await run('rollback').catch(() => undefined)
    end()
    await using.catch(() => undefined)
  }
}

async function* pages(s: string, run: Run, signal: AbortSignal | undefined): AsyncGenerator<readonly JournalRecord[]> {
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
  yield* table<FoundRow>(
    (more) => `select ${eventColumns}, e.xid::text as xid, e.pos from ${s}.events e ${more.replace('$1', '$1::xid8')}`,
    ['e.xid', 'e.pos'],
    ({ xid, pos }) => [xid, pos],
    (row) => {
      const { offset: _, ...event } = foundOf(row)
      return { record: 'event', ...event }
    },
  )
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
    (more) => `select o.projection, e.id, e.seq from ${s}.offsets o join lateral (
      select id, seq from ${s}.events where o.at is not null and (xid, pos) <= (split_part(o.at, '.', 1)::xid8, split_part(o.at, '.', 2)::int)
      order by xid desc, pos desc limit 1) e on true ${more}`,
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

/** Fills tables that have nothing. */
export async function restoreInto(connections: Connections, s: string, records: AsyncIterable<readonly JournalRecord[]>): Promise<void> {
  await connections.use(async (run) => {
    await run('begin')
    try {
      // Whoever would write meanwhile waits, and then finds what was imported.
      await run(`lock table ${s}.heads in share row exclusive mode`)
      const [found] = (await run(
        `select exists (select from ${s}.heads) or exists (select from ${s}.keys) or exists (select from ${s}.offsets) as there`,
      )) as [{ there: boolean }]
      if (found.there)
        throw new JournalRefused(connections.name, 'it has something already, which an import would overwrite; import into one that is new')
      let pos = 0
      for await (const some of records) pos = await take(run, s, some, pos)
      await run('commit')
    } catch (cause) {
      await run('rollback').catch(() => undefined)
      throw cause
    }
  })
}

type Kinds = { readonly [K in JournalRecord['record']]: Extract<JournalRecord, { record: K }>[] }

/** Inserts some records; `pos` counts events over all of them, and is their order. */
async function take(run: Run, s: string, records: readonly JournalRecord[], before: number): Promise<number> {
  const by: Kinds = { id: [], event: [], state: [], snapshot: [], timer: [], key: [], place: [] }
  for (const record of records) (by[record.record] as JournalRecord[]).push(record)
  let pos = before
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
  const events = by.event.map((event) => ({ ...event, pos: ++pos }))
  await insert(
    events,
    `insert into ${s}.events (id, seq, pos, kind, type, version, data, tags, subject, time)
     select e.id, e.seq, e.pos, e.kind, e.type, e.version, e.data, e.tags::text[], e.subject, e.time
     from unnest($1::text[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::text[], $10::float8[])
       as e(id, seq, pos, kind, type, version, data, tags, subject, time)`,
    ({ id }) => toText(id),
    ({ seq }) => seq,
    (event) => event.pos,
    ({ id }) => toText(kindOf(id)),
    ({ type }) => toText(type),
    ({ version }) => version,
    ({ data }) => toText(data),
    ({ tags }) => toArray(tags),
    ({ subject }) => optional(subject),
    ({ time }) => time,
  )
  await insert(
    events.flatMap((event) => [...new Set(event.tags)].map((tag) => ({ tag, id: event.id, seq: event.seq, pos: event.pos }))),
    `insert into ${s}.event_tags (tag, xid, pos, id, seq)
     select t.tag, pg_current_xact_id(), t.pos, t.id, t.seq from unnest($1::text[], $2::int[], $3::text[], $4::bigint[]) as t(tag, pos, id, seq)`,
    ({ tag }) => toText(tag),
    (tagged) => tagged.pos,
    ({ id }) => toText(id),
    ({ seq }) => seq,
  )
  await insert(
    by.state,
    `insert into ${s}.states (id, revision, version, data, subject, time)
     select * from unnest($1::text[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::float8[])`,
    ({ id }) => toText(id),
    ({ revision }) => revision,
    ({ version }) => version,
    ({ data }) => optional(data),
    ({ subject }) => optional(subject),
    ({ time }) => time,
  )
  await insert(
    by.snapshot,
    `insert into ${s}.snapshots (id, seq, version, data, time) select * from unnest($1::text[], $2::bigint[], $3::int[], $4::text[], $5::float8[])`,
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
    `insert into ${s}.offsets (projection, at) select p.projection, e.xid::text || '.' || e.pos
     from unnest($1::text[], $2::text[], $3::bigint[]) as p(projection, id, seq) join ${s}.events e on e.id = p.id and e.seq = p.seq`,
    ({ projection }) => toText(projection),
    ({ id }) => toText(id!),
    ({ seq }) => seq,
  )
  return pos
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}
