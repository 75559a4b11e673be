// Keys and records of an LMDB file. Keys are bytes whose order is the order of what they stand for. A record carries a sum over its
// table, its key and its content, so that one that was changed, cut or put somewhere else is noticed when it is read.

import { crc32 } from 'node:zlib'
import { isWellFormed } from '../../values/names.ts'

/** Longest text in a key, encoded: two of them and a number fit into what LMDB takes. */
export const longestText = 900

/** Text as part of a key: UTF-8, NUL escaped, with an end that sorts before every continuation. */
export function textKey(text: string): Buffer {
  if (!text.includes('\0')) return Buffer.from(`${text}\0\u0001`)
  const parts: Buffer[] = []
  for (const [i, part] of text.split('\0').entries()) {
    if (i > 0) parts.push(Buffer.from([0, 0xff]))
    parts.push(Buffer.from(part))
  }
  return Buffer.concat([...parts, Buffer.from([0, 1])])
}

/** The text of a key's part from a place on, and where it ends. */
export function readText(key: Uint8Array, from = 0): { readonly text: string; readonly end: number } {
  let text = ''
  let start = from
  for (let i = from; i < key.length; i++) {
    if (key[i] !== 0) continue
    text += Buffer.from(key.buffer, key.byteOffset + start, i - start).toString()
    if (key[i + 1] === 1) return { text, end: i + 2 }
    text += '\0'
    start = ++i + 1
  }
  throw new RangeError('a key without an end')
}

/** A whole number from 0 to 2^48 - 1 behind what is there. */
export function numberKey(prefix: Uint8Array, number: number): Buffer {
  const key = Buffer.allocUnsafe(prefix.length + 6)
  key.set(prefix)
  key.writeUIntBE(Math.min(number, 2 ** 48 - 1), prefix.length, 6)
  return key
}

/** The number at the end of a key. */
export function lastNumber(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.length).readUIntBE(key.length - 6, 6)
}

/** Any number so that bytes sort as numbers do. */
export function realKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  // Zero is one number, whatever its sign.
  key.writeDoubleBE(number === 0 ? 0 : number)
  if (key[0]! & 0x80) for (let i = 0; i < 8; i++) key[i] = ~key[i]!
  else key[0]! ^= 0x80
  return key
}

/** The first key after all that begin with this one; its last byte is never FF. */
export function afterAll(prefix: Uint8Array): Buffer {
  const key = Buffer.from(prefix)
  key[key.length - 1]!++
  return key
}

// A record: sum (4 bytes), group (6), place in it (4), encoding (1), text.
const front = 15
const utf8 = 0
const utf16 = 1

/** A record with a head, which is JSON, and a text of its own; without its sum and its place, which `seal` puts in. */
export function makeRecord(head: unknown, text = ''): Buffer {
  const whole = `${JSON.stringify(head)}\n${text}`
  // What is not well-formed would not come back from UTF-8 as it was.
  const plain = isWellFormed(text)
  const bytes = Buffer.allocUnsafe(front + (plain ? Buffer.byteLength(whole) : whole.length * 2))
  bytes.fill(0, 0, front)
  bytes[front - 1] = plain ? utf8 : utf16
  if (plain) bytes.write(whole, front)
  else bytes.write(whole, front, 'utf16le')
  return bytes
}

export function seal(table: number, key: Uint8Array, record: Buffer, group = 0, place = 0): Buffer {
  record.writeUIntBE(group, 4, 6)
  record.writeUInt32BE(place, 10)
  record.writeUInt32BE(sumOf(table, key, record), 0)
  return record
}

function sumOf(table: number, key: Uint8Array, record: Uint8Array): number {
  return crc32(record.subarray(4), crc32(key, table))
}

/** What a record says, or undefined where it is not what was written. */
export function open(table: number, key: Uint8Array, lent: Buffer): Opened | undefined {
  // lmdb returns a shared buffer whose `length` it overwrites. From Node 24 on, and on Bun, Buffer's methods ignore that and read past the
  // record, so it is read through a view of its true length.
  const bytes = Buffer.from(lent.buffer, lent.byteOffset, lent.length)
  if (bytes.length < front || bytes.readUInt32BE(0) !== sumOf(table, key, bytes)) return undefined
  const whole = bytes.toString(bytes[front - 1] === utf16 ? 'utf16le' : 'utf8', front)
  const line = whole.indexOf('\n')
  return { group: bytes.readUIntBE(4, 6), place: bytes.readUInt32BE(10), head: JSON.parse(whole.slice(0, line)), text: whole.slice(line + 1) }
}

export interface Opened {
  readonly group: number
  readonly place: number
  readonly head: unknown
  readonly text: string
}
