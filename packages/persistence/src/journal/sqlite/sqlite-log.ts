// Keeps the write-ahead log of a journal short. SQLite copies it into the file at 16 MB and begins it anew, but only while no connection reads in an
// older part of it: a process that is stopped in a read, and a long verification or backup, let it grow. Then an operator is told who has the file
// open. Once that reader has ended SQLite begins the log anew and cuts it (`journal_size_limit`), or this does.

import { readFileSync, statSync } from 'node:fs'
import type { SqliteConnection } from '@troupe/sqlite'

/** A log of this size is copied into the file even if readers must be waited for. */
const largestLog = 64 * 1024 * 1024
/** How long they are waited for, and how often, in ms: meanwhile nothing is written. */
const [waitMs, pauseMs] = [100, 2000]

export class SqliteLog {
  readonly #path: string
  readonly #largest: number
  #triedAt = -Infinity
  /** What an operator should know; undefined if nothing. */
  warning: string | undefined

  constructor(path: string, largest: number = largestLog) {
    this.#path = path
    this.#largest = largest
  }

  get #size(): number {
    return statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Shortens a log that is too long. Call while nobody waits for the connection, whose timeout is given. */
  shorten(connection: SqliteConnection, busyTimeout: number): void {
    if (this.#size < this.#largest) {
      this.warning = undefined
      return
    }
    const now = performance.now()
    if (now - this.#triedAt < pauseMs) return
    this.#triedAt = now
    try {
      connection.exec(`pragma busy_timeout = ${waitMs}`)
      connection.exec('pragma wal_checkpoint(truncate)')
    } finally {
      connection.exec(`pragma busy_timeout = ${busyTimeout}`)
    }
    const size = this.#size
    this.warning = size < this.#largest ? undefined : this.#warningOf(connection, size)
  }
  #warningOf(connection: SqliteConnection, size: number): string {
    const pids = connection.select(['process'], 'from sessions').flatMap((row) => pidOf(row['process']) ?? [])
    const others = [...new Set(pids)].filter((pid) => pid !== process.pid)
    const stopped = others.filter(isStopped)
    const who =
      stopped.length > 0
        ? `${processes(stopped)} stopped; let it continue, or end it`
        : `${others.length === 0 ? '' : `${processes(others)} reading, or `}a verification or a backup is under way`
    return `${this.#path}-wal has ${Math.round(size / 1e6)} MB and cannot be shortened while it is read: ${who}`
  }
}

function processes(pids: readonly number[]): string {
  return pids.length === 1 ? `process ${pids[0]} is` : `processes ${pids.join(', ')} are`
}
function pidOf(text: unknown): number | undefined {
  try {
    const { pid } = JSON.parse(String(text)) as { readonly pid?: unknown }
    return typeof pid === 'number' ? pid : undefined
  } catch {
    return undefined
  }
}
/** Whether a process is stopped by a signal or a debugger, on Linux; elsewhere nobody can tell. */
function isStopped(pid: number): boolean {
  try {
    // The state follows the name, which is in parentheses and may have any letters.
    return /^[Tt]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, ''))
  } catch {
    return false
  }
}
