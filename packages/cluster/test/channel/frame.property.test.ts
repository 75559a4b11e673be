// Frames and records: what is written is read as it was; whatever else the bytes are, they are refused, and nothing is made of them.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ackFrame, type Frame, headSize, mostRanges, rangesIn, readFrame, resetFrame, writeHead } from '../../src/channel/frame.ts'
import { type ChannelRecord, recordsIn, sizeOf, writeRecord, wrongIn } from '../../src/channel/record.ts'

const versions = { oldest: 1, newest: 2 }
const number = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const word = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const head = fc.record({
  version: fc.integer({ min: 1, max: 2 }),
  mine: word.map((n) => n || 1),
  yours: word,
  ack: fc.integer({ min: 0, max: 2 ** 40 }),
})
const record: fc.Arbitrary<ChannelRecord> = fc.oneof(
  fc.record({ kind: fc.constant('payload' as const), bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }) }),
  fc.record({ kind: fc.constant('marker' as const), cut: number }),
  fc.record({
    kind: fc.constant('outcomes' as const),
    outcomes: fc.record({ handled: number, failed: number, unhandled: number, dropped: number, dead: number }),
  }),
  fc.constant({ kind: 'bye' as const }),
)

function dataFrame(h: { version: number; mine: number; yours: number; ack: number }, n: number, records: readonly ChannelRecord[]): Uint8Array {
  const bytes = new Uint8Array(records.reduce((sum, r) => sum + sizeOf(r), headSize))
  let at = headSize
  for (const r of records) at = writeRecord(r, bytes, at)
  expect(at).toBe(bytes.length)
  writeHead(bytes, 'data', h, n)
  return bytes
}

test('a data frame is read as it was written', () => {
  fc.assert(
    fc.property(head, fc.integer({ min: 1, max: 2 ** 48 - 1 }), fc.array(record, { minLength: 1, maxLength: 20 }), (h, n, records) => {
      const frame = readFrame(dataFrame(h, n, records), versions) as Frame
      expect(frame).toMatchObject({ ...h, kind: 'data', number: n })
      expect([...recordsIn(frame.body)]).toEqual(records)
    }),
  )
})

test('lengths are written in as many bytes as they need', () => {
  for (const length of [1, 127, 128, 16_383, 16_384, 300_000]) {
    const r: ChannelRecord = { kind: 'payload', bytes: new Uint8Array(length).fill(7) }
    const frame = readFrame(dataFrame({ version: 1, mine: 1, yours: 0, ack: 0 }, 1, [r, { kind: 'bye' }]), versions) as Frame
    expect([...recordsIn(frame.body)]).toEqual([r, { kind: 'bye' }])
  }
})

test('acks and resets are read as they were written', () => {
  const gaps = fc.array(fc.tuple(fc.integer({ min: 2, max: 1_000 }), fc.integer({ min: 0, max: 1_000 })), { maxLength: mostRanges + 5 })
  fc.assert(
    fc.property(head, gaps, (h, steps) => {
      const ranges: [number, number][] = []
      let at = h.ack
      for (const [gap, length] of steps) {
        ranges.push([at + gap, at + gap + length])
        at += gap + length
      }
      const frame = readFrame(ackFrame(h, ranges), versions) as Frame
      expect(frame).toMatchObject({ ...h, kind: 'ack', number: 0 })
      expect(rangesIn(frame.body)).toEqual(ranges.slice(0, mostRanges))
      expect(readFrame(resetFrame(h), versions)).toMatchObject({ ...h, kind: 'reset' })
    }),
  )
})

test('of versions n-1 and n each is read, others are refused by their number', () => {
  for (const [version, read] of [
    [0, false],
    [1, true],
    [2, true],
    [3, false],
    [255, false],
  ] as const) {
    const frame = readFrame(resetFrame({ version, mine: 1, yours: 1, ack: 0 }), versions)
    if (read) expect(frame).toMatchObject({ kind: 'reset', version })
    else expect(frame).toEqual({ kind: 'bad', why: `version ${version} is not spoken here` })
  }
})

test('bytes that nobody wrote are refused, or read as a frame that is written with the same bytes', () => {
  const valid = fc.tuple(head, fc.integer({ min: 1, max: 1_000 }), fc.array(record, { minLength: 1, maxLength: 5 })).map((p) => dataFrame(...p))
  const changed = fc
    .tuple(
      fc.oneof(
        valid,
        head.map((h) => ackFrame(h, [[h.ack + 2, h.ack + 3]])),
      ),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
      fc.nat(),
    )
    .map(([bytes, changes, cut]) => {
      const copy = bytes.slice(0, cut % 3 === 0 ? cut % (bytes.length + 1) : bytes.length)
      for (const [at, value] of changes) if (copy.length > 0) copy[at % copy.length] = value
      return copy
    })
  let read = 0
  let refused = 0
  fc.assert(
    fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      const before = bytes.slice()
      const frame = readFrame(bytes, versions)
      expect(bytes).toEqual(before)
      if (frame.kind === 'bad') {
        refused++
        expect(frame.why).not.toBe('')
        return
      }
      read++
      const again =
        frame.kind === 'data'
          ? dataFrame(frame, frame.number, [...recordsIn(frame.body)])
          : frame.kind === 'ack'
            ? ackFrame(frame, rangesIn(frame.body))
            : resetFrame(frame)
      expect(again).toEqual(bytes)
    }),
    { numRuns: 5_000 },
  )
  expect(read).toBeGreaterThan(100)
  expect(refused).toBeGreaterThan(100)
})

test.each([
  ['an unknown kind', [9, 0]],
  ['a payload without bytes', [1, 0]],
  ['a marker that is too short', [3, 5, 0, 0, 0, 0, 0]],
  ['a bye with something in it', [4, 1, 0]],
  ['outcomes that are too long', [2, 31, ...Array.from({ length: 31 }, () => 0)]],
  ['a record longer than its frame', [1, 5, 1]],
  ['a length that does not end', [1, 0x80]],
  ['a length of five bytes', [1, 0x80, 0x80, 0x80, 0x80, 1]],
  ['a length written longer than it need be', [1, 0x81, 0, 7]],
  ['a good record before a bad one', [4, 0, 9, 0]],
])('a body with %s is refused', (_what, body) => {
  expect(wrongIn(Uint8Array.from(body))).toBeTypeOf('string')
})

test('numbers that do not fit are not written', () => {
  const bytes = new Uint8Array(64)
  for (const cut of [-1, 2 ** 48, 1.5, Number.NaN]) expect(() => writeRecord({ kind: 'marker', cut }, bytes, 0)).toThrow(RangeError)
})
