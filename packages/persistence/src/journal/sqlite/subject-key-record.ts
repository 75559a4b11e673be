// A line of the file of keys:
//
//   112 key 6465…83 "anna" 5d41a7f0     length of the rest, key, subject, checksum of both
//   112 key xxxx…xx "anna" 5d41a7f0     the same when the key was destroyed
//   23 erased "anna" 01b3c9d2           its subject was erased, whatever else the file says of it

import { crc32 } from 'node:zlib'

export interface KeyRecord {
  readonly subject: string
  /** Undefined if the subject was erased. */
  readonly key: Uint8Array | undefined
}

/** What a line is: a record, one of that subject that is not what was written, one of a subject that is not known, or nothing: empty, or cut by a crash. */
export type KeyLine = ({ readonly is: 'record' } & KeyRecord) | { readonly is: 'damaged'; readonly subject: string } | 'unreadable' | 'nothing'

const line = /^(\d+) (?:key ([0-9a-fx]*)|erased) (".*") ([0-9a-f]{8})$/

export function writeRecord(subject: string, key: Uint8Array | undefined): string {
  const what = `${key === undefined ? 'erased' : `key ${Buffer.from(key).toString('hex')}`} ${JSON.stringify(subject)}`
  const text = `${what} ${sumOf(what)}`
  return `${Buffer.byteLength(text)} ${text}\n`
}

export function readLine(text: string): KeyLine {
  const found = line.exec(text)
  if (found === null) {
    // Less than was to be written: a process ended in the middle, before anybody was told of it. A disk may have zeros there.
    const length = /^(\d+) /.exec(text)
    const isCut = length === null ? /^\d{0,9}\0*$/.test(text) : Buffer.byteLength(text.replace(/\0+$/, '')) < length[0].length + Number(length[1])
    return isCut ? 'nothing' : 'unreadable'
  }
  const [, length, key, quoted, sum] = found
  let subject: string
  try {
    subject = JSON.parse(quoted!) as string
  } catch {
    return 'unreadable'
  }
  const what = text.slice(length!.length + 1, -9)
  if (key?.includes('x') === true || sumOf(what) !== sum) return { is: 'damaged', subject }
  return { is: 'record', subject, key: key === undefined ? undefined : new Uint8Array(Buffer.from(key, 'hex')) }
}

/** Where the key of a line is, and how long. */
export function keyIn(text: string): { readonly from: number; readonly length: number } | undefined {
  const found = /^\d+ key ([0-9a-fx]+) /.exec(text)
  return found === null ? undefined : { from: found[0].length - found[1]!.length - 1, length: found[1]!.length }
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
