// A copy of a SQLite journal while it is in use, in another file. In a file of its own: what it declares is public.

import { cpSync, existsSync, renameSync, rmSync } from 'node:fs'
import { checkOneOf, checkText, readOptions, type Table } from '@troupe/core/internal'
import { JournalDamaged, JournalRefused, JournalUnavailable } from '../../values/errors.ts'
import { enterFile } from './sqlite-file.ts'
import { syncFolder } from './sqlite-open.ts'
import { keysPath } from './subject-keys.ts'

/** Options of `backupSqlite`. */
export interface SqliteBackupOptions {
  /** Keys of subjects, which are files of their own: `with` them (default), or `without`, so that what is erased later is erased in the copy too. */
  readonly keys?: 'with' | 'without' | undefined
}

const table: Table<SqliteBackupOptions> = { keys: [checkOneOf, ['with', 'without']] }

/**
 * Copies a SQLite journal into another file, whole and as of one moment, while systems use it. The copy is the same journal, with its
 * identity: it is there to replace the first one, not to be used beside it.
 *
 * Guarantees: a copy that is there is whole and flushed. Fails with `JournalUnavailable` if there is no journal or no room, and with
 * `JournalRefused` if the other file exists.
 *
 * @example
 * await backupSqlite('./data/shop.db', './backup/shop-2026-01-31.db')
 */
export async function backupSqlite(file: string, to: string, options: SqliteBackupOptions = {}): Promise<void> {
  const { keys = 'with' } = readOptions('backupSqlite', options, table)
  checkText('file', file)
  checkText('to', to)
  const name = `sqlite(${file})`
  if (!existsSync(file)) throw new JournalUnavailable(name, `there is none at ${file}`)
  if (existsSync(to)) throw new JournalRefused(`sqlite(${to})`, 'it exists, and a backup would overwrite it; name another file')
  const opened = await enterFile(name, file, undefined)
  // Under another name until it is whole.
  const part = `${to}.part`
  try {
    rmSync(part, { force: true })
    await opened.task({ type: 'copy', to: part })
    // After it: a key is made before what it encrypts, so that all that the copy needs are there.
    if (keys === 'with' && existsSync(keysPath(opened.path))) cpSync(keysPath(opened.path), keysPath(to), { recursive: true })
    renameSync(part, to)
    syncFolder(to)
  } catch (cause) {
    rmSync(part, { force: true })
    throw cause instanceof JournalDamaged
      ? cause
      : new JournalUnavailable(`sqlite(${to})`, `the copy cannot be written (${(cause as Error).message})`, cause)
  } finally {
    await opened.leave()
  }
}
