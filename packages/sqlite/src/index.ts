// What sibling packages use of SQLite, listed by hand.

export { resultCode, SqliteFailure, sqliteResult } from './sqlite-result.ts'
export type { SqliteConnection, SqliteRow, SqliteStatement, SqliteValue } from './sqlite-connection.ts'
export { chooseSqlite, isAccepted, loadSqlite, oldestSqlite, type SqliteCandidate, type SqliteDriver, SqliteMissing } from './sqlite-driver.ts'
