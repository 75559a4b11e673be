// One LMDB file, open once in a process however many journals stand on it: its tables, its one way to write, and what is wrong with it.
// A write is a function that looks and changes inside LMDB's write transaction, of which there is one at a time over all processes;
// it has happened when it is flushed, and is seen by nobody before. Whoever opens a file twice in a process would wait for himself.

import { existsSync, statSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Database, open as openLmdb, RootDatabase, Transaction } from 'lmdb'
import { JournalDamaged, JournalRefused, JournalUnavailable } from '../../values/errors.ts'
import { open as openRecord, makeRecord, type Opened, seal } from './bytes.ts'
import { beginWrite, endWrite } from './exit.ts'
import { checkMagic, checkRoom, checkWhole, fileAt, isGone, lacksRoom, makeFile, makeFolder, spaceLeft, syncFile, syncFolder } from './disk.ts'
import { checkRoots } from './pages.ts'

const names = ['meta', 'owners', 'heads', 'runs', 'states', 'snapshots', 'log', 'kinds', 'tags', 'timers', 'due', 'offsets'] as const
type TableName = (typeof names)[number]
const format = 'troupe journal 1'
const formatKey = Buffer.from('format')
const stateKey = Buffer.from('state')
const restoringKey = Buffer.from('restoring')

/** What the file says of itself as a whole, changed by every write. */
export interface FileState {
  /** The number of the last group. */
  group: number
  /** Who wrote last: tells whether a write that failed is to be seen. */
  mark: string
  events: number
}

/** How a write that did not succeed ended. */
export class WriteFailed extends Error {
  /** Whether it may be there all the same. */
  readonly unknown: boolean
  constructor(unknown: boolean, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.unknown = unknown
  }
}

/** What lmdb takes and its types do not say. */
interface ReadAsOf {
  getBinaryFast(key: Buffer, options?: { readonly transaction: Transaction }): Buffer | undefined
}

/** One table: records by key. */
export class Table {
  readonly #file: LmdbFile
  readonly name: TableName
  readonly #number: number
  readonly #db: Database<Buffer, Buffer>
  /** The moment at which it is read; undefined for now. */
  readonly #view: { readonly transaction: Transaction } | undefined

  constructor(file: LmdbFile, name: TableName, db: Database<Buffer, Buffer>, view?: { readonly transaction: Transaction }) {
    this.#file = file
    this.name = name
    this.#number = names.indexOf(name)
    this.#db = db
    this.#view = view
  }
  /** The same table, read as of one moment. */
  at(transaction: Transaction): Table {
    return new Table(this.#file, this.name, this.#db, { transaction })
  }

  /** The record, checked; `where` says in words which it is, for the error. */
  get(key: Buffer, where: () => string): Opened | undefined {
    const bytes = (this.#db as unknown as ReadAsOf).getBinaryFast(key, this.#view)
    if (bytes === undefined) return undefined
    return this.open(key, bytes, where)
  }
  open(key: Buffer, bytes: Buffer, where: () => string): Opened {
    const opened = openRecord(this.#number, key, bytes)
    if (opened === undefined) throw this.damage(where(), 'its sum does not match')
    return opened
  }
  damage(record: string, problem: string): JournalDamaged {
    return new JournalDamaged(this.#file.name, `${this.#file.path}, ${this.name} of ${record}`, problem)
  }
  put(key: Buffer, record: Buffer, group = 0, place = 0): void {
    void this.#db.put(key, seal(this.#number, key, record, group, place))
  }
  remove(key: Buffer): void {
    void this.#db.remove(key)
  }
  /** Removes all that it has, outside of any other write. */
  async clear(): Promise<void> {
    await this.#db.clearAsync()
  }
  range(options: { start?: Buffer; end?: Buffer; reverse?: boolean; limit?: number }): Iterable<{ key: Buffer; value: Buffer }> {
    return this.#db.getRange({ ...options, ...this.#view })
  }
  keys(options: { start?: Buffer; end?: Buffer; reverse?: boolean; limit?: number }): Iterable<Buffer> {
    return this.#db.getKeys({ ...options, ...this.#view })
  }
  get size(): number {
    return (this.#db.getStats() as { entryCount: number }).entryCount
  }
}

/** Files that are open in this process, by their real path. */
const files = new Map<string, Promise<LmdbFile>>()

/** The file of a folder, opened by the first who asks; `leave` of it is owed. */
export async function enterFile(name: string, directory: string): Promise<LmdbFile> {
  const path = join(makeFolder(name, directory), 'journal.mdb')
  let opening = files.get(path)
  if (opening === undefined) files.set(path, (opening = LmdbFile.open(name, path)))
  try {
    const file = await opening
    if (file.restoring) throw new JournalRefused(name, `an import into ${path} is under way; open it when that has ended`)
    file.users++
    return file
  } catch (cause) {
    if ((await opening.catch(() => undefined)) === undefined) files.delete(path)
    throw cause
  }
}

/** What reads need of a file: its tables, now or as of one moment. */
export type TableView = Pick<LmdbFile, 'tables'>

export class LmdbFile {
  readonly name: string
  readonly path: string
  readonly identity: string
  readonly #root: RootDatabase<Buffer, Buffer>
  readonly tables: Readonly<Record<TableName, Table>>
  /** Called after every write of this process. */
  readonly listeners: Set<() => void> = new Set()
  users = 0
  /** Whether it is being filled by this process. */
  restoring = false
  /** Set when nothing can be written any more. */
  #broken: unknown
  readonly #inode: number | undefined

  private constructor(name: string, path: string, root: RootDatabase<Buffer, Buffer>) {
    this.name = name
    this.path = path
    this.#inode = fileAt(path)
    this.#root = root
    const tables: Partial<Record<TableName, Table>> = {}
    for (const table of names) tables[table] = new Table(this, table, root.openDB({ name: table, ...binary }))
    this.tables = tables as Record<TableName, Table>
    this.identity = this.#identify()
  }

  static async open(name: string, path: string): Promise<LmdbFile> {
    const { open } = await import('lmdb')
    checkRoom(name, path)
    if (existsSync(path)) {
      checkMagic(name, path)
      // Before LMDB does, which takes it for granted that pages are whole.
      const damage = checkRoots(path)
      if (damage !== undefined) throw new JournalDamaged(name, `${path}, page ${damage.page}`, damage.problem)
    } else {
      const fill = async (made: string): Promise<void> => (await LmdbFile.#at(name, made, open)).#root.close()
      await makeFile(path, fill).catch((cause: unknown) => {
        throw unusable(name, path, cause)
      })
    }
    return LmdbFile.#at(name, path, open)
  }
  static async #at(name: string, path: string, open: typeof openLmdb): Promise<LmdbFile> {
    // With commits flushed before they are seen: nobody acts on what a power cut may take back, and a flush that fails is told.
    let root: RootDatabase<Buffer, Buffer>
    try {
      root = open({ path, noSubdir: true, overlappingSync: false, eventTurnBatching: false, maxDbs: names.length + 1, ...binary })
    } catch (cause) {
      throw /MDB_(INVALID|VERSION_MISMATCH|CORRUPTED)|not an LMDB file|Invalid argument/.test(String(cause))
        ? new JournalRefused(name, `${path} is not a journal (${(cause as Error).message}); remove it, or name another directory`, cause)
        : new JournalUnavailable(name, `${path} cannot be opened (${(cause as Error).message}); let this process read and write it`, cause)
    }
    try {
      checkWhole(name, path, root)
      return new LmdbFile(name, path, root)
    } catch (cause) {
      await root.close()
      throw unusable(name, path, cause)
    }
  }

  /** Looks who made the file, or makes it one of ours where nobody did. */
  #identify(): string {
    return this.#root.transactionSync(() => this.#begin())
  }
  #begin(): string {
    const { meta, heads } = this.tables
    const found = meta.get(formatKey, () => 'the format')
    if (found !== undefined) return this.#known(found)
    let others = heads.size
    for (const key of this.#root.getKeys({})) if (!(names as readonly string[]).includes(Buffer.from(key).toString().replace(/\0$/, ''))) others++
    if (others > 0) throw new JournalRefused(this.name, `${this.path} is an LMDB file of another program; name another directory`)
    const identity = randomUUID()
    meta.put(formatKey, makeRecord({ format, identity }))
    this.#putState({ group: 0, mark: identity, events: 0 })
    return identity
  }
  #known({ head }: Opened): string {
    const { format: found, identity } = head as { format: string; identity: string }
    if (found !== format)
      throw new JournalRefused(
        this.name,
        `${this.path} has the format ${JSON.stringify(found)}, and this version of Troupe reads ${JSON.stringify(format)}`,
      )
    if (this.tables.meta.get(restoringKey, () => 'an import') !== undefined)
      throw new JournalRefused(this.name, `an import into ${this.path} did not come to its end; remove it, and import again`)
    return identity
  }
  /** Says that it is being filled, and cannot be opened before that is over. */
  markRestoring(on: boolean): void {
    this.restoring = on
    if (on) this.tables.meta.put(restoringKey, makeRecord(0))
    else this.tables.meta.remove(restoringKey)
  }

  state(): FileState {
    const found = this.tables.meta.get(stateKey, () => 'its state')
    if (found === undefined) throw this.tables.meta.damage('its state', 'it is missing')
    return found.head as FileState
  }
  #putState(state: FileState): void {
    this.tables.meta.put(stateKey, makeRecord(state))
  }

  /** From here on reads see what others have written by now. */
  refresh(): void {
    this.#root.resetReadTxn()
  }

  /** All tables as they are now, whatever is written meanwhile; `end` is owed, for until then no page of them is used again. */
  freeze(): { readonly tables: LmdbFile['tables']; end(): unknown } {
    this.refresh()
    const transaction = this.#root.useReadTransaction()
    const tables = Object.fromEntries(names.map((name) => [name, this.tables[name].at(transaction)])) as unknown as LmdbFile['tables']
    // A file that was closed has ended its transactions itself.
    return { tables, end: () => this.users > 0 && transaction.done() }
  }
  /** A whole copy of the file as it is now, without what is unused in it. */
  async copyTo(path: string): Promise<void> {
    await this.#root.backup(path, true)
    syncFile(path)
    syncFolder(path)
  }

  /**
   * Runs `change` inside a write transaction; what it changed is flushed when this resolves. Rejects with `WriteFailed`, or with what
   * `change` threw, which must be before it has changed anything.
   */
  async write<T>(change: (state: FileState) => T): Promise<T> {
    if (this.#broken !== undefined) throw new WriteFailed(false, this.#broken)
    const mark = randomMark()
    let before: string | undefined
    let refusal: { cause: unknown } | undefined
    let result: T
    beginWrite()
    try {
      result = await this.#root.transaction(() => {
        const state = this.state()
        before = state.mark
        try {
          const value = change(state)
          state.mark = mark
          this.#putState(state)
          return value
        } catch (cause) {
          if (!isOurs(cause)) this.#broken = cause
          refusal = { cause }
          throw cause
        }
      })
      await this.#root.flushed
    } catch (cause) {
      if (refusal !== undefined && isOurs(refusal.cause)) throw refusal.cause
      const why = await reasonOf(cause)
      const told = new JournalUnavailable(this.name, `${this.path} cannot be written (${(why as Error).message}${spaceLeft(this.path)})`, why)
      throw new WriteFailed(this.#broken !== undefined || this.#maybeThere(why, before), told)
    } finally {
      endWrite()
    }
    for (const listener of this.listeners) listener()
    return result
  }

  /** Whether a write that failed may be there: not where the last one to be seen is still the one before it. */
  #maybeThere(why: unknown, before: string | undefined): boolean {
    if (before === undefined) return false
    if (/EIO|Input\/output/.test(String(why))) return true
    try {
      this.refresh()
      return this.state().mark !== before
    } catch {
      return true
    }
  }

  /** Why so many writes of so many bytes more cannot be kept: the file is gone, or its disk has no room. Each changes a page of several tables. */
  lacksRoom(writes: number, bytes: number): JournalUnavailable | undefined {
    if (fileAt(this.path) !== this.#inode) return isGone(this.name, this.path)
    return lacksRoom(this.name, this.path, 2 * bytes + 16_384 * writes)
  }
  get bytes(): number {
    return statSync(this.path).size
  }

  async leave(): Promise<void> {
    if (--this.users > 0) return
    files.delete(this.path)
    await this.#root.close()
  }
}

const binary = { encoding: 'binary', keyEncoding: 'binary' } as const

function randomMark(): string {
  return randomUUID().slice(0, 18)
}

/** What is wrong with a file, in our words. */
function unusable(name: string, path: string, cause: unknown): unknown {
  return isOurs(cause) ? cause : new JournalUnavailable(name, `${path} cannot be used (${(cause as Error).message}${spaceLeft(path)})`, cause)
}

/** Refusals of ours are thrown before anything was changed; anything else leaves a transaction half done. */
function isOurs(cause: unknown): boolean {
  return typeof (cause as { code?: unknown }).code === 'string' && (cause as { code: string }).code.includes('-')
}

/** LMDB tells of a failed commit in one error, and why in another that comes later. */
async function reasonOf(cause: unknown): Promise<unknown> {
  const why = (cause as { commitError?: Promise<never> }).commitError
  if (why === undefined) return cause
  try {
    return await why
  } catch (reason) {
    return reason
  }
}
