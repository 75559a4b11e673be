// What the page reads is what was written, in whatever pieces it comes; and what nobody wrote is refused.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BadFrame, ByteReader, ByteWriter } from '../src/feed/bytes.ts'
import { CellField, type Cells, decodeCells, encodeCells } from '../src/feed/cells.ts'
import { encodeFrame, type FeedFrame, FrameReader } from '../src/feed/frames.ts'
import type { Hello, RoundNews } from '../src/feed/news.ts'

const uids = fc.uniqueArray(fc.maxSafeNat(), { maxLength: 60 }).map((list) => list.sort((a, b) => a - b))
const cells: fc.Arbitrary<Cells> = fc
  .tuple(fc.boolean(), uids, uids)
  .chain(([whole, gone, some]) =>
    fc.uint8Array({ minLength: some.length, maxLength: some.length, max: 3 }).map((state) => ({ whole, gone, uids: some, state })),
  )
const frame: fc.Arbitrary<FeedFrame> = fc.oneof(
  cells.map((value): FeedFrame => ({ kind: 'cells', cells: value })),
  fc
    .record({ system: fc.string({ unit: 'grapheme' }), pid: fc.nat() })
    .map((value): FeedFrame => ({ kind: 'hello', hello: value as unknown as Hello })),
  fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }).map((value): FeedFrame => ({
    kind: 'round',
    // JSON knows no -0 and no __proto__.
    round: JSON.parse(JSON.stringify(value)) as RoundNews,
  })),
  fc.string().map((reason): FeedFrame => ({ kind: 'end', reason })),
)

/** All of it in one piece, then cut where the numbers say. */
function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let at = 0
  for (const size of sizes) {
    pieces.push(bytes.slice(at, at + size))
    at += size
  }
  return [...pieces, bytes.slice(at)]
}
const joined = (all: readonly Uint8Array[]): Uint8Array => Uint8Array.from(all.flatMap((one) => [...one]))

test('whole numbers up to 2^53 come back, and rising ones too', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat()), uids, (numbers, list) => {
      const to = new ByteWriter()
      for (const n of numbers) to.whole(n)
      to.rising(list)
      const from = new ByteReader(to.written)
      expect(numbers.map(() => from.whole())).toEqual(numbers)
      expect(from.rising()).toEqual(list)
      expect(from.left).toBe(0)
    }),
  )
})

test('frames come back as they were, however the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 }), (frames, sizes) => {
      const reader = new FrameReader()
      const read = cut(joined(frames.map(encodeFrame)), sizes).flatMap((piece) => reader.take(piece))
      expect(read).toEqual(frames)
      expect(reader.waiting).toBe(0)
    }),
  )
})

test('a frame that is not whole is not told', () => {
  fc.assert(
    fc.property(frame, fc.nat(), (one, less) => {
      const bytes = encodeFrame(one)
      const kept = less % bytes.length
      const reader = new FrameReader()
      expect(reader.take(bytes.slice(0, kept))).toEqual([])
      expect(reader.waiting).toBe(kept)
    }),
  )
})

test('bytes that nobody wrote are refused with BadFrame, or wait for more; nothing else is thrown', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      try {
        new FrameReader().take(bytes)
        decodeCells(bytes)
      } catch (cause) {
        expect(cause).toBeInstanceOf(BadFrame)
      }
    }),
    { numRuns: 1000 },
  )
})

test('a frame that claims to be longer than any is refused before its content comes', () => {
  const head = new Uint8Array([0xff, 0xff, 0xff, 0x7f, 2])
  expect(() => new FrameReader().take(head)).toThrow(BadFrame)
})

test('a list that claims more than there is takes no room', () => {
  const to = new ByteWriter()
  to.byte(1)
  to.whole(2 ** 50)
  expect(() => decodeCells(to.written)).toThrow(BadFrame)
})

test('whoever takes all changes since a whole one knows what the whole one says then', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: -1, max: 3 })), { maxLength: 100 }),
      fc.nat(100),
      (steps, from) => {
        const real = new Map<number, number>()
        const field = new CellField()
        const whole = (): Cells => {
          const sorted = [...real.keys()].sort((a, b) => a - b)
          return { whole: true, gone: [], uids: sorted, state: Uint8Array.from(sorted, (uid) => real.get(uid)!) }
        }
        steps.forEach(([uid, state], i) => {
          if (i === from) field.take(decodeCells(encodeCells(whole())))
          if (state < 0) real.delete(uid)
          else real.set(uid, state)
          const change = {
            whole: false,
            gone: state < 0 ? [uid] : [],
            uids: state < 0 ? [] : [uid],
            state: Uint8Array.from(state < 0 ? [] : [state]),
          }
          if (i >= from) field.take(decodeCells(encodeCells(change)))
        })
        if (steps.length <= from) return
        const { uids: known, state } = field.sorted()
        expect(known).toEqual(whole().uids)
        expect(state).toEqual(whole().state)
      },
    ),
  )
})
