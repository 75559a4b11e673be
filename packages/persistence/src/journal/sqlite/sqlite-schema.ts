// Tables of a SQLite journal, what makes a file one, and the settings of its connections. Used by the worker too: nothing here needs core.
//
//   runs       (position)   consecutive events of one id in one group, as one row; positions are the order of commits and are never used again
//   packs      (id, first)  copies of events that were written in many rows, for replay (`sqlite-packs.ts`)
//   run_tags   (tag, …)     which runs have events with a tag
//   heads      (id)         where an id stands, compared with `runs` and `states` before an actor starts from it
//   epochs     (scope)      which writer is current
//   journal_state           how many rows there are: a page that was replaced by an empty one is whole to SQLite
//   sessions                who has the file open, or did not close it
//   events                  a view for people: every event by itself. The journal does not use it.
//
// Every row has a checksum (`sqlite-rows.ts`). Text is escaped as in PostgreSQL, so that it has no NUL.

import type { SqliteConnection } from '@troupe/sqlite'
import { sumOf } from './sqlite-rows.ts'

/** What `pragma application_id` says: "Trou". */
export const applicationId = 0x54_72_6f_75

/** What `pragma user_version` says: the version of these tables. */
export const formatVersion = 2

const tables: readonly string[] = [
  `create table meta (key text primary key, value text not null, crc integer not null) strict, without rowid`,
  `create table journal_state (
    one integer primary key check (one = 1), commits integer not null, position integer not null, ids integer not null, events integer not null,
    snapshots integer not null, timers integer not null, epochs integer not null, offsets integer not null, crc integer not null) strict`,
  `create table sessions (session text primary key, process text not null) strict, without rowid`,
  `create table epochs (scope text primary key, epoch integer not null, holder text not null, crc integer not null) strict, without rowid`,
  `create table heads (
    id text primary key, entity_type text not null, seq integer not null, deleted integer not null, revision integer not null, crc integer not null
  ) strict, without rowid`,
  `create table runs (
    position integer primary key, id text not null, entity_type text not null, first integer not null, last integer not null, head text not null,
    data text not null, crc integer not null) strict`,
  `create unique index runs_by_id on runs (id, first)`,
  `create index runs_by_entity_type on runs (entity_type, position)`,
  `create table packs (
    id text not null, first integer not null, last integer not null, head text not null, data text not null, crc integer not null,
    primary key (id, first)) strict`,
  `create table run_tags (tag text not null, position integer not null, primary key (tag, position)) strict, without rowid`,
  `create table states (
    id text primary key, revision integer not null, version integer not null, data text, subject text, time real not null, crc integer not null
  ) strict`,
  `create table snapshots (
    id text not null, seq integer not null, version integer not null, data text not null, time real not null, crc integer not null,
    primary key (id, seq)) strict`,
  `create table timers (
    id text not null, key text not null, due real not null, crc integer not null, primary key (id, key)) strict, without rowid`,
  `create index timers_by_due on timers (due, id, key)`,
  `create table offsets (projection text primary key, reached text not null, crc integer not null) strict, without rowid`,
  `create view events as
    with recursive numbered (position, n, line, rest) as (
      select position, 0, '', data from runs
      union all
      select position, n + 1, substr(rest, 1, instr(rest, char(10)) - 1), substr(rest, instr(rest, char(10)) + 1) from numbered where rest <> '')
    select r.position, n, r.id, r.first + n - 1 as seq, r.entity_type,
      coalesce(r.head ->> '$.type', r.head ->> ('$.types[' || (n - 1) || ']')) as type,
      coalesce(r.head ->> '$.version', r.head ->> ('$.versions[' || (n - 1) || ']')) as version, e.line as data,
      coalesce(r.head -> '$.tags', r.head -> ('$.tagsOfEach[' || (n - 1) || ']'), '[]') as tags,
      coalesce(r.head ->> '$.subject', r.head ->> ('$.subjects[' || (n - 1) || ']')) as subject,
      strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(r.head ->> '$.time', r.head ->> ('$.times[' || (n - 1) || ']')) / 1000.0, 'unixepoch') as time
    from numbered e join runs r using (position) join heads h on h.id = r.id where n > 0 and r.first + n - 1 > h.deleted`,
]

/** Makes an empty file a journal; the caller gives it its name afterwards. */
export function createTables(connection: SqliteConnection, identity: string): void {
  connection.exec(`pragma page_size = 4096; pragma encoding = 'UTF-8'; pragma auto_vacuum = incremental`)
  // The caller flushes the file once it is whole.
  connection.exec('pragma synchronous = off; begin immediate')
  for (const sql of tables) connection.exec(sql)
  connection.exec(`insert into meta values ('identity', '${identity}', ${sumOf('meta', 'identity', identity)})`)
  connection.exec(`insert into journal_state values (1, 0, 0, 0, 0, 0, 0, 0, 0, ${sumOf('journal_state', 0, 0, 0, 0, 0, 0, 0, 0)})`)
  connection.exec(`pragma application_id = ${applicationId}; pragma user_version = ${formatVersion}; commit`)
  connection.exec('pragma journal_mode = wal')
}

/** What a file has instead of the tables that belong there; undefined if it has those. */
export function differentTables(connection: SqliteConnection): string | undefined {
  const found = new Map(
    connection
      .select(['name', 'sql'], `from sqlite_schema where sql is not null and name not like 'sqlite_%'`)
      .map((row) => [row['name'], row['sql']]),
  )
  for (const sql of tables) {
    const name = /^create (?:unique )?\w+ (\w+)/.exec(sql)![1]!
    if (!found.has(name)) return `${name} is missing`
    if (plain(found.get(name)) !== plain(sql)) return `${name} is not what was created`
  }
  return undefined
}
/** SQLite writes the first words of a statement its own way. */
function plain(sql: unknown): string {
  return String(sql)
    .replaceAll(/\s+/g, ' ')
    .replace(/^create (unique )?(table|index|view)/i, (words) => words.toLowerCase())
}

/** How long a connection waits for another one that writes or recovers, in ms. */
export const busyTimeout = 5000

export function settings(synchronous: 'full' | 'normal'): string {
  // Checkpoints at 16 MB of WAL: a page that many groups touch is written once.
  return `pragma busy_timeout = ${busyTimeout}; pragma synchronous = ${synchronous}; pragma wal_autocheckpoint = 4000;
    pragma journal_size_limit = 67108864; pragma cache_size = -8000; pragma temp_store = memory; pragma foreign_keys = off`
}
/** A connection that only reads, in the thread of the actors. */
export const readerSettings: string = `pragma busy_timeout = 1000; pragma query_only = on; pragma cache_size = -8000; pragma temp_store = memory`
