// The disk under an LMDB file: folders that cannot be made, files that are of another program or were cut, how much room is left, and what
// makes a file that was just written survive a power cut.

import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { JournalDamaged, JournalRefused, JournalUnavailable } from '../../values/errors.ts'

/** The folder's real path, made where it is missing. */
export function makeFolder(name: string, directory: string): string {
  try {
    makeEach(resolve(directory))
    return realpathSync(directory)
  } catch (cause) {
    throw new JournalUnavailable(
      name,
      `the directory ${directory} cannot be made or entered (${codeOf(cause)}); make one that this process may write`,
      cause,
    )
  }
}

/** Folder by folder: `recursive` never comes back where one may not be made below one that exists, as in /proc. */
function makeEach(directory: string): void {
  if (existsSync(directory)) return
  makeEach(dirname(directory))
  try {
    mkdirSync(directory)
  } catch (cause) {
    // Another process made it meanwhile.
    if (codeOf(cause) !== 'EEXIST') throw cause
  }
}

function codeOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException).code ?? (cause as Error).message
}

/** LMDB would take the process with it where a file is not one of its own, and would begin anew where one is empty. */
export function checkMagic(name: string, path: string): void {
  const start = Buffer.alloc(32)
  let length: number
  try {
    const file = openSync(path, 'r')
    length = readSync(file, start)
    closeSync(file)
  } catch (cause) {
    throw new JournalUnavailable(name, `${path} cannot be opened (${codeOf(cause)}); let this process read and write it`, cause)
  }
  if (length === 0) throw new JournalDamaged(name, path, 'it is empty, and a journal never is; where there was none before, remove it')
  if (length < start.length || start.readUInt32LE(24) !== 0xbeefc0de)
    throw new JournalRefused(name, `${path} is not a journal; remove it, or name another directory`)
}

/** Makes a file under another name, whole and flushed, before it has its own: one that is there is never half made, whenever a process ends. */
export async function makeFile(path: string, fill: (made: string) => Promise<void>): Promise<void> {
  const made = `${path}.${randomUUID()}.new`
  try {
    await fill(made)
    syncFile(made)
    try {
      linkSync(made, path)
    } catch (cause) {
      // Somebody was first, and that one holds. Where a disk knows no links, a name is as good.
      if (codeOf(cause) !== 'EEXIST') renameSync(made, path)
    }
    syncFolder(path)
  } finally {
    for (const one of [made, `${made}-lock`]) rmSync(one, { force: true })
  }
}

/** A file that was cut would end the process when a missing page is touched. */
export function checkWhole(name: string, path: string, root: RootDatabase<Buffer, Buffer>): void {
  const { lastPageNumber, root: tree } = root.getStats() as { lastPageNumber: number; root: { pageSize: number } }
  const size = statSync(path).size
  const expected = (lastPageNumber + 1) * tree.pageSize
  if (size < expected)
    throw new JournalDamaged(
      name,
      path,
      `it has ${size} bytes where ${expected} were written: page ${Math.floor(size / tree.pageSize)} and all after it are missing`,
    )
}

/** LMDB says "Input/output error" for a disk that is full. */
export function spaceLeft(path: string): string {
  const left = bytesLeft(path)
  return left === Infinity ? '' : `; its disk has ${left} bytes left`
}

/** For what is small and must be written on a full disk, too: who owns the journal, what is deleted to make room. */
const reserve = 1_000_000
/** What a new file and its lock take. */
const smallest = 100_000

/**
 * That a disk has no room for so much more, where that can be told before: LMDB finds out in the middle of a write, when nobody can tell any more
 * whether that is stored.
 */
export function lacksRoom(name: string, path: string, bytes: number): JournalUnavailable | undefined {
  const left = bytesLeft(path)
  if (left >= reserve + bytes) return undefined
  return new JournalUnavailable(name, `${path} cannot be written (its disk has ${left} bytes left, and ${reserve} of them are kept free); make room`)
}
/** Which file it is that a path leads to; undefined where there is none. */
export function fileAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}
/** A file that was removed while it is open takes everything, and keeps nothing. */
export function isGone(name: string, path: string): JournalUnavailable {
  return new JournalUnavailable(name, `${path} is gone: it was removed or replaced while this process had it open; end this process, and begin anew`)
}
/** The lock is memory that is mapped: where the disk has no room for it, the first touch would end the process. */
export function checkRoom(name: string, path: string): void {
  if (existsSync(`${path}-lock`)) return
  const left = bytesLeft(dirname(path))
  if (left < smallest) throw new JournalUnavailable(name, `${path} cannot be made (its disk has ${left} bytes left); make room`)
}
function bytesLeft(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return Infinity
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
  const folder = openSync(join(path, '..'), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
