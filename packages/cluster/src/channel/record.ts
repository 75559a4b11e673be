// What a channel carries, in order: a closed list. A record of another kind, or of another length than its kind has, makes its frame a
// bad one. Each is a kind, the length of the rest as a varint, and the rest.

/** What became of messages that the other side received from us since the session began. */
export interface Outcomes {
  readonly handled: number
  readonly failed: number
  readonly unhandled: number
  readonly dropped: number
  readonly dead: number
}

export type ChannelRecord =
  /** Bytes of the layer above, which are its own to check. */
  | { readonly kind: 'payload'; readonly bytes: Uint8Array }
  | { readonly kind: 'outcomes'; readonly outcomes: Outcomes }
  /** Divides what was sent before a count of the whole cluster from what was sent after it. */
  | { readonly kind: 'marker'; readonly cut: number }
  /** Nothing follows. */
  | { readonly kind: 'bye' }

const codes = { payload: 1, outcomes: 2, marker: 3, bye: 4 } as const
/** The greatest number that is written in six bytes. */
const greatest = 2 ** 48 - 1
/** The greatest length that a varint of four bytes holds. */
const longest = 2 ** 28 - 1

/** What a payload takes in a frame beside its bytes, at most. */
export const payloadOverhead = 5

/** How many bytes a record takes in a frame. */
export function sizeOf(record: ChannelRecord): number {
  const length = restOf(record)
  return 1 + varintSize(length) + length
}

function restOf(record: ChannelRecord): number {
  switch (record.kind) {
    case 'payload':
      return record.bytes.length
    case 'outcomes':
      return 30
    case 'marker':
      return 6
    case 'bye':
      return 0
  }
}

/** Writes a record, and returns where the next one goes. */
export function writeRecord(record: ChannelRecord, into: Uint8Array, at: number): number {
  into[at] = codes[record.kind]
  const start = writeVarint(into, at + 1, restOf(record))
  switch (record.kind) {
    case 'payload':
      into.set(record.bytes, start)
      return start + record.bytes.length
    case 'outcomes': {
      const { handled, failed, unhandled, dropped, dead } = record.outcomes
      for (const [i, count] of [handled, failed, unhandled, dropped, dead].entries()) writeNumber(into, start + 6 * i, count)
      return start + 30
    }
    case 'marker':
      writeNumber(into, start, record.cut)
      return start + 6
    case 'bye':
      return start
  }
}

/** What is wrong with the records of a frame; undefined where nothing is. Makes nothing. */
export function wrongIn(body: Uint8Array): string | undefined {
  let at = 0
  while (at < body.length) {
    const code = body[at]!
    const start = varintEnd(body, at + 1)
    if (start === undefined) return 'a length that does not end'
    const length = readVarint(body, at + 1)
    if (length > body.length - start) return 'a record that is longer than its frame'
    if (!fits(code, length)) return `a record of kind ${code} with ${length} bytes`
    at = start + length
  }
  return undefined
}

function fits(code: number, length: number): boolean {
  switch (code) {
    case codes.payload:
      return length > 0
    case codes.outcomes:
      return length === 30
    case codes.marker:
      return length === 6
    case codes.bye:
      return length === 0
    default:
      return false
  }
}

/** The records of a body in which nothing is wrong. Payloads are views of it. */
export function* recordsIn(body: Uint8Array): Generator<ChannelRecord, void, void> {
  let at = 0
  while (at < body.length) {
    const code = body[at]!
    const start = varintEnd(body, at + 1)!
    const end = start + readVarint(body, at + 1)
    at = end
    if (code === codes.payload) yield { kind: 'payload', bytes: body.subarray(start, end) }
    else if (code === codes.marker) yield { kind: 'marker', cut: readNumber(body, start) }
    else if (code === codes.bye) yield { kind: 'bye' }
    else yield { kind: 'outcomes', outcomes: readOutcomes(body, start) }
  }
}

function readOutcomes(body: Uint8Array, at: number): Outcomes {
  const [handled, failed, unhandled, dropped, dead] = [0, 6, 12, 18, 24].map((offset) => readNumber(body, at + offset))
  return { handled: handled!, failed: failed!, unhandled: unhandled!, dropped: dropped!, dead: dead! }
}

/** Six bytes, the lowest first. */
export function writeNumber(into: Uint8Array, at: number, value: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value <= greatest)) throw new RangeError(`${value} does not fit into six bytes`)
  let rest = value
  for (let i = 0; i < 6; i++) {
    into[at + i] = rest % 256
    rest = Math.floor(rest / 256)
  }
}

export function readNumber(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let i = 5; i >= 0; i--) value = value * 256 + bytes[at + i]!
  return value
}

function varintSize(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : 4
}

function writeVarint(into: Uint8Array, at: number, value: number): number {
  if (value > longest) throw new RangeError(`A record of ${value} bytes is too long`)
  let rest = value
  let next = at
  while (rest >= 0x80) {
    into[next++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  into[next++] = rest
  return next
}

/** Where a varint of at most four bytes ends; undefined where it does not, or is written longer than it need be. */
function varintEnd(bytes: Uint8Array, at: number): number | undefined {
  for (let i = at; i < at + 4 && i < bytes.length; i++) {
    if (bytes[i]! >= 0x80) continue
    return i > at && bytes[i] === 0 ? undefined : i + 1
  }
  return undefined
}

function readVarint(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let i = 0; ; i++) {
    const byte = bytes[at + i]!
    value |= (byte & 0x7f) << (7 * i)
    if (byte < 0x80) return value
  }
}
