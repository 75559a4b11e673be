// The number of the last acknowledged commit, in a small file beside the journal. SQLite cannot tell a log that was cut, or is missing, from
// one that was never longer; with this number a journal can. It is written after each commit and before its acknowledgment, without a flush:
// it survives the end of the process, and after a power failure it is at worst too low, which only weakens the check.

import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** Where the mark of a file is. */
export function markPath(path: string): string {
  return `${path}-commits`
}

const pattern = /^troupe commits ([0-9a-f-]{36}) (\d{16}) ([0-9a-f]{8})\n$/

function textOf(identity: string, commits: number): string {
  const text = `troupe commits ${identity} ${String(commits).padStart(16, '0')}`
  return `${text} ${crc32(text).toString(16).padStart(8, '0')}\n`
}

/** What the mark of a file says; undefined if there is none that can be read. */
export function readMark(path: string): { readonly identity: string; readonly commits: number } | undefined {
  let text: string
  try {
    text = readFileSync(markPath(path), 'latin1')
  } catch {
    return undefined
  }
  const found = pattern.exec(text)
  if (found === null || textOf(found[1]!, Number(found[2])) !== text) return undefined
  return { identity: found[1]!, commits: Number(found[2]) }
}

export class CommitMark {
  readonly #path: string
  readonly #identity: string
  #file: number | undefined

  constructor(path: string, identity: string) {
    this.#path = markPath(path)
    this.#identity = identity
  }

  /** Writes the number. A mark that cannot be written does not fail a commit: it only proves less. */
  write(commits: number): void {
    try {
      // Another process may have removed it when it closed the journal.
      if (this.#file !== undefined && fstatSync(this.#file).nlink === 0) this.close()
      // Created if it is missing, and never cut: another process may be reading it.
      this.#file ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o666)
      writeSync(this.#file, textOf(this.#identity, commits), 0, 'latin1')
    } catch {
      this.close()
    }
  }
  remove(): void {
    this.close()
    rmSync(this.#path, { force: true })
  }
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}
