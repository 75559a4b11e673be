// Opens the file of a journal in the worker, or says why not. The order matters: the log is examined before SQLite reads it, because SQLite
// would drop and overwrite what it cannot use; whether the last process closed the file is known before this one writes.
// No file that SQLite has open is opened here by other means: closing it would drop the locks of this process.

import { randomUUID } from 'node:crypto'
import { closeSync, copyFileSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { resultCode, type SqliteConnection, type SqliteDriver, sqliteResult, type SqliteRow } from '@troupe/sqlite'
import { markPath, readMark } from './sqlite-commit-mark.ts'
import { checked, DamagedRow } from './sqlite-rows.ts'
import { applicationId, createTables, differentTables, formatVersion } from './sqlite-schema.ts'
import { examineWal } from './sqlite-wal.ts'
import { Refusal } from './sqlite-writes.ts'

/** What is known of a file before it is used. */
export interface ExaminedFile {
  readonly identity: string
  /** Whether the last process that had it open did not close it, and no process has it open now. */
  readonly unclean: boolean
}

/** The smallest page that SQLite knows. */
const minFileBytes = 512

/** With these bytes every SQLite file begins. */
const fileStart = Buffer.from('SQLite format 3\0', 'latin1')
/** Returns if a file that is shorter than a page may be the start of a SQLite file. */
function isStartOfFile(path: string): boolean {
  const bytes = readFileSync(path).subarray(0, fileStart.length)
  return bytes.equals(fileStart.subarray(0, bytes.length))
}

const damaged = (where: string, problem: string): Refusal => new Refusal({ type: 'damaged', where, problem })
const refused = (problem: string): Refusal => new Refusal({ type: 'refused', problem })

/** Creates a file that is missing, and examines one that is there. Fails with `Refusal`, or as SQLite does. */
export function examineFile(driver: SqliteDriver, path: string, synchronous: 'full' | 'normal'): ExaminedFile {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) {
    for (const left of [`${path}-wal`, markPath(path)])
      if (existsSync(left))
        throw damaged(path, `it is missing, and ${left} is there; restore it, or remove what is left of it to begin a new journal`)
    createFile(driver, path)
  } else if (size === 0) throw damaged(path, 'it is empty, and a journal never is; if there was none before, remove it')
  // SQLite takes some files that are shorter than a page for new ones, and would write over them.
  else if (size < minFileBytes)
    throw isStartOfFile(path) ? damaged(path, `it is cut to ${size} bytes`) : refused(`${path} is not a SQLite file; name another file`)
  const hadWal = existsSync(`${path}-wal`)
  const wal = examineWal(`${path}-wal`)
  if (wal.problem !== undefined && synchronous === 'full') throw damaged(`${path}-wal`, wal.problem)
  const mark = readMark(path)
  // Alone, if nobody else has the file open: SQLite grants this lock to one connection, and to none while there is another one.
  const alone = openAlone(driver, path)
  const connection = alone ?? driver.open(path)
  try {
    if (alone === undefined) connection.exec('pragma busy_timeout = 5000')
    checkFormat(connection, path)
    const identity = identityOf(connection)
    const sessions = connection.select(['session'], 'from sessions').length
    if (alone !== undefined && sessions > 0 && !hadWal && mark === undefined)
      throw refused(
        `${path} was copied while it was open, without ${path}-wal: the last commits are missing. Copy both, or use troupe journal backup; ` +
          `if this copy is all there is, sqlite3 ${path} "delete from sessions" accepts it as it is`,
      )
    // In one read transaction, because other processes may be writing.
    connection.exec('begin')
    const state = stateOf(connection)
    if (mark?.identity === identity) checkCommits(state, path, mark.commits, hadWal)
    checkCounts(connection, path, state)
    connection.exec('commit')
    return { identity, unclean: alone !== undefined && sessions > 0 }
  } finally {
    connection.close()
  }
}

/** A connection that no other one shares the file with; undefined if there is another. */
function openAlone(driver: SqliteDriver, path: string): SqliteConnection | undefined {
  const connection = driver.open(path)
  try {
    connection.exec('pragma busy_timeout = 0')
    connection.exec('pragma locking_mode = exclusive; select * from sqlite_schema limit 1')
    return connection
  } catch (cause) {
    connection.close()
    if (isBusy(cause)) return undefined
    throw cause
  }
}

export function isBusy(cause: unknown): boolean {
  const code = sqliteResult(cause)
  return code !== undefined && ((code & 0xff) === resultCode.busy || (code & 0xff) === resultCode.protocol)
}

function pragma(connection: SqliteConnection, name: string): unknown {
  return connection.select([name], `from pragma_${name}`)[0]?.[name]
}

function checkFormat(connection: SqliteConnection, path: string): void {
  const application = pragma(connection, 'application_id') as number
  if (application >>> 0 !== applicationId) {
    const what = application === 0 && pragma(connection, 'schema_version') === 0 ? 'an empty SQLite file' : 'a SQLite file of another application'
    throw refused(`${path} is ${what}, not a journal; name another file`)
  }
  const version = pragma(connection, 'user_version') as number
  if (version !== formatVersion)
    throw refused(
      `${path} has version ${version} of the tables, and this version of Troupe uses ${formatVersion}; export it with the version that wrote it ` +
        '(troupe journal export), and import that into a new file',
    )
  if (pragma(connection, 'encoding') !== 'UTF-8' || pragma(connection, 'auto_vacuum') !== 2)
    throw damaged(`${path}, page 1`, 'its encoding or its kind of vacuum is not what was created')
  const different = differentTables(connection)
  if (different !== undefined) throw damaged(`${path}, sqlite_schema`, different)
  if (connection.select(['key'], `from meta where key = 'import'`).length > 0)
    throw refused(`an import into ${path} is under way, or did not end; if it did not, remove the file and import again`)
}

function identityOf(connection: SqliteConnection): string {
  const [row] = connection.select(['key', 'value', 'crc'], `from meta where key = 'identity'`)
  if (row === undefined) throw new DamagedRow('meta', 'identity', 'it is missing')
  return checked('meta', row, () => 'identity')['value'] as string
}

function stateOf(connection: SqliteConnection): SqliteRow {
  const columns = ['commits', 'position', 'ids', 'events', 'snapshots', 'timers', 'epochs', 'offsets', 'crc']
  const [row] = connection.select(columns, 'from journal_state where one = 1')
  if (row === undefined) throw new DamagedRow('journal_state', 'the journal', 'its row is missing')
  return checked('journal_state', row, () => 'the journal')
}
/** Small tables that nothing else is compared with: without its epoch a writer of long ago would be let in, and a projection would begin anew. */
function checkCounts(connection: SqliteConnection, path: string, state: SqliteRow): void {
  for (const table of ['epochs', 'offsets']) {
    const there = connection.select(['count(*)'], `from ${table}`)[0]!['count(*)']
    if (there !== state[table]) throw damaged(`${path}, ${table}`, `it has ${String(there)} rows, and there were ${String(state[table])}`)
  }
}

/** Compares the commits that are there with those that were acknowledged. */
function checkCommits(state: SqliteRow, path: string, acknowledged: number, hadWal: boolean): void {
  const there = state['commits'] as number
  if (there >= acknowledged) return
  // SQLite removes the log when this connection is closed; whoever repairs the journal needs it.
  const kept = `${path}-wal.damaged`
  if (hadWal && !existsSync(kept)) copyFileSync(`${path}-wal`, kept)
  throw damaged(
    hadWal ? `${path}-wal` : path,
    `commit ${there} is the last one that is there, and ${acknowledged} were acknowledged: ${
      hadWal ? `the log was cut or damaged, and is kept as ${kept}` : `${path}-wal is missing`
    }. If you restored a backup, remove ${markPath(path)}`,
  )
}

/** Makes a new file under another name, whole and flushed, before it gets its own: one that is there is never half made. */
function createFile(driver: SqliteDriver, path: string): void {
  const made = `${path}.${randomUUID()}.new`
  try {
    const connection = driver.open(made)
    try {
      createTables(connection, randomUUID())
    } finally {
      connection.close()
    }
    syncFile(made)
    try {
      linkSync(made, path)
    } catch (cause) {
      // Another process was first: its file is used. A disk without links takes a new name instead.
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(made, path)
    }
    syncFolder(path)
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(made + end, { force: true })
  }
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** A file that was just made is durable only when its folder is. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
