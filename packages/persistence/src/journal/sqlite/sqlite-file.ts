// One SQLite file, open once in a thread however many journals use it: the connection that reads, the worker that writes, and what is wrong
// with the file, in the words of a journal. Reads are synchronous and short: a transaction never stays open while the loop has its turn.

import { accessSync, constants, existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { loadSqlite, resultCode, type SqliteConnection, SqliteMissing, sqliteResult, type SqliteStatement } from '@troupe/sqlite'
import { FenceLost, JournalDamaged, JournalRefused, JournalUnavailable } from '../../values/errors.ts'
import { networkFileSystem } from './sqlite-file-system.ts'
import type { WorkerFailure, WorkerRequest } from './sqlite-protocol.ts'
import { DamagedRow } from './sqlite-rows.ts'
import { readerSettings } from './sqlite-schema.ts'
import { RequestFailed, SqliteWorker } from './sqlite-worker-handle.ts'

/** Files that are open in this thread, by their real path. */
const files = new Map<string, Promise<SqliteFile>>()

export type Synchronous = 'full' | 'normal'

/** Opens a file, or joins the users of one that is open; `leave` is owed. Fails as `JournalSource.open` does. */
export async function enterFile(name: string, file: string, synchronous: Synchronous | undefined): Promise<SqliteFile> {
  const path = realPath(name, file)
  let opening = files.get(path)
  if (opening === undefined) files.set(path, (opening = SqliteFile.open(name, path, synchronous ?? 'full')))
  let opened: SqliteFile
  try {
    opened = await opening
  } catch (cause) {
    if (files.get(path) === opening) files.delete(path)
    throw cause
  }
  if (opened.importing) throw new JournalRefused(name, `an import into ${path} is under way; open it when that has ended`)
  if (synchronous !== undefined && opened.synchronous !== synchronous)
    throw new JournalRefused(name, `${path} is open in this process with synchronous: '${opened.synchronous}'; open it alike`)
  opened.users++
  return opened
}

/** More links than this in a row lead in a circle; Linux has the same limit. */
const maxLinks = 40

/** The path of a file with all links followed, whether the file exists or not. Its directory is created if it is missing. */
function realPath(name: string, file: string): string {
  let path = resolve(file)
  for (let links = 0; links <= maxLinks; links++) {
    const directory = realDirectory(name, dirname(path))
    path = join(directory, basename(path))
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path
    path = resolve(directory, readlinkSync(path))
  }
  throw new JournalUnavailable(name, `${resolve(file)} is a link that cannot be followed (ELOOP); let it lead to a file`)
}
function realDirectory(name: string, directory: string): string {
  try {
    makeEach(directory)
    return realpathSync(directory)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new JournalUnavailable(
      name,
      `the directory ${directory} cannot be made or entered (${code ?? message}); make one that this process may write`,
      cause,
    )
  }
}
/** Directory by directory: `recursive` never returns if one may not be made below one that exists, as in /proc. */
function makeEach(directory: string): void {
  if (existsSync(directory)) return
  makeEach(dirname(directory))
  try {
    mkdirSync(directory)
  } catch (cause) {
    // Another process made it meanwhile.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  }
}

/** Fails if the file cannot be used where it is. */
function checkPlace(name: string, path: string): void {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there?.isDirectory() === true) throw new JournalRefused(name, `${path} is a directory; name a file in it, such as ${join(path, 'journal.db')}`)
  if (there?.isFile() === false) throw new JournalRefused(name, `${path} is not a regular file; name one, or a path where none is yet`)
  const network = networkFileSystem(dirname(path))
  if (network !== undefined)
    throw new JournalRefused(
      name,
      `${path} is on a network file system (${network}), where the locks of SQLite do not hold; use a disk of this machine, or PostgreSQL`,
    )
  for (const needed of [dirname(path), ...(existsSync(path) ? [path] : [])])
    try {
      accessSync(needed, constants.R_OK | constants.W_OK)
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      throw new JournalUnavailable(name, `${needed} cannot be read and written (${code}); let this process read and write it`, cause)
    }
}

export class SqliteFile {
  readonly name: string
  readonly path: string
  readonly synchronous: Synchronous
  readonly #worker: SqliteWorker
  #reader: SqliteConnection | undefined
  #reopening: Promise<void> | undefined
  readonly #statements = new Map<string, SqliteStatement>()
  identity = ''
  users = 0
  /** Whether it is being filled by this thread. */
  importing = false
  /** Called after every commit of this thread. */
  readonly listeners: Set<() => void> = new Set()
  /** What an operator should know; undefined if nothing. */
  warning: string | undefined
  readonly warningListeners: Set<(warning: string | undefined) => void> = new Set()

  private constructor(name: string, path: string, synchronous: Synchronous) {
    this.name = name
    this.path = path
    this.synchronous = synchronous
    this.#worker = new SqliteWorker({ path, synchronous })
    this.#worker.onWarning = (warning) => {
      this.warning = warning
      for (const listener of this.warningListeners) listener(warning)
    }
  }

  static async open(name: string, path: string, synchronous: Synchronous): Promise<SqliteFile> {
    checkPlace(name, path)
    const file = new SqliteFile(name, path, synchronous)
    try {
      await file.#start()
      return file
    } catch (cause) {
      await file.#worker.close()
      throw file.errorOf(cause)
    }
  }
  async #start(): Promise<void> {
    const driver = await loadSqlite()
    this.identity = (await this.#worker.open()).identity
    this.#reader ??= driver.open(this.path)
    this.#reader.exec(readerSettings)
  }

  /** A statement of the connection that reads. */
  sql(text: string): SqliteStatement {
    let statement = this.#statements.get(text)
    if (statement === undefined) this.#statements.set(text, (statement = this.#reader!.prepare(text)))
    return statement
  }
  /** Reads as of one moment. Synchronous, and must be short. Fails with an error of the journal. */
  read<T>(look: () => T): T {
    if (this.#reader === undefined) throw new JournalUnavailable(this.name, 'it is closed')
    try {
      this.#reader.exec('begin')
      try {
        return look()
      } finally {
        this.#reader.exec('commit')
      }
    } catch (cause) {
      throw this.errorOf(cause)
    }
  }
  /** A number that is another one after every commit of another connection, of whatever process. */
  dataVersion(): number {
    return this.sql('pragma data_version').get()!['data_version'] as number
  }

  /** Has the worker do something; what it wrote is flushed. Fails with `RequestFailed`. */
  async request(request: WorkerRequest): Promise<unknown> {
    // After a fault of the thread: the file is opened and examined as after the end of a process.
    if (!this.#worker.isRunning) await (this.#reopening ??= this.#reopen())
    const value = await this.#worker.request(request)
    for (const listener of this.listeners) listener()
    return value
  }
  async #reopen(): Promise<void> {
    try {
      await this.#worker.open()
    } catch (cause) {
      await this.#worker.close()
      throw cause
    } finally {
      this.#reopening = undefined
    }
  }
  /** The same, and fails with an error of the journal. */
  async ask(request: WorkerRequest): Promise<unknown> {
    try {
      return await this.request(request)
    } catch (cause) {
      throw this.errorOf(cause)
    }
  }
  /** Does something in a thread beside the one that writes. */
  async task(request: WorkerRequest, signal?: AbortSignal): Promise<unknown> {
    try {
      return await this.#worker.task(request, signal)
    } catch (cause) {
      throw this.errorOf(cause)
    }
  }
  /** For tests: ends the thread that writes as a fault would. */
  killWorker(): Promise<void> {
    return this.#worker.kill()
  }

  /** What went wrong, as an error of the journal. */
  errorOf(cause: unknown): unknown {
    if (cause instanceof RequestFailed) return this.failureError(cause.failure, cause)
    if (cause instanceof SqliteMissing) return new JournalRefused(this.name, cause.message, cause)
    if (cause instanceof DamagedRow) return this.damage(cause.table, cause.record, cause.message)
    const code = sqliteResult(cause)
    if (code === undefined) return cause
    const { message } = cause as Error
    if ((code & 0xff) === resultCode.corrupt || (code & 0xff) === resultCode.notADatabase)
      return new JournalDamaged(this.name, this.path, `SQLite says: ${message}`, cause)
    return new JournalUnavailable(this.name, `${this.path} cannot be read (${message})`, cause)
  }
  failureError({ type, problem, where, epoch }: WorkerFailure, cause?: unknown): Error {
    switch (type) {
      case 'damaged':
        return new JournalDamaged(this.name, where!.startsWith(this.path) ? where! : `${this.path}, ${where}`, problem, cause)
      case 'refused':
      case 'rejected':
        return new JournalRefused(this.name, problem, cause)
      case 'fence-lost':
        return new FenceLost('', 0, epoch!)
      case 'unavailable':
        return new JournalUnavailable(this.name, problem, cause)
    }
  }
  damage(table: string, record: string, problem: string): JournalDamaged {
    return new JournalDamaged(this.name, `${this.path}, ${table} of ${record}`, problem)
  }

  async leave(): Promise<void> {
    if (--this.users > 0) return
    files.delete(this.path)
    this.#statements.clear()
    this.#reader?.close()
    this.#reader = undefined
    // Last, so that its connection is the last one: it removes the log.
    await this.#worker.close()
  }
}
