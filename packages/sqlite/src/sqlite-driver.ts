// Chooses the SQLite of this runtime: its own if that is recent enough, else @photostructure/sqlite if it is installed.
// SQLite below 3.51.3 is refused: two connections that write and checkpoint at once can corrupt a file there (the WAL-reset bug).

import type { SqliteConnection, SqliteRow, SqliteStatement, SqliteValue } from './sqlite-connection.ts'

/** The oldest SQLite that is accepted. */
export const oldestSqlite = '3.51.3'

/** A SQLite that can be used. */
export interface SqliteDriver {
  /** The module it comes from. */
  readonly module: string
  /** The version of SQLite. */
  readonly version: string
  /** Opens a file for reading and writing, creating it if it does not exist. */
  open(path: string): SqliteConnection
}

/** A module that may have a SQLite. */
export interface SqliteCandidate {
  readonly module: string
  /** Loads it; undefined if it is not there. */
  load(): Promise<SqliteDriver | undefined>
}

/** No SQLite can be used here; the message names what to install or to update. */
export class SqliteMissing extends Error {
  /** Whether there is one that is too old. */
  readonly tooOld: boolean
  constructor(message: string, tooOld: boolean) {
    super(message)
    this.tooOld = tooOld
  }
}

interface NodeStatement {
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint }
  get(...values: readonly SqliteValue[]): SqliteRow | undefined
  all(...values: readonly SqliteValue[]): readonly SqliteRow[]
  iterate(...values: readonly SqliteValue[]): IterableIterator<SqliteRow>
}
interface NodeDatabase {
  exec(sql: string): void
  prepare(sql: string): NodeStatement
  function(name: string, options: { readonly varargs: true }, body: (...values: readonly SqliteValue[]) => SqliteValue): void
  close(): void
}
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => NodeDatabase
}
interface BunStatement extends Omit<NodeStatement, 'get'> {
  finalize(): void
  get(...values: readonly SqliteValue[]): SqliteRow | null
}
interface BunDatabase extends Omit<NodeDatabase, 'prepare' | 'function'> {
  prepare(sql: string): BunStatement
}
interface BunSqlite {
  readonly Database: new (path: string) => BunDatabase
}

class DriverStatement implements SqliteStatement {
  readonly #statement: NodeStatement | BunStatement
  constructor(statement: NodeStatement | BunStatement) {
    this.#statement = statement
  }
  run(...values: readonly SqliteValue[]): number {
    return Number(this.#statement.run(...values).changes)
  }
  get(...values: readonly SqliteValue[]): SqliteRow | undefined {
    return this.#statement.get(...values) ?? undefined
  }
  all(...values: readonly SqliteValue[]): readonly SqliteRow[] {
    return this.#statement.all(...values)
  }
  iterate(...values: readonly SqliteValue[]): IterableIterator<SqliteRow> {
    return this.#statement.iterate(...values)
  }
}

class DriverConnection implements SqliteConnection {
  readonly #database: NodeDatabase | BunDatabase
  /** Of Bun, which does not finalize them when the connection is closed. */
  readonly #open = new Set<BunStatement>()
  constructor(database: NodeDatabase | BunDatabase) {
    this.#database = database
  }
  exec(sql: string): void {
    this.#database.exec(sql)
  }
  prepare(sql: string): SqliteStatement {
    const statement = this.#database.prepare(sql)
    if ('finalize' in statement) this.#open.add(statement)
    return new DriverStatement(statement)
  }
  select(columns: readonly string[], rest: string): readonly SqliteRow[] {
    const statement = this.#database.prepare(`select ${columns.join(', ')} ${rest}`)
    try {
      return statement.all()
    } finally {
      if ('finalize' in statement) statement.finalize()
    }
  }
  close(): void {
    for (const statement of this.#open) statement.finalize()
    this.#open.clear()
    this.#database.close()
  }
}

/** Rows of a statement that must not be collected meanwhile: @photostructure/sqlite ends the process then. */
class KeepingIterator implements IterableIterator<SqliteRow> {
  readonly #rows: IterableIterator<SqliteRow>
  readonly statement: SqliteStatement
  constructor(statement: SqliteStatement, rows: IterableIterator<SqliteRow>) {
    this.statement = statement
    this.#rows = rows
  }
  next(): IteratorResult<SqliteRow> {
    return this.#rows.next()
  }
  return(): IteratorResult<SqliteRow> {
    return this.#rows.return?.() ?? { done: true, value: undefined }
  }
  [Symbol.iterator](): this {
    return this
  }
}
class KeepingStatement extends DriverStatement {
  override iterate(...values: readonly SqliteValue[]): IterableIterator<SqliteRow> {
    return new KeepingIterator(this, super.iterate(...values))
  }
}

/**
 * @photostructure/sqlite does not finalize the statements of a connection that is closed: it keeps its locks until they were collected. So rows
 * that are read once are passed to a function, in a statement that SQLite finalizes itself.
 */
class CollectingConnection extends DriverConnection {
  readonly #compiling: NodeDatabase
  #rows: (readonly SqliteValue[])[] = []
  constructor(database: NodeDatabase) {
    super(database)
    this.#compiling = database
    database.function('collect_row', { varargs: true }, (...values) => {
      this.#rows.push(values)
      return null
    })
  }
  override prepare(sql: string): SqliteStatement {
    return new KeepingStatement(this.#compiling.prepare(sql))
  }
  override select(columns: readonly string[], rest: string): readonly SqliteRow[] {
    this.#rows = []
    this.exec(`select collect_row(${columns.join(', ')}) ${rest}`)
    return this.#rows.map((values) => Object.fromEntries(columns.map((column, i) => [column, values[i]!])))
  }
}

function driverOf(module: string, open: (path: string) => SqliteConnection): SqliteDriver {
  const memory = open(':memory:')
  try {
    return { module, version: String(memory.select(['sqlite_version()'], '')[0]!['sqlite_version()']), open }
  } finally {
    memory.close()
  }
}

/** Loads a module whose name bundlers must not look up: it exists on some runtimes only. */
async function imported<T>(module: string): Promise<T | undefined> {
  try {
    return (await import(/* @vite-ignore */ module)) as T
  } catch (cause) {
    // A module that is there and broken is not one that is missing.
    const { code } = cause as { readonly code?: unknown }
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || code === 'ERR_UNKNOWN_BUILTIN_MODULE') return undefined
    throw cause
  }
}

/** Loads `node:sqlite` without the warning of Node 22 that it is experimental. Other warnings are not touched. */
function builtIn(): NodeSqlite | undefined {
  const { process } = globalThis as { process?: NodeJS.Process }
  if (process?.getBuiltinModule === undefined) return undefined
  const descriptor = Object.getOwnPropertyDescriptor(process, 'emitWarning')
  // Loading is synchronous, so that no other warning is lost.
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined
  } finally {
    if (descriptor === undefined) delete (process as Partial<NodeJS.Process>).emitWarning
    else Object.defineProperty(process, 'emitWarning', descriptor)
  }
}

const candidates: readonly SqliteCandidate[] = [
  {
    module: 'bun:sqlite',
    async load() {
      if ((globalThis as { Bun?: unknown }).Bun === undefined) return undefined
      const { Database } = (await imported<BunSqlite>('bun:sqlite'))!
      return driverOf('bun:sqlite', (path) => new DriverConnection(new Database(path)))
    },
  },
  {
    module: 'node:sqlite',
    load() {
      const module = builtIn()
      return Promise.resolve(
        module === undefined ? undefined : driverOf('node:sqlite', (path) => new DriverConnection(new module.DatabaseSync(path))),
      )
    },
  },
  {
    module: '@photostructure/sqlite',
    async load() {
      const module = await imported<NodeSqlite>('@photostructure/sqlite')
      return module === undefined ? undefined : driverOf('@photostructure/sqlite', (path) => new CollectingConnection(new module.DatabaseSync(path)))
    },
  },
]

/** Whether a version of SQLite is recent enough. */
export function isAccepted(version: string): boolean {
  const [found, oldest] = [version, oldestSqlite].map((text) => text.split('.').map(Number)) as [number[], number[]]
  for (const [i, part] of oldest.entries()) if (found[i] !== part) return (found[i] ?? 0) > part
  return true
}

/** The first of these that can be used. Fails with `SqliteMissing`. */
export async function chooseSqlite(from: readonly SqliteCandidate[], runtime: string): Promise<SqliteDriver> {
  const old: SqliteDriver[] = []
  for (const candidate of from) {
    const driver = await candidate.load()
    if (driver === undefined) continue
    if (isAccepted(driver.version)) return driver
    old.push(driver)
  }
  const wanted = `@photostructure/sqlite@${/^Node 2[01]/.test(runtime) ? 1 : 2}`
  const remedy = `run npm install ${wanted}, or use Node 24 or later, a recent Node 22, Bun or Deno`
  if (old.length === 0) throw new SqliteMissing(`${runtime} has no SQLite; ${remedy}`, false)
  const found = old.map(({ module, version }) => `${module} has ${version}`).join(', ')
  throw new SqliteMissing(`SQLite ${oldestSqlite} or later is needed, because older ones can corrupt a file (${found}); ${remedy}`, true)
}

function runtimeName(): string {
  const { Bun, Deno, process } = globalThis as { Bun?: { version: string }; Deno?: { version: { deno: string } }; process?: NodeJS.Process }
  if (Bun !== undefined) return `Bun ${Bun.version}`
  if (Deno !== undefined) return `Deno ${Deno.version.deno}`
  return `Node ${process?.versions.node ?? 'of unknown version'}`
}

let loading: Promise<SqliteDriver> | undefined

/**
 * The SQLite of this runtime, the same for all callers: two libraries in one process would not see each other's locks.
 * Fails with `SqliteMissing`.
 */
export function loadSqlite(): Promise<SqliteDriver> {
  return (loading ??= chooseSqlite(candidates, runtimeName()))
}
