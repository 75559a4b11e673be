// What all drivers have in common: a connection runs statements in this thread, and a statement returns rows as objects.
// Integers are numbers; a column that is null is null. Callers escape NUL in text: some drivers cut it off there.

/** What can be bound to a parameter, and what a column has. */
export type SqliteValue = string | number | null | Uint8Array

/** A row, by the names of its columns. */
export type SqliteRow = Readonly<Record<string, SqliteValue>>

/** A statement that was compiled once and can be run many times. */
export interface SqliteStatement {
  /** Runs it, and returns how many rows it changed. */
  run(...values: readonly SqliteValue[]): number
  /** The first row, if there is one. */
  get(...values: readonly SqliteValue[]): SqliteRow | undefined
  all(...values: readonly SqliteValue[]): readonly SqliteRow[]
  /** Row by row. The read transaction ends when the iteration does: finish it, or call its `return`. */
  iterate(...values: readonly SqliteValue[]): IterableIterator<SqliteRow>
}

/** One connection to a file. */
export interface SqliteConnection {
  /** Runs statements that return nothing. */
  exec(sql: string): void
  /** Compiles a statement, which lives as long as the connection. */
  prepare(sql: string): SqliteStatement
  /** Reads `select <columns> <rest>` once. Leaves no statement behind. */
  select(columns: readonly string[], rest: string): readonly SqliteRow[]
  /** Closes it. With @photostructure/sqlite, what was prepared keeps it open until it is collected, or the thread ends. */
  close(): void
}
