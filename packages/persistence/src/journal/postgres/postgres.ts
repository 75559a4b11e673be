// The journal for many machines: tables of PostgreSQL. A group is one statement, which is fence, expected number and rows at once; what
// happens to a statement whose connection breaks is not known until the epoch is raised.

import { randomUUID } from 'node:crypto'
import { checkFinite, checkText, readOptions, type Table } from '@troupe/core/internal'
import { FenceLost, JournalRefused, JournalUnavailable } from '../../values/errors.ts'
import {
  type DueTimer,
  type FoundEvent,
  type Head,
  type JournalStats,
  kindOf,
  type ListedId,
  type Outcome,
  type Ownership,
  type Replayed,
  type Snapshot,
  type SnapshotWrite,
  type Verified,
  type Write,
} from '../../values/stored.ts'
import { nextTurn, sliceMs } from '../loop-slice.ts'
import type { EventQuery, GroupLimits, HeldBack, Journal, JournalEnvironment, JournalSource, Keyless, SubjectKey } from '../port.ts'
import type { JournalRecord } from '../records.ts'
import { append, appendStatement } from './appending.ts'
import { verify } from './checking.ts'
import { checkWay, Connections, placeOf, type PostgresConfig, type PostgresPool, poolOf, QueryFailed } from './connection.ts'
import { recordsOf, restoreInto } from './copying.ts'
import { find } from './finding.ts'
import { HeldReaders } from './held-readers.ts'
import { readableNow } from './positions.ts'
import { listIds, readHeads } from './reading.ts'
import { replay } from './replaying.ts'
import { readOffset, type SnapshotRow, snapshotOf } from './rows.ts'
import { schemaVersion, whatToDo } from './schema.ts'
import { deleteEventsStatement, deleteSnapshotsStatement, raiseStatement, saveSnapshotStatement } from './statements.ts'
import { SubjectKeys } from './subject-keys.ts'
import { fromText, literal, quoted, toText } from './text.ts'
import { Waking } from './waking.ts'

/** Options of `postgres()`. */
export interface PostgresOptions {
  /** What errors call it; `postgres(schema)` unless told. */
  readonly name?: string | undefined
  /** The schema that has the tables; `troupe` unless told. */
  readonly schema?: string | undefined
  /**
   * How long an answer is waited for, in ms; 30,000 unless told. What has none by then failed, or is unknown where it was a write. A transaction of a
   * projection that asks nothing for so long is given up by the server.
   */
  readonly timeout?: number | undefined
  /** How long a reader waits at most before it looks again, in ms; 500 unless told. */
  readonly poll?: number | undefined
}

const table: Table<PostgresOptions> = { name: checkText, schema: checkText, timeout: [checkFinite, 'above'], poll: [checkFinite, 'above'] }

/**
 * A journal in PostgreSQL 13 or later, whose tables `createPostgresSchema` made. Takes a pool of `pg`, which stays yours, or what `pg`
 * needs to make one.
 *
 * Guarantees: what is acknowledged was committed with `synchronous_commit` on. Fails with `InvalidOption`; opening fails as
 * `JournalSource` says: PostgreSQL away is `JournalUnavailable`; tables that are missing or of another version, and a server that
 * does not flush, are `JournalRefused`.
 *
 * @example
 * const journal = postgres({ connectionString: process.env.DATABASE_URL })
 */
export function postgres(way: PostgresPool | PostgresConfig, options: PostgresOptions = {}): JournalSource {
  const checked = checkWay('postgres', way)
  const { schema = 'troupe', name = `postgres(${schema})`, timeout = 30_000, poll = 500 } = readOptions('postgres', options, table)
  return {
    name,
    kind: 'postgres',
    place: `${placeOf(checked)} schema ${schema}`,
    async open(environment) {
      const { pool, end } = await poolOf(name, checked)
      const connections = new Connections(name, pool, environment, timeout)
      try {
        const identity = await greet(connections, schema)
        return new PostgresJournal(connections, schema, identity, environment, poll, end)
      } catch (cause) {
        await end()
        throw connections.errorOf(cause)
      }
    },
  }
}

/** Looks whether this is a journal, and one that keeps what it says. */
async function greet(connections: Connections, schema: string): Promise<string> {
  const rows = await connections.query<{ key: string; value: string }>(
    `select key, value from ${quoted(schema)}.meta union all
     select name, setting from pg_settings where name in ('fsync', 'synchronous_commit')`,
  )
  const said = new Map(rows.map(({ key, value }) => [key, value]))
  if (said.get('version') !== String(schemaVersion))
    throw new JournalRefused(
      connections.name,
      `the tables of schema ${schema} have version ${said.get('version') ?? 'none'}, and this version of Troupe uses ${schemaVersion}; ${whatToDo}`,
    )
  for (const setting of ['fsync', 'synchronous_commit'])
    if (said.get(setting) === 'off')
      throw new JournalRefused(connections.name, `${setting} is off, so that what it acknowledges may be lost; turn it on`)
  await checkPositions(connections, schema)
  return said.get('identity')!
}

/** Tables that were restored without their sequence would give positions a second time, and readers would never see what is stored at them. */
async function checkPositions(connections: Connections, schema: string): Promise<void> {
  const s = quoted(schema)
  const [row] = await connections.query<{ used: string; last: string }>(
    `select (select coalesce(max(position), 0) from ${s}.runs) as used, last_value as last from ${s}.positions`,
  )
  if (Number(row!.used) > Number(row!.last))
    throw new JournalRefused(
      connections.name,
      `its sequence positions stands at ${row!.last}, and events have positions up to ${row!.used}: it was not restored with the tables; ` +
        `select setval(${literal(`${s}.positions`)}, ${row!.used})`,
    )
}

class PostgresJournal implements Journal {
  readonly identity: string
  readonly limits: GroupLimits = { writes: 1000, events: 5000, bytes: 4_000_000 }
  readonly transactional = true
  readonly #connections: Connections
  readonly #s: string
  readonly #statement: string
  readonly #holder: string = randomUUID()
  readonly #waking: Waking
  readonly #held: HeldReaders
  readonly #poll: number
  readonly #endPool: () => Promise<void>
  readonly #keys: SubjectKeys
  readonly #underWay = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(connections: Connections, schema: string, identity: string, environment: JournalEnvironment, poll: number, end: () => Promise<void>) {
    this.#connections = connections
    this.#s = quoted(schema)
    this.#statement = appendStatement(this.#s)
    this.identity = identity
    this.#poll = poll
    this.#waking = new Waking(connections, environment, `troupe ${identity}`)
    this.#held = new HeldReaders(environment)
    this.#endPool = end
    this.#keys = new SubjectKeys((text, ...values) => this.#query(text, ...values), this.#s)
  }

  /** Does something that closing waits for; what goes wrong is told as the port says. */
  async #do<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new JournalUnavailable(this.#connections.name, 'it is closed')
    const working = work()
    this.#underWay.add(working)
    try {
      return await working
    } catch (cause) {
      throw this.#connections.errorOf(cause)
    } finally {
      this.#underWay.delete(working)
    }
  }
  #query<Row>(text: string, ...values: unknown[]): Promise<readonly Row[]> {
    return this.#do(() => this.#connections.query<Row>(text, values))
  }
  /** A statement that gives a row where the fence let it in. */
  async #owned(text: string, ...values: unknown[]): Promise<Outcome> {
    try {
      const rows = await this.#do(async () => {
        try {
          return await this.#connections.query(text, values)
        } catch (cause) {
          return cause as QueryFailed
        }
      })
      if (rows instanceof QueryFailed) return { is: rows.unknown ? 'unknown' : 'failed', cause: rows.cause }
      return { is: rows.length > 0 ? 'stored' : 'fenced' }
    } catch (cause) {
      return { is: 'failed', cause }
    }
  }

  async append(group: readonly Write[]): Promise<readonly Outcome[]> {
    let outcomes: Outcome[]
    try {
      outcomes = await this.#do(() => append(this.#connections, this.#s, this.#statement, group))
    } catch (cause) {
      return group.map(() => ({ is: 'failed', cause }))
    }
    if (group.some(({ write }, i) => write === 'run' && outcomes[i]!.is === 'stored')) this.#waking.announce()
    return outcomes
  }

  heads(ids: readonly string[]): Promise<readonly Head[]> {
    return this.#do(() => readHeads(this.#connections, this.#s, ids))
  }
  async *replay(from: readonly { readonly id: string; readonly after: number }[], batch: number): AsyncGenerator<Replayed> {
    const parts = replay(this.#connections, this.#s, from, batch)
    for (;;) {
      const next = await this.#do(() => parts.next())
      if (next.done === true) return
      yield next.value
    }
  }

  saveSnapshot({ id, seq, version, data, time, scope, epoch }: SnapshotWrite): Promise<Outcome> {
    return this.#owned(saveSnapshotStatement(this.#s), toText(scope), epoch, toText(id), seq, version, toText(data), time, toText(kindOf(id)))
  }
  async snapshotBefore(id: string, seq: number): Promise<Snapshot | undefined> {
    const [row] = await this.#query<SnapshotRow>(
      `select seq, version, data, time from ${this.#s}.snapshots where id = $1 and seq < $2 order by seq desc limit 1`,
      toText(id),
      Math.min(seq, Number.MAX_SAFE_INTEGER),
    )
    return row === undefined ? undefined : snapshotOf(row)
  }
  deleteSnapshots(id: string, upTo: number, { scope, epoch }: Ownership): Promise<Outcome> {
    return this.#owned(deleteSnapshotsStatement(this.#s), toText(scope), epoch, toText(id), upTo)
  }
  async deleteEvents(id: string, upTo: number, { scope, epoch }: Ownership): Promise<Outcome> {
    // A part at a time: one statement that takes long would exceed the timeout.
    for (;;) {
      const [head] = await this.heads([id]).catch((cause: unknown) => [cause as Error])
      if (head instanceof Error) return { is: 'failed', cause: head }
      const part = Math.min(upTo, head!.seq, head!.deleted + 10_000)
      const outcome = await this.#owned(deleteEventsStatement(this.#s), toText(scope), epoch, toText(id), part)
      if (outcome.is !== 'stored' || part >= Math.min(upTo, head!.seq)) return outcome
    }
  }

  async *events(query: EventQuery): AsyncGenerator<readonly FoundEvent[]> {
    const { signal, once = false } = query
    let after = readOffset(query.after)
    let end = once ? undefined : Infinity
    let patience = 5
    // One that begins when the journal is closed is refused; one that has begun ends, after what its first look found.
    let begun = false
    const isOver = (): boolean => signal?.aborted === true || (begun && this.#closing !== undefined)
    try {
      while (!isOver()) {
        const { wakes } = this.#waking
        const { until, first } = await this.#do(async () => {
          const readable = await readableNow(this.#connections, this.#s)
          this.#held.note(query, readable)
          end ??= readable.last
          const limit = Math.min(readable.until, end)
          return { until: limit, first: await find(this.#connections, this.#s, query, after, limit) }
        })
        begun = true
        for (let { events, last } = first; last !== undefined;) {
          after = last
          let turn = performance.now()
          for (let i = 0; i < events.length && (i === 0 || !isOver()); i += query.batch) {
            yield events.slice(i, i + query.batch)
            // A reader that takes each batch at once would hold the loop for the whole answer.
            if (performance.now() - turn < sliceMs) continue
            await nextTurn()
            turn = performance.now()
          }
          if (isOver()) return
          ;({ events, last } = await this.#do(() => find(this.#connections, this.#s, query, after, until)))
        }
        if (until >= end!) return
        if (first.last !== undefined) patience = 5
        else {
          await this.#waking.wait(patience, signal, wakes)
          patience = Math.min(patience * 2, this.#poll)
        }
      }
    } finally {
      this.#held.end(query)
    }
  }
  get heldBack(): HeldBack | undefined {
    return this.#held.longest
  }

  async places(): Promise<readonly (readonly [string, string])[]> {
    const rows = await this.#query<{ projection: string; at: string }>(`select projection, at from ${this.#s}.offsets where at is not null`)
    return rows.map(({ projection, at }) => [fromText(projection), at] as const)
  }
  async removePlaces(projections: readonly string[]): Promise<void> {
    for (const projection of projections) await this.#query(`delete from ${this.#s}.offsets where projection = $1`, toText(projection))
  }
  async offset(projection: string): Promise<string | undefined> {
    const [row] = await this.#query<{ at: string | null }>(`select at from ${this.#s}.offsets where projection = $1`, toText(projection))
    return row?.at ?? undefined
  }
  advance(projection: string, from: string | undefined, to: string, work: (transaction: unknown) => Promise<void>): Promise<'stored' | 'conflict'> {
    const name = toText(projection)
    return this.#do(() =>
      this.#connections.use(async (run, client) => {
        await run(this.#connections.beginning())
        try {
          await run(`insert into ${this.#s}.offsets (projection) values ($1) on conflict do nothing`, [name])
          // The row is held until the end: another one under this name waits here, and finds it moved.
          const [row] = (await run(`select at from ${this.#s}.offsets where projection = $1 for update`, [name])) as [{ at: string | null }]
          if ((row.at ?? undefined) !== from) {
            await run('rollback')
            return 'conflict'
          }
          await work(client)
          await run(`update ${this.#s}.offsets set at = $2 where projection = $1`, [name, to])
          await run('commit')
          return 'stored'
        } catch (cause) {
          await run('rollback').catch(() => undefined)
          throw cause
        }
      }),
    )
  }

  async due(until: number, most: number, after?: DueTimer): Promise<readonly DueTimer[]> {
    const rows = await this.#query<{ id: string; key: string; due: number }>(
      `select id, key, due from ${this.#s}.timers where due <= $1 ${after === undefined ? '' : 'and (due, id, key) > ($3, $4, $5)'}
       order by due, id, key limit $2`,
      until,
      most,
      ...(after === undefined ? [] : [after.due, toText(after.id), toText(after.key)]),
    )
    return rows.map(({ id, key, due }) => ({ id: fromText(id), key: fromText(key), due }))
  }

  key(subject: string): Promise<SubjectKey> {
    return this.#keys.find(subject)
  }
  keyless(subjects: readonly string[]): Promise<readonly Keyless[]> {
    return this.#keys.keyless(subjects)
  }
  addKey(subject: string, key: Uint8Array): Promise<SubjectKey> {
    return this.#keys.add(subject, key)
  }
  eraseKey(subject: string): Promise<void> {
    return this.#keys.erase(subject)
  }

  async raise(scope: string, epoch: number): Promise<void> {
    const rows = await this.#query(raiseStatement(this.#s), toText(scope), epoch, this.#holder)
    if (rows.length === 0) throw new FenceLost(scope, epoch, await this.epoch(scope))
  }
  async epoch(scope: string): Promise<number> {
    const [row] = await this.#query<{ epoch: string }>(`select epoch from ${this.#s}.owners where scope = $1`, toText(scope))
    return Number(row?.epoch ?? 0)
  }

  ids(query: Parameters<Journal['ids']>[0]): Promise<readonly ListedId[]> {
    return this.#do(() => listIds(this.#connections, this.#s, query))
  }
  async stats(): Promise<JournalStats> {
    const [row] = await this.#query<{ ids: string; events: string; snapshots: string; bytes: string }>(
      `select (select count(*) from ${this.#s}.heads) as ids, (select coalesce(sum(seq - deleted), 0) from ${this.#s}.heads) as events,
         (select count(*) from ${this.#s}.snapshots) as snapshots,
         (select sum(pg_total_relation_size(c.oid)) from pg_class c where c.relnamespace = $1::regnamespace and c.relkind = 'r') as bytes`,
      this.#s,
    )
    return { ids: Number(row!.ids), events: Number(row!.events), snapshots: Number(row!.snapshots), bytes: Number(row!.bytes) }
  }
  verify(signal?: AbortSignal): Promise<Verified> {
    return this.#do(() => verify(this.#connections, this.#s, signal))
  }
  async *records(signal?: AbortSignal): AsyncGenerator<readonly JournalRecord[]> {
    const parts = recordsOf(this.#connections, this.#s, signal)
    try {
      for (;;) {
        const next = await this.#do(() => parts.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await parts.return(undefined)
    }
  }
  restore(records: AsyncIterable<readonly JournalRecord[]>): Promise<void> {
    return this.#do(() => restoreInto(this.#connections, this.#s, records))
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end())
  }
  async #end(): Promise<void> {
    this.#waking.end()
    await Promise.allSettled(this.#underWay)
    await this.#endPool()
  }
}
