// What a write changes, inside the transaction of the worker: epoch and number are checked there, each write is stored whole or not at all.
// A row is read and its checksum compared before it is changed. Used by the worker: nothing here needs core.

import type { SqliteConnection, SqliteRow, SqliteStatement } from '@troupe/sqlite'
import type { RowOutcome, RunRow, SnapshotRow, StateRow, TimerRow, WorkerFailure, WriteRow } from './sqlite-protocol.ts'
import { Packing } from './sqlite-packs.ts'
import { checked, DamagedRow, entityTypeOf, type HeadRow, sumOf } from './sqlite-rows.ts'

/** Numbers of the whole journal, written with every commit. */
interface JournalState {
  /** How many commits there were. */
  commits: number
  /** The last position that was given to a run. */
  position: number
  ids: number
  events: number
  snapshots: number
  timers: number
  epochs: number
  offsets: number
}

/** How many runs one transaction deletes at most. */
const deletedAtOnce = 1000

/** Ends a transaction without changes; its failure is the outcome of the request. */
export class Refusal extends Error {
  readonly failure: WorkerFailure
  constructor(failure: WorkerFailure) {
    super(failure.problem)
    this.failure = failure
  }
}

const unknownId: HeadRow = { seq: 0, deleted: 0, revision: 0 }

export class SqliteWrites {
  readonly #connection: SqliteConnection
  readonly #statements = new Map<string, SqliteStatement>()
  readonly state: JournalState = { commits: 0, position: 0, ids: 0, events: 0, snapshots: 0, timers: 0, epochs: 0, offsets: 0 }

  readonly packing: Packing = new Packing((text) => this.#sql(text))

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  #sql(text: string): SqliteStatement {
    let statement = this.#statements.get(text)
    if (statement === undefined) this.#statements.set(text, (statement = this.#connection.prepare(text)))
    return statement
  }

  /** Pages that are free, and all. */
  pages(): [free: number, all: number] {
    const [free, all] = ['freelist_count', 'page_count'].map((name) => this.#sql(`pragma ${name}`).get()![name] as number)
    return [free!, all!]
  }
  /** Reads the numbers of the journal; first in every transaction. */
  readState(): void {
    const row = this.#sql('select * from journal_state where one = 1').get()
    if (row === undefined) throw new DamagedRow('journal_state', 'the journal', 'its row is missing')
    const { commits, position, ids, events, snapshots, timers, epochs, offsets } = checked(
      'journal_state',
      row,
      () => 'the journal',
    ) as unknown as JournalState
    Object.assign(this.state, { commits, position, ids, events, snapshots, timers, epochs, offsets })
  }
  /** Writes them, with one commit more; last in every transaction. */
  writeState(): void {
    const { state } = this
    state.commits++
    const { commits, position, ids, events, snapshots, timers, epochs, offsets } = state
    const values = [commits, position, ids, events, snapshots, timers, epochs, offsets]
    this.#sql(
      `update journal_state set commits = ?, position = ?, ids = ?, events = ?, snapshots = ?, timers = ?, epochs = ?, offsets = ?, crc = ?
        where one = 1`,
    ).run(...values, sumOf('journal_state', ...values))
  }

  #epochRow(scope: string): SqliteRow | undefined {
    const row = this.#sql('select * from epochs where scope = ?').get(scope)
    return row === undefined ? undefined : checked('epochs', row, () => scope)
  }
  owns(scope: string, epoch: number): boolean {
    return (this.#epochRow(scope)?.['epoch'] ?? 0) === epoch
  }
  raiseEpoch(scope: string, epoch: number, holder: string): void {
    const row = this.#epochRow(scope)
    const present = (row?.['epoch'] ?? 0) as number
    if (row !== undefined && (present > epoch || (present === epoch && row['holder'] !== holder)))
      throw new Refusal({ type: 'fence-lost', problem: 'another writer has raised the epoch', epoch: present })
    this.#sql('insert or replace into epochs values (?, ?, ?, ?)').run(scope, epoch, holder, sumOf('epochs', scope, epoch, holder))
    if (row === undefined) this.state.epochs++
  }

  #head(id: string): HeadRow | undefined {
    const row = this.#sql('select * from heads where id = ?').get(id)
    return row === undefined ? undefined : (checked('heads', row, () => id) as unknown as HeadRow)
  }
  #putHead(id: string, isNew: boolean, { seq, deleted, revision }: HeadRow): void {
    const entityType = entityTypeOf(id)
    const crc = sumOf('heads', id, entityType, seq, deleted, revision)
    if (isNew) {
      this.#sql('insert into heads values (?, ?, ?, ?, ?, ?)').run(id, entityType, seq, deleted, revision, crc)
      this.state.ids++
    } else this.#sql('update heads set seq = ?, deleted = ?, revision = ?, crc = ? where id = ?').run(seq, deleted, revision, crc, id)
  }

  /** Stores the writes of a group, each by itself. */
  append(writes: readonly WriteRow[]): RowOutcome[] {
    const owned = new Map<string, boolean>()
    return writes.map((write) => {
      const scope = `${write.epoch} ${write.scope}`
      let owns = owned.get(scope)
      if (owns === undefined) owned.set(scope, (owns = this.owns(write.scope, write.epoch)))
      if (!owns) return 'fenced'
      try {
        return this.#store(write)
      } catch (cause) {
        // Found before anything of this write was changed; other writes are not affected.
        if (cause instanceof DamagedRow) return { type: 'damaged', where: `${cause.table} of ${cause.record}`, problem: cause.message }
        throw cause
      }
    })
  }
  #store({ run, state, timers }: WriteRow): 'stored' | 'conflict' {
    const { id } = (run ?? state)!
    const found = this.#head(id)
    const head = found ?? unknownId
    // Before the first change: an id without a head that another table has is not a new one.
    if (found === undefined) this.#checkUnknown(id)
    if (run !== undefined) {
      if (head.seq + 1 !== run.first) return 'conflict'
      this.#putHead(id, found === undefined, { ...head, seq: run.last })
      this.#putRun(run)
    } else {
      if (!this.#isAt(state!, head.revision)) return 'conflict'
      this.#putHead(id, found === undefined, { ...head, revision: state!.revision })
      this.#putState(state!)
    }
    if (timers !== undefined) this.setTimers(id, timers)
    return 'stored'
  }
  /** Fails with `DamagedRow` if anything is stored of an id that has no head. */
  #checkUnknown(id: string): void {
    for (const table of ['runs', 'states', 'snapshots'] as const)
      if (this.#sql(`select 1 from ${table} where id = ? limit 1`).get(id) !== undefined)
        throw new DamagedRow('heads', id, `it is missing, and ${table} has rows of it`)
  }
  #isAt(write: StateRow, revision: number): boolean {
    const row = this.#sql('select revision from states where id = ?').get(write.id)
    if ((row?.['revision'] ?? 0) !== revision)
      throw new DamagedRow('states', write.id, `its revision is ${String(row?.['revision'] ?? 'missing')}, and its head says ${revision}`)
    return revision === write.expected
  }
  #putRun(run: RunRow): void {
    const { id, first, last, head, data, tags } = run
    const position = ++this.state.position
    const entityType = entityTypeOf(id)
    const crc = sumOf('runs', position, id, entityType, first, last, head, data)
    this.#sql('insert into runs values (?, ?, ?, ?, ?, ?, ?, ?)').run(position, id, entityType, first, last, head, data, crc)
    if (tags !== undefined) for (const tag of tags) this.#sql('insert into run_tags values (?, ?)').run(tag, position)
    this.state.events += last - first + 1
    this.packing.wrote(run)
  }
  #putState({ id, revision, version, data, subject, time }: StateRow): void {
    const crc = sumOf('states', id, revision, version, time, subject, data)
    this.#sql(
      `insert into states values (?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set
        revision = excluded.revision, version = excluded.version, data = excluded.data, subject = excluded.subject, time = excluded.time, crc = excluded.crc`,
    ).run(id, revision, version, data, subject, time, crc)
  }
  setTimers(id: string, timers: readonly TimerRow[]): void {
    for (const [key, due] of timers)
      if (due === null) this.state.timers -= this.#sql('delete from timers where id = ? and key = ?').run(id, key)
      else {
        const crc = sumOf('timers', id, key, due)
        if (this.#sql('update timers set due = ?, crc = ? where id = ? and key = ?').run(due, crc, id, key) > 0) continue
        this.#sql('insert into timers values (?, ?, ?, ?)').run(id, key, due, crc)
        this.state.timers++
      }
  }

  /** Keeps the newest two of an id; one for a number that has one replaces it. */
  saveSnapshot({ id, seq, version, data, time }: SnapshotRow): void {
    if (this.#head(id) === undefined) {
      this.#checkUnknown(id)
      this.#putHead(id, true, unknownId)
    }
    const seqs = this.#snapshotsOf(id)
    const isNew = !seqs.includes(seq)
    const kept = new Set([...new Set([seq, ...seqs])].toSorted((a, b) => b - a).slice(0, 2))
    for (const old of seqs) if (!kept.has(old)) this.#deleteSnapshot(id, old)
    if (!kept.has(seq)) return
    this.#sql('insert or replace into snapshots values (?, ?, ?, ?, ?, ?)').run(
      id,
      seq,
      version,
      data,
      time,
      sumOf('snapshots', id, seq, version, time, data),
    )
    if (isNew) this.state.snapshots++
  }
  #snapshotsOf(id: string): number[] {
    const rows = this.#sql('select seq from snapshots where id = ? order by seq desc').all(id)
    return rows.map((row) => row['seq'] as number)
  }
  #deleteSnapshot(id: string, seq: number): void {
    this.state.snapshots -= this.#sql('delete from snapshots where id = ? and seq = ?').run(id, seq)
  }
  deleteSnapshots(id: string, upTo: number): void {
    for (const seq of this.#snapshotsOf(id)) if (seq <= upTo) this.#deleteSnapshot(id, seq)
  }

  /** Deletes some of the events up to a number; returns whether there are more. */
  deleteEvents(id: string, upTo: number): boolean {
    const head = this.#head(id) ?? unknownId
    const last = Math.min(upTo, head.seq)
    if (last <= head.deleted) return false
    const found: { readonly position: number; readonly tags: ReadonlySet<string> }[] = []
    let [seen, next] = [0, 0]
    // One by one: a row may have megabytes. All are whole before the first one goes: a number that was changed would delete too much.
    for (const row of this.#sql('select * from runs where id = ? and first <= ? order by first limit ?').iterate(id, last, deletedAtOnce + 1)) {
      const { position, first, last: end, head: columns } = row as unknown as RunRow & { position: number }
      if (++seen > deletedAtOnce) next = first
      checked('runs', row, () => `${id}#${first}`)
      // One that goes on after it stays; its first events are hidden by the head.
      if (end <= last && next === 0) found.push({ position, tags: tagsOf(columns, `position ${position}`) })
    }
    for (const { position, tags } of found) {
      for (const tag of tags) this.#sql('delete from run_tags where tag = ? and position = ?').run(tag, position)
      this.#sql('delete from runs where position = ?').run(position)
    }
    const more = next !== 0
    const deleted = more ? next - 1 : last
    this.#sql('delete from packs where id = ? and last <= ?').run(id, deleted)
    this.state.events -= deleted - head.deleted
    this.#putHead(id, false, { ...head, deleted })
    return more
  }

  advance(projection: string, from: string | null, to: string): 'stored' | 'conflict' {
    const row = this.#sql('select * from offsets where projection = ?').get(projection)
    if (row !== undefined) checked('offsets', row, () => projection)
    if ((row?.['reached'] ?? null) !== from) return 'conflict'
    this.putOffset(projection, to)
    return 'stored'
  }
  removePlaces(projections: readonly string[]): void {
    for (const projection of projections) this.state.offsets -= this.#sql('delete from offsets where projection = ?').run(projection)
  }
  putOffset(projection: string, reached: string): void {
    const crc = sumOf('offsets', projection, reached)
    if (this.#sql('update offsets set reached = ?, crc = ? where projection = ?').run(reached, crc, projection) > 0) return
    this.#sql('insert into offsets values (?, ?, ?)').run(projection, reached, crc)
    this.state.offsets++
  }

  /** Begins an id of which so many events were given and deleted. */
  beginAt(id: string, deleted: number): void {
    this.#putHead(id, this.#head(id) === undefined, { seq: deleted, deleted, revision: 0 })
  }
  /** The offset of an event; undefined if it is not there. */
  offsetOf(id: string, seq: number): string | undefined {
    const row = this.#sql('select position, first, last from runs where id = ? and first <= ? order by first desc limit 1').get(id, seq)
    if (row === undefined || (row['last'] as number) < seq) return undefined
    return `${String(row['position'])}.${seq - (row['first'] as number) + 1}`
  }
}

function tagsOf(head: string, record: string): ReadonlySet<string> {
  try {
    return tagsIn(head)
  } catch {
    throw new DamagedRow('runs', record, 'its head cannot be read')
  }
}
/** The tags of a run, each once, from its head. */
export function tagsIn(head: string): ReadonlySet<string> {
  // Most have none, and a head is short.
  if (!head.includes('"tags')) return new Set()
  const { tags, tagsOfEach } = JSON.parse(head) as { readonly tags?: readonly string[]; readonly tagsOfEach?: readonly (readonly string[])[] }
  return new Set([...(tags ?? []), ...(tagsOfEach ?? []).flat()])
}
