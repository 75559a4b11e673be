// The one connection of a process that writes: each request is a transaction, flushed when it returns. Used by the worker: nothing here needs
// core. A commit that fails for another reason than a full disk may be in the log nevertheless: its outcome is unknown, and the connection is
// opened anew, which makes SQLite read the log again.

import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { resultCode, type SqliteConnection, type SqliteDriver, sqliteResult } from '@troupe/sqlite'
import { CommitMark } from './sqlite-commit-mark.ts'
import { examineFile, isBusy, syncFile, syncFolder } from './sqlite-open.ts'
import type { ImportBatch, OpenedFile, RowOutcome, WorkerFailure, WorkerStart, WriteRow } from './sqlite-protocol.ts'
import { SqliteLog } from './sqlite-log.ts'
import { DamagedRow, sumOf } from './sqlite-rows.ts'
import { busyTimeout, settings } from './sqlite-schema.ts'
import { verifyRows } from './sqlite-verify.ts'
import { Refusal, SqliteWrites } from './sqlite-writes.ts'

/** What is kept free on a disk: a log must be checkpointed, and events deleted, when nothing else fits any more. */
const reservedBytes = 2_000_000
/** Free pages from which on a file is made smaller, and how many at a time. */
const [manyFreePages, freedAtOnce] = [1000, 500]
/** Rows that a verification lists. */
const constraint = 19

export class SqliteWriter {
  readonly #start: WorkerStart
  readonly #driver: SqliteDriver
  #connection: SqliteConnection | undefined
  #writes: SqliteWrites | undefined
  #mark: CommitMark | undefined
  /** Whether `quick_check` must run before the first write. */
  #unchecked = false
  #inode = 0
  readonly #log: SqliteLog

  constructor(start: WorkerStart, driver: SqliteDriver) {
    this.#start = start
    this.#driver = driver
    this.#log = new SqliteLog(start.path)
  }

  open(): OpenedFile {
    const { path, synchronous, session } = this.#start
    const { identity, unclean } = examineFile(this.#driver, path, synchronous)
    this.#unchecked = unclean
    this.#inode = statSync(path).ino
    if (synchronous === 'full') this.#mark = new CommitMark(path, identity)
    this.#connect()
    const owner = JSON.stringify({ pid: process.pid, opened: new Date().toISOString() })
    this.transaction(() => {
      if (unclean) this.#connection!.exec('delete from sessions')
      this.#connection!.exec(`insert into sessions values ('${session}', '${owner}')`)
    })
    // In the file itself and not only in the log: a copy without the log shows that it is one.
    this.#connection!.exec('pragma wal_checkpoint(passive)')
    return { identity, sqlite: `${this.#driver.module} ${this.#driver.version}` }
  }

  #connect(): SqliteWrites {
    const connection = this.#driver.open(this.#start.path)
    try {
      connection.exec(settings(this.#start.synchronous))
      // A tool may have changed it; this fails while another connection has the file open, which then has it in this mode.
      connection.exec('pragma journal_mode = wal')
      const mode = connection.select(['journal_mode'], 'from pragma_journal_mode')[0]!['journal_mode']
      if (mode !== 'wal')
        throw new Refusal({ type: 'refused', problem: `${this.#start.path} cannot have a write-ahead log (it is in mode ${String(mode)})` })
    } catch (cause) {
      connection.close()
      throw cause
    }
    this.#connection = connection
    return (this.#writes = new SqliteWrites(connection))
  }
  #disconnect(): void {
    try {
      this.#connection?.close()
    } catch {
      // It is given up either way.
    }
    this.#connection = undefined
    this.#writes = undefined
  }

  /** Runs a transaction that has happened, and is flushed, when this returns. Fails with what `failureOf` understands. */
  transaction<T>(work: (writes: SqliteWrites) => T): T {
    const writes = this.#writes ?? this.#connect()
    const connection = this.#connection!
    this.#checkFile()
    this.#checkUnclean(connection)
    let result: T
    connection.exec('begin immediate')
    try {
      writes.readState()
      result = work(writes)
      writes.writeState()
    } catch (cause) {
      writes.packing.clear()
      this.#rollBack(connection)
      throw cause
    }
    try {
      connection.exec('commit')
    } catch (cause) {
      writes.packing.clear()
      const full = primary(cause) === resultCode.full || isBusy(cause)
      if (full) this.#rollBack(connection)
      else this.#disconnect()
      throw full ? cause : new UnknownCommit(cause)
    }
    this.#mark?.write(writes.state.commits)
    return result
  }
  #rollBack(connection: SqliteConnection): void {
    try {
      connection.exec('rollback')
    } catch {
      // SQLite has done so already after some errors; if it has not, the next connection does.
      this.#disconnect()
    }
  }

  /** A file that was removed while it is open takes everything, and keeps nothing. */
  #checkFile(): void {
    const { path } = this.#start
    if (statSync(path, { throwIfNoEntry: false })?.ino !== this.#inode)
      throw unavailable(`${path} is gone: it was removed or replaced while this process had it open; end this process, and start again`)
  }
  #checkUnclean(connection: SqliteConnection): void {
    if (!this.#unchecked) return
    const text = connection.select(['quick_check'], 'from pragma_quick_check limit 1')[0]?.['quick_check']
    if (text !== 'ok') throw new Refusal({ type: 'damaged', where: this.#start.path, problem: `quick_check says: ${String(text)}` })
    this.#unchecked = false
  }
  /** Fails if a disk has no room for so much more, before SQLite finds out in the middle of a write. */
  #checkRoom(bytes: number): void {
    const { path } = this.#start
    let left: number
    try {
      const { bavail, bsize } = statfsSync(dirname(path))
      left = bavail * bsize
    } catch {
      return
    }
    if (left < reservedBytes + 3 * bytes)
      throw unavailable(`${path} cannot be written (its disk has ${left} bytes left, and ${reservedBytes} of them are kept free); make room`)
  }

  /** Stores groups in one transaction. If a page of one actor is damaged, the writes of the others are stored. */
  append(groups: readonly (readonly WriteRow[])[]): RowOutcome[][] {
    this.#checkRoom(
      groups.reduce((bytes, group) => bytes + group.reduce((sum, { run, state }) => sum + ((run ?? state)!.data?.length ?? 0) + 1000, 0), 0),
    )
    try {
      return this.transaction((writes) => groups.map((group) => writes.append(group)))
    } catch (cause) {
      if (!isDamage(cause)) throw cause
      return groups.map((group) => group.map((write) => this.#appendAlone(write)))
    }
  }
  #appendAlone(write: WriteRow): RowOutcome {
    try {
      return this.transaction((writes) => writes.append([write]))[0]!
    } catch (cause) {
      return this.failureOf(cause, (write.run ?? write.state)!.id)
    }
  }

  importBatch(batch: ImportBatch): void {
    this.transaction((writes) => {
      for (const { id, deleted } of batch.heads) if (deleted > 0) writes.beginAt(id, deleted)
      const [scope, epoch] = ['', 0]
      const all: WriteRow[] = [...batch.runs.flat().map((run) => ({ scope, epoch, run })), ...batch.states.map((state) => ({ scope, epoch, state }))]
      for (const [i, outcome] of writes.append(all).entries()) {
        const { run, state } = all[i]!
        const what = run === undefined ? `the state of ${state!.id}` : `${run.id}#${run.first}`
        if (outcome !== 'stored') throw rejected(`${what} is ${typeof outcome === 'string' ? outcome : outcome.problem}`)
      }
      for (const snapshot of batch.snapshots) writes.saveSnapshot(snapshot)
      for (const { id, key, due } of batch.timers) writes.setTimers(id, [[key, due]])
      for (const { projection, id, seq } of batch.places) {
        const offset = writes.offsetOf(id, seq)
        if (offset === undefined) throw rejected(`projection ${projection} is at ${id}#${seq}, which is not there`)
        writes.putOffset(projection, offset)
      }
    })
  }
  /** Marks the file, which nobody can open until the mark is removed. Fails if it is not empty. */
  beginImport(): void {
    this.transaction(() => {
      for (const table of ['heads', 'offsets'])
        if (this.#connection!.select(['1'], `from ${table} limit 1`).length > 0)
          throw new Refusal({ type: 'refused', problem: 'it has something already, which an import would overwrite; import into a new one' })
      this.#connection!.exec(`insert or replace into meta values ('import', '', ${sumOf('meta', 'import', '')})`)
    })
  }
  endImport(keep: boolean): void {
    this.transaction((writes) => {
      if (!keep) {
        for (const table of ['heads', 'runs', 'packs', 'run_tags', 'states', 'snapshots', 'timers', 'offsets'])
          this.#connection!.exec(`delete from ${table}`)
        Object.assign(writes.state, { ids: 0, events: 0, snapshots: 0, timers: 0, offsets: 0 })
      }
      this.#connection!.exec(`delete from meta where key = 'import'`)
    })
  }

  /** Reads everything in one transaction of a connection of its own. */
  verify(): ReturnType<typeof verifyRows> {
    const connection = this.#driver.open(this.#start.path)
    try {
      connection.exec('pragma busy_timeout = 5000; pragma query_only = on; begin')
      return verifyRows(connection, this.#start.path)
    } finally {
      connection.close()
    }
  }
  /** All rows as they are now, in a new file that nobody has open. */
  copy(to: string): void {
    const connection = this.#driver.open(this.#start.path)
    try {
      connection.exec('pragma busy_timeout = 5000')
      connection.exec(`vacuum into '${to.replaceAll("'", "''")}'`)
    } finally {
      connection.close()
    }
    const copied = this.#driver.open(to)
    try {
      copied.exec('delete from sessions; pragma journal_mode = wal')
    } finally {
      copied.close()
    }
    syncFile(to)
    syncFolder(to)
  }

  /** What is done while nobody waits: gives free pages back, and shortens a log that grew. Returns whether there is more to do. */
  tidy(): boolean {
    const connection = this.#connection
    if (connection === undefined) return false
    try {
      this.#log.shorten(connection, busyTimeout)
      const [free, pages] = this.#writes!.pages()
      if (free < manyFreePages || free * 10 < pages) return false
      connection.exec(`pragma incremental_vacuum(${freedAtOnce})`)
      return free - freedAtOnce >= manyFreePages
    } catch {
      // It is tried again after the next write.
      return false
    }
  }
  /** What an operator should know of the file; undefined if nothing. */
  get warning(): string | undefined {
    return this.#log.warning
  }

  close(): void {
    const { path, session } = this.#start
    try {
      if (this.#writes !== undefined && statSync(path, { throwIfNoEntry: false })?.ino === this.#inode) {
        this.transaction(() => this.#connection!.exec(`delete from sessions where session = '${session}'`))
        this.#connection!.exec('pragma busy_timeout = 100; pragma wal_checkpoint(truncate)')
        // Nobody else has it open, and everything is in the file: there is nothing to compare with.
        const last = this.#connection!.select(['session'], 'from sessions').length === 0
        if (last && statSync(`${path}-wal`, { throwIfNoEntry: false })?.size === 0) this.#mark?.remove()
      }
    } catch {
      // The next process takes it for one that did not end well, and checks the file.
    }
    this.#disconnect()
    this.#mark?.close()
  }

  /** What a request failed with, as plain data. */
  failureOf(cause: unknown, record?: string): WorkerFailure {
    if (cause instanceof Refusal) return cause.failure
    if (cause instanceof DamagedRow)
      return { type: 'damaged', where: `${this.#start.path}, ${cause.table} of ${cause.record}`, problem: cause.message }
    const real = cause instanceof UnknownCommit ? cause.reason : cause
    const code = sqliteResult(real)
    const message = real instanceof Error ? real.message : String(real)
    const unknown = cause instanceof UnknownCommit ? ({ unknown: true } as const) : {}
    const { path } = this.#start
    const about = { ...unknown, ...(code === undefined ? {} : { code }) }
    if (isDamage(real))
      return { type: 'damaged', where: record === undefined ? path : `${path}, rows of ${record}`, problem: `SQLite says: ${message}`, ...about }
    if (primary(real) === resultCode.notADatabase)
      return { type: 'refused', problem: `${path} is not a SQLite file, or its first page is damaged (${message}); name another file`, ...about }
    if (primary(real) === resultCode.readOnly)
      return { type: 'unavailable', problem: `${path} cannot be written (${message}); let this process write it and its directory`, ...about }
    if (primary(real) === resultCode.full)
      return { type: 'unavailable', problem: `${path} cannot be written (${message}${this.#spaceLeft()}); make room`, ...about }
    if (isBusy(real)) return { type: 'unavailable', problem: `another process has been writing ${path} for too long (${message})`, ...about }
    return { type: 'unavailable', problem: `${path} cannot be used (${message}${this.#spaceLeft()})`, ...about }
  }
  #spaceLeft(): string {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#start.path))
      return `; its disk has ${bavail * bsize} bytes left`
    } catch {
      return ''
    }
  }
}

/** A commit of which nobody knows whether it happened. */
class UnknownCommit extends Error {
  readonly reason: unknown
  constructor(reason: unknown) {
    super('unknown')
    this.reason = reason
  }
}

function primary(cause: unknown): number | undefined {
  const code = sqliteResult(cause)
  return code === undefined ? undefined : code & 0xff
}
/** A page or a row that is not what SQLite expects; two rows where there can be one. */
function isDamage(cause: unknown): boolean {
  return primary(cause) === resultCode.corrupt || primary(cause) === constraint
}
function unavailable(problem: string): Refusal {
  return new Refusal({ type: 'unavailable', problem })
}
function rejected(problem: string): Refusal {
  return new Refusal({ type: 'rejected', problem })
}
