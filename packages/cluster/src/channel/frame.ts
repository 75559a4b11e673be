// A frame as bytes. The reader is total: whatever the bytes are, it returns a frame or says what is wrong, and makes nothing that is
// larger than one small object, so that a stranger's bytes cost no more than themselves.
//
//   0 'T' · 1 version · 2 kind · 3 zero · 4 mine (4) · 8 yours (4) · 12 ack (6) · 18 number (6) · 24 body
//
// `mine` is the number of the sender's connection, `yours` that of the receiver's that it is one with, 0 where it is not known. `ack` is
// the last number that has arrived with all before it. The body of a data frame is records; of an ack the numbers that arrived beyond it.

import type { Versions } from '../values/versions.ts'
import { readNumber, wrongIn, writeNumber } from './record.ts'

export const headSize = 24
const magic = 0x54
const kinds = ['', 'data', 'ack', 'reset'] as const
type Kind = Exclude<(typeof kinds)[number], ''>
/** More gaps than that are told of by the next ack. */
export const mostRanges = 32

export interface Head {
  readonly version: number
  readonly mine: number
  readonly yours: number
  readonly ack: number
}

export interface Frame extends Head {
  readonly kind: Kind
  /** Of a data frame, from 1; 0 for others. */
  readonly number: number
  readonly body: Uint8Array
}

export interface BadFrame {
  readonly kind: 'bad'
  readonly why: string
}

/** Writes the head into bytes whose body is there, or will be. */
export function writeHead(into: Uint8Array, kind: Kind, head: Head, number: number): void {
  into[0] = magic
  into[1] = head.version
  into[2] = kinds.indexOf(kind)
  into[3] = 0
  writeWord(into, 4, head.mine)
  writeWord(into, 8, head.yours)
  writeNumber(into, 12, head.ack)
  writeNumber(into, 18, number)
}

/** An ack with the ranges that arrived beyond it: first and last number of each, ascending. */
export function ackFrame(head: Head, ranges: readonly (readonly [first: number, last: number])[]): Uint8Array {
  const told = ranges.slice(0, mostRanges)
  const bytes = new Uint8Array(headSize + 12 * told.length)
  writeHead(bytes, 'ack', head, 0)
  for (const [i, [first, last]] of told.entries()) {
    writeNumber(bytes, headSize + 12 * i, first)
    writeNumber(bytes, headSize + 12 * i + 6, last)
  }
  return bytes
}

export function resetFrame(head: Head): Uint8Array {
  const bytes = new Uint8Array(headSize)
  writeHead(bytes, 'reset', head, 0)
  return bytes
}

export function readFrame(bytes: Uint8Array, versions: Versions): Frame | BadFrame {
  if (bytes.length < headSize) return bad(`${bytes.length} bytes are not a frame`)
  if (bytes[0] !== magic) return bad('it is not a frame of Troupe')
  const version = bytes[1]!
  if (version < versions.oldest || version > versions.newest) return bad(`version ${version} is not spoken here`)
  const kind = kinds[bytes[2]!]
  if (kind === undefined || kind === '') return bad(`there is no kind ${bytes[2]} of frame`)
  if (bytes[3] !== 0) return bad('a byte that must be zero is not')
  const mine = readWord(bytes, 4)
  if (mine === 0) return bad('it belongs to no connection')
  const number = readNumber(bytes, 18)
  const ack = readNumber(bytes, 12)
  const body = bytes.subarray(headSize)
  const wrong = kind === 'data' ? wrongData(number, body) : kind === 'ack' ? wrongAck(number, ack, body) : wrongReset(number, body)
  return wrong === undefined ? { version, kind, mine, yours: readWord(bytes, 8), ack, number, body } : bad(wrong)
}

/** The receiver's number in a frame that this side has written. */
export function yoursIn(bytes: Uint8Array): number {
  return readWord(bytes, 8)
}

/** The number of a data frame that this side has written. */
export function numberIn(bytes: Uint8Array): number {
  return readNumber(bytes, 18)
}

/** The ranges of an ack in which nothing is wrong. */
export function rangesIn(body: Uint8Array): [first: number, last: number][] {
  const ranges: [number, number][] = []
  for (let at = 0; at < body.length; at += 12) ranges.push([readNumber(body, at), readNumber(body, at + 6)])
  return ranges
}

function bad(why: string): BadFrame {
  return { kind: 'bad', why }
}

function wrongData(number: number, body: Uint8Array): string | undefined {
  if (number === 0) return 'a data frame has a number'
  return body.length === 0 ? 'a data frame has records' : wrongIn(body)
}

function wrongAck(number: number, ack: number, body: Uint8Array): string | undefined {
  if (number !== 0) return 'an ack has no number'
  if (body.length % 12 !== 0 || body.length > 12 * mostRanges) return `an ack with ${body.length} bytes of ranges`
  let before = ack
  for (let at = 0; at < body.length; at += 12) {
    const first = readNumber(body, at)
    const last = readNumber(body, at + 6)
    // What follows a range, or the ack, without a gap would be part of it.
    if (first <= before + 1 || last < first) return 'ranges that do not ascend'
    before = last
  }
  return undefined
}

function wrongReset(number: number, body: Uint8Array): string | undefined {
  return number === 0 && body.length === 0 ? undefined : 'a reset is a head alone'
}

function writeWord(into: Uint8Array, at: number, value: number): void {
  for (let i = 0; i < 4; i++) into[at + i] = (value >>> (8 * i)) & 0xff
}

function readWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}
