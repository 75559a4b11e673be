// The tables of a PostgreSQL journal, as text and as an act. They are versioned, are made by whoever may make tables, and are used by a
// role that may do to each table what the journal does and nothing more: nobody changes an event.
//
//   positions              the sequence that gives each group its position (`positions.ts`)
//   runs      (id, first)  the consecutive events of an id in one group, as one row; (position, pos) of the last one is its place in the order of all
//   run_tags  (tag, …)     the runs in which events have a tag
//   events                 a view for people: the events of all runs, one by one. The journal does not use it.

import { randomUUID } from 'node:crypto'
import { checkText, readOptions, type Table } from '@troupe/core/internal'
import { JournalRefused } from '../../values/errors.ts'
import { checkWay, Connections, type PostgresConfig, type PostgresPool, poolOf } from './connection.ts'
import { quoted } from './text.ts'

/** The version of the tables that this code reads and writes. */
export const schemaVersion = 3

/** The way from one version of the tables to another. */
export const whatToDo =
  'use a new schema, which createPostgresSchema creates; to keep what is there, export it with the version that wrote it (troupe journal export), and import that into the new schema'

/** Where a journal's tables are, and who uses them. */
export interface PostgresSchemaOptions {
  /** The schema that has the tables; `troupe` unless told. */
  readonly schema?: string | undefined
  /** An existing role that is granted what a journal needs to read and write: it adds events, and can neither change nor delete one. */
  readonly role?: string | undefined
  /** An existing role that may delete events and erase subjects besides: for retention and erasure. It may be the same as `role`. */
  readonly keeper?: string | undefined
}

const table: Table<PostgresSchemaOptions> = { schema: checkText, role: checkText, keeper: checkText }

/** What each table is for a journal that is written. */
const writing: Readonly<Record<string, string>> = {
  meta: 'select',
  owners: 'select, insert, update',
  heads: 'select, insert, update',
  positions: 'select, usage',
  runs: 'select, insert',
  run_tags: 'select, insert',
  events: 'select',
  states: 'select, insert, update',
  snapshots: 'select, insert, update, delete',
  timers: 'select, insert, update, delete',
  offsets: 'select, insert, update, delete',
  keys: 'select, insert',
}
/** And what more it is for one whose events are deleted, and whose subjects are erased. */
const keeping: Readonly<Record<string, string>> = { runs: 'delete', run_tags: 'delete', keys: 'update' }

function grantsTo(s: string, role: string, ...rights: readonly Readonly<Record<string, string>>[]): string[] {
  return [
    `grant usage on schema ${s} to ${quoted(role)};`,
    ...rights.flatMap((some) => Object.entries(some).map(([name, what]) => `grant ${what} on ${s}.${name} to ${quoted(role)};`)),
  ]
}

/**
 * The statements that make the tables of a journal, for whoever wants to run them by hand or to read them first.
 *
 * Guarantees: running them twice changes nothing. Fails with `InvalidOption`.
 *
 * @example
 * console.log(postgresSchema({ schema: 'shop', role: 'shop_app' }))
 */
export function postgresSchema(options: PostgresSchemaOptions = {}): string {
  const { schema = 'troupe', role, keeper } = readOptions('postgresSchema', options, table)
  const s = quoted(schema)
  const grants = [...(role === undefined ? [] : grantsTo(s, role, writing)), ...(keeper === undefined ? [] : grantsTo(s, keeper, writing, keeping))]
  return `create schema if not exists ${s};
create table if not exists ${s}.meta (key text primary key, value text not null);
create table if not exists ${s}.owners (scope text collate "C" primary key, epoch bigint not null, holder text not null);
create table if not exists ${s}.heads (
  id text collate "C" primary key, kind text collate "C" not null, seq bigint not null, deleted bigint not null default 0
) with (fillfactor = 70);
create sequence if not exists ${s}.positions as bigint;
create table if not exists ${s}.runs (
  id text collate "C", first bigint, last bigint not null, position bigint not null, pos int not null,
  kind text collate "C" not null, head text not null, data text not null, primary key (id, first)
);
create index if not exists runs_in_order on ${s}.runs (position, pos);
create index if not exists runs_of_kind on ${s}.runs (kind, position, pos);
create table if not exists ${s}.run_tags (
  tag text collate "C", position bigint not null, pos int not null, id text collate "C" not null, first bigint not null,
  primary key (tag, position, pos)
);
create index if not exists tags_of_run on ${s}.run_tags (id, first);
create table if not exists ${s}.states (
  id text collate "C" primary key, revision bigint not null, version bigint not null, data text, subject text, time double precision not null
);
create table if not exists ${s}.snapshots (
  id text collate "C", seq bigint, version bigint not null, data text not null, time double precision not null, primary key (id, seq)
);
create table if not exists ${s}.timers (id text collate "C", key text collate "C", due double precision not null, primary key (id, key));
create index if not exists timers_by_due on ${s}.timers (due, id, key);
create table if not exists ${s}.offsets (projection text collate "C" primary key, at text);
create table if not exists ${s}.keys (subject text collate "C" primary key, key bytea);
create or replace view ${s}.events as select r.id, r.first + d.n - 1 as seq, r.kind,
  coalesce(j.head->>'type', j.head->'types'->>(d.n::int - 1)) as type,
  coalesce(j.head->>'version', j.head->'versions'->>(d.n::int - 1))::bigint as version, d.data,
  coalesce(j.head->'tags', j.head->'tagsOfEach'->(d.n::int - 1), '[]') as tags,
  coalesce(j.head->>'subject', j.head->'subjects'->>(d.n::int - 1)) as subject,
  to_timestamp(coalesce(j.head->>'time', j.head->'times'->>(d.n::int - 1))::float8 / 1000) as time,
  r.position, r.pos - (r.last - r.first + 1) + d.n as pos
  from ${s}.runs r join ${s}.heads h on h.id = r.id cross join lateral (select r.head::jsonb as head) j
  cross join lateral unnest(string_to_array(r.data, E'\\n')) with ordinality as d(data, n)
  where d.n <= r.last - r.first + 1 and r.first + d.n - 1 > h.deleted;
insert into ${s}.meta values ('version', '${schemaVersion}'), ('identity', '${randomUUID()}') on conflict do nothing;
${grants.join('\n')}
`
}

/**
 * Makes the tables of a journal where they are missing, in one transaction. Whoever calls it may make tables; whoever runs the journal
 * need not.
 *
 * Guarantees: what is there stays as it is. Fails with `JournalRefused` where there are tables of another version, and with what
 * PostgreSQL says.
 *
 * @example
 * await createPostgresSchema({ connectionString: process.env.ADMIN_URL }, { role: 'shop_app' })
 */
export async function createPostgresSchema(way: PostgresPool | PostgresConfig, options: PostgresSchemaOptions = {}): Promise<void> {
  const { schema = 'troupe' } = readOptions('createPostgresSchema', options, table)
  const name = `postgres(${schema})`
  const { pool, end } = await poolOf(name, checkWay('createPostgresSchema', way))
  const connections = new Connections(name, pool, { after: wallClock }, 60_000)
  try {
    await connections.use(async (run) => {
      await run('begin')
      try {
        // Two that do this at once would fail at the first table.
        await run('select pg_advisory_xact_lock(7236831)')
        const [there] = (await run('select to_regclass($1) as there', [`${quoted(schema)}.meta`])) as [{ there: string | null }]
        if (there.there !== null) await checkVersion(run, name, schema)
        await run(postgresSchema(options))
        await run('commit')
      } catch (cause) {
        await run('rollback').catch(() => undefined)
        throw cause
      }
    })
  } catch (cause) {
    throw connections.errorOf(cause)
  } finally {
    await end()
  }
}

async function checkVersion(run: (text: string) => Promise<readonly unknown[]>, name: string, schema: string): Promise<void> {
  const [found] = (await run(`select value from ${quoted(schema)}.meta where key = 'version'`)) as [{ value: string } | undefined]
  if (found?.value !== String(schemaVersion))
    throw new JournalRefused(name, `its tables have version ${found?.value ?? 'none'}, and this one makes ${schemaVersion}; ${whatToDo}`)
}

function wallClock(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}
