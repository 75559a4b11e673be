// Frames come out of the ring as they went in, whatever their lengths and wherever they wrap.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteRing, makeRing } from './ring.ts'

test('any sequence of frames, read and written in any turns, comes out in order and whole', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 700 }), fc.integer({ min: 0, max: 3 })), { maxLength: 60 }), (steps) => {
      const memory = makeRing(256)
      const [writer, reader] = [new ByteRing(memory), new ByteRing(memory)]
      const expected: number[] = []
      const seen: number[] = []
      const read = (): void => {
        for (let frame = reader.next(); frame !== undefined; frame = reader.next())
          for (const byte of frame.subarray(0, reader.frameLength)) seen.push(byte)
      }
      steps.forEach(([length, reads], i) => {
        const frame = new Uint8Array(length).fill(i % 251)
        expected.push(...frame)
        for (let from = 0; from < length;) {
          from += writer.write(frame, from, length)
          if (from < length || reads === 0) read()
        }
        for (let k = 0; k < reads; k++) read()
      })
      read()
      expect(seen).toEqual(expected)
    }),
    { numRuns: 200 },
  )
})

test('the positions wrap at 2³²', () => {
  const memory = makeRing(64)
  // As after four gigabytes.
  new Int32Array(memory, 0, 2).fill(-5)
  const ring = new ByteRing(memory)
  for (let i = 0; i < 20; i++) {
    expect(ring.write(new Uint8Array([i, i, i]), 0, 3)).toBe(3)
    expect([...ring.next()!.subarray(0, ring.frameLength)]).toEqual([i, i, i])
  }
  expect(ring.used).toBe(0)
})

test('a writer that waits for room is told once', () => {
  const ring = new ByteRing(makeRing(64))
  expect(ring.write(new Uint8Array(60), 0, 60)).toBe(60)
  expect(ring.write(new Uint8Array(10), 0, 10)).toBe(0)
  ring.waitForRoom()
  ring.next()
  expect(ring.takeWait()).toBe(true)
  expect(ring.takeWait()).toBe(false)
  expect(ring.write(new Uint8Array(10), 0, 10)).toBe(10)
})
