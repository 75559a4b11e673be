// Reads the write-ahead log of a SQLite file before SQLite does. SQLite uses it up to the first frame whose checksum is wrong and drops the
// rest: right after a torn write, and a silent loss of acknowledged commits if a frame in the middle was damaged.
//
//   header   magic, version, page size, sequence, salt 1, salt 2, checksum
//   frame    page number, size of the file after a commit (0 inside of one), salt 1, salt 2, checksum of everything up to here; then the page
//
// Each commit is flushed before the next one is written. So a bad frame in the last commit is a torn write, and valid frames of the same
// salt behind the end of the commit with the bad frame are damage. Opening the log takes no lock of SQLite's, and closing it drops none.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const headerBytes = 32
const frameBytes = 24
const bigEndianMagic = 0x37_7f_06_83

/** What is wrong with a log; undefined if SQLite will use all of it that was ever committed. */
export interface WalReport {
  /** Frames that SQLite will use. */
  readonly frames: number
  readonly problem?: string
}

/** Examines the log of a file that others may be writing: what changes meanwhile is read again. */
export function examineWal(path: string): WalReport {
  let last: string | undefined
  for (;;) {
    const { header, report } = examineOnce(path)
    // A damage must be seen twice alike: a log that is begun anew while it is read looks damaged.
    if (report.problem === undefined || `${header} ${report.problem}` === last) return report
    last = `${header} ${report.problem}`
  }
}

function examineOnce(path: string): { readonly header: string; readonly report: WalReport } {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { header: '', report: { frames: 0 } }
    throw cause
  }
  try {
    const header = Buffer.alloc(headerBytes)
    const size = fstatSync(file).size
    // Shorter: it was made and never written, or the first write of it was torn.
    if (readAt(file, header, 0) < headerBytes) return { header: '', report: { frames: 0 } }
    return { header: header.toString('hex'), report: examineFrames(file, header, size) }
  } finally {
    closeSync(file)
  }
}

function readAt(file: number, into: Buffer, at: number): number {
  let read = 0
  while (read < into.length) {
    const some = readSync(file, into, read, into.length - read, at + read)
    if (some === 0) break
    read += some
  }
  return read
}

function examineFrames(file: number, header: Buffer, size: number): WalReport {
  const magic = header.readUInt32BE(0)
  const pageSize = header.readUInt32BE(8)
  const salt = header.subarray(16, 24)
  const words = new Uint32Array(2)
  const bigEndian = magic === bigEndianMagic
  const isHeader = (magic & 0xff_ff_ff_fe) >>> 0 === 0x37_7f_06_82 && header.readUInt32BE(4) === 3_007_000 && pageSize >= 512 && pageSize <= 65_536
  if (isHeader) addTo(words, header.subarray(0, 24), bigEndian)
  const headerFits = isHeader && words[0] === header.readUInt32BE(24) && words[1] === header.readUInt32BE(28)
  // SQLite takes a log with a bad header for an empty one. A torn first write has nothing behind it.
  if (!headerFits)
    return size > headerBytes + frameBytes + 512 ? { frames: 0, problem: 'its header is damaged, and frames follow it' } : { frames: 0 }
  const frame = Buffer.alloc(frameBytes + pageSize)
  let bad: number | undefined
  /** Whether the commit that has the bad frame has ended. */
  let ended = false
  let committed = 0
  for (let number = 1, at = headerBytes; readAt(file, frame, at) === frame.length; number++, at += frame.length) {
    // Frames of an earlier use of the log have another salt, and count for nothing.
    const isCurrent = frame.subarray(8, 16).equals(salt)
    if (isCurrent) {
      addTo(words, frame.subarray(0, 8), bigEndian)
      addTo(words, frame.subarray(frameBytes), bigEndian)
    }
    const fits = isCurrent && words[0] === frame.readUInt32BE(16) && words[1] === frame.readUInt32BE(20)
    const isCommit = isCurrent && frame.readUInt32BE(4) !== 0
    if (fits && ended) return { frames: committed, problem: `frame ${bad} is damaged, and commits after it are whole: they would be lost` }
    if (!fits) {
      bad ??= number
      // The sum of the next frame goes on from what this one says.
      words[0] = frame.readUInt32BE(16)
      words[1] = frame.readUInt32BE(20)
    } else if (bad === undefined && isCommit) committed = number
    if (bad !== undefined && isCommit) ended = true
  }
  return { frames: committed }
}

/** The checksum of SQLite's log over 8 bytes at a time, added to `words`. */
function addTo(words: Uint32Array, bytes: Buffer, bigEndian: boolean): void {
  let [s0, s1] = [words[0]!, words[1]!]
  if (bigEndian)
    for (let i = 0; i < bytes.length; i += 8) {
      s0 = (s0 + bytes.readUInt32BE(i) + s1) >>> 0
      s1 = (s1 + bytes.readUInt32BE(i + 4) + s0) >>> 0
    }
  else {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let i = 0; i < bytes.length; i += 8) {
      s0 = (s0 + view.getUint32(i, true) + s1) >>> 0
      s1 = (s1 + view.getUint32(i + 4, true) + s0) >>> 0
    }
  }
  words[0] = s0
  words[1] = s1
}
