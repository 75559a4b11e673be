// A copy of an LMDB journal while it is in use, in another directory.

import { cpSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkOneOf, checkText, readOptions, type Table } from '@troupe/core/internal'
import { makeFolder, syncFolder } from '../journal/lmdb/disk.ts'
import { enterFile } from '../journal/lmdb/file.ts'
import { JournalRefused, JournalUnavailable } from '../values/errors.ts'

/** Options of `backupLmdb`. */
export interface BackupOptions {
  /** Keys of subjects, which are files of their own: `with` them (default), or `without`, so that what is erased later is erased in the copy too. */
  readonly keys?: 'with' | 'without' | undefined
}

const table: Table<BackupOptions> = { keys: [checkOneOf, ['with', 'without']] }

/**
 * Copies the journal of a directory into another one, whole and as of one moment, while systems go on to use it. The copy is the same
 * journal, with its identity: it is there to take the place of the first one, not to be used beside it.
 *
 * Guarantees: a copy that is there is whole and flushed. Fails with `JournalUnavailable` where there is no journal or no room, and with
 * `JournalRefused` where the other directory has one already.
 *
 * @example
 * await backupLmdb('./data', './backup/2026-01-31')
 */
export async function backupLmdb(directory: string, to: string, options: BackupOptions = {}): Promise<void> {
  const { keys = 'with' } = readOptions('backupLmdb', options, table)
  checkText('directory', directory)
  checkText('to', to)
  const name = `lmdb(${directory})`
  if (!existsSync(join(directory, 'journal.mdb'))) throw new JournalUnavailable(name, `there is none in ${directory}`)
  const folder = makeFolder(name, to)
  const path = join(folder, 'journal.mdb')
  if (existsSync(path)) throw new JournalRefused(`lmdb(${to})`, 'it is there already, and a backup would overwrite it; name another directory')
  const file = await enterFile(name, directory)
  // Under another name until it is whole.
  const part = `${path}.part`
  try {
    rmSync(part, { force: true })
    await file.copyTo(part)
    // After it: a key is made before what it seals, so that all that the copy needs are there.
    if (keys === 'with' && existsSync(join(directory, 'keys')))
      cpSync(join(directory, 'keys'), join(folder, 'keys'), { recursive: true, filter: (one) => !one.endsWith('.new') })
    renameSync(part, path)
    syncFolder(path)
  } catch (cause) {
    rmSync(part, { force: true })
    throw new JournalUnavailable(`lmdb(${to})`, `the copy cannot be written (${(cause as Error).message})`, cause)
  } finally {
    await file.leave()
  }
}
