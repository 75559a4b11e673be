// What holds for every stream of bytes between threads, in shared memory and by ports.

import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ByteStream } from '@troupe/border'
import { PortStream } from './port-stream.ts'
import { ByteRing, makeRing } from './ring.ts'

type Ends = readonly [writer: ByteStream, reader: ByteStream]

function inSharedMemory(size: number): Ends {
  const memory = makeRing(size)
  return [new ByteRing(memory), new ByteRing(memory)]
}
function byPort(size: number): Ends {
  const { port1, port2 } = new MessageChannel()
  return [new PortStream(port1, size), new PortStream(port2, size)]
}

/** What comes of all that can be read now. */
function readAll(reader: ByteStream): number[] {
  const seen: number[] = []
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) seen.push(...frame.subarray(0, reader.frameLength))
  return seen
}

/** Writes frames of so many bytes until the next does not fit; returns how many went. */
function fill(writer: ByteStream, length: number): number {
  const frame = new Uint8Array(length)
  let written = 0
  while (writer.write(frame, 0, length) === length) written++
  return written
}

describe.each([
  ['in shared memory', inSharedMemory],
  ['by port', byPort],
])('a stream %s', (_where, make) => {
  test('any sequence of frames, read and written in any turns, comes out in order and whole', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 700 }), fc.integer({ min: 0, max: 3 })), { maxLength: 60 }), (steps) => {
        const [writer, reader] = make(256)
        const expected: number[] = []
        const seen: number[] = []
        const read = (): void => {
          seen.push(...readAll(reader))
          reader.takeWait()
        }
        steps.forEach(([length, reads], i) => {
          const frame = new Uint8Array(length).fill(i % 251)
          expected.push(...frame)
          for (let from = 0; from < length;) {
            const went = writer.write(frame, from, length)
            if (went === 0) writer.waitForRoom()
            from += went
            if (from < length || reads === 0) read()
          }
          for (let k = 0; k < reads; k++) read()
        })
        read()
        expect(seen).toEqual(expected)
        expect(reader.used).toBe(0)
      }),
      { numRuns: 200 },
    )
  })

  test('frames are told apart', () => {
    const [writer, reader] = make(1024)
    for (const length of [3, 1, 7]) writer.write(new Uint8Array(length), 0, length)
    const lengths: number[] = []
    while (reader.next() !== undefined) lengths.push(reader.frameLength)
    expect(lengths).toEqual([3, 1, 7])
  })

  test('no more is under way than its size, however small the frames, and the reader sees how much', () => {
    const [writer, reader] = make(1024)
    expect(fill(writer, 1)).toBeGreaterThan(4)
    expect(writer.used).toBeLessThanOrEqual(1024)
    expect(reader.used).toBe(writer.used)
  })

  test('a writer that waits for room is told once, when there is some', () => {
    const [writer, reader] = make(1024)
    fill(writer, 100)
    expect(reader.takeWait()).toBe(false)
    writer.waitForRoom()
    expect(writer.write(new Uint8Array(100), 0, 100)).toBe(0)
    reader.next()
    expect(reader.takeWait()).toBe(true)
    expect(reader.takeWait()).toBe(false)
    expect(writer.write(new Uint8Array(100), 0, 100)).toBe(100)
  })

  test('a writer waits again after it was told, and is told again', () => {
    const [writer, reader] = make(1024)
    for (let round = 0; round < 20; round++) {
      fill(writer, 100)
      writer.waitForRoom()
      reader.next()
      expect(reader.takeWait()).toBe(true)
    }
  })

  test('a frame larger than the stream goes in parts and comes whole', () => {
    const [writer, reader] = make(1024)
    const frame = Uint8Array.from({ length: 5000 }, (_, i) => i % 256)
    const came: number[] = []
    let frames = 0
    for (let from = 0; from < frame.length;) {
      from += writer.write(frame, from, frame.length)
      writer.waitForRoom()
      for (let next = reader.next(); next !== undefined; next = reader.next()) {
        frames++
        came.push(...next.subarray(0, reader.frameLength))
      }
      reader.takeWait()
    }
    expect(frames).toBe(1)
    expect(came).toEqual([...frame])
  })
})

test('by port: what was posted is still read when the writer is gone', async () => {
  const { port1, port2 } = new MessageChannel()
  const writer = new PortStream(port1, 1024)
  const reader = new PortStream(port2, 1024)
  reader.listen(() => {})
  writer.write(new Uint8Array([1, 2]), 0, 2)
  writer.write(new Uint8Array([3]), 0, 1)
  const closed = new Promise((resolve) => port2.on('close', resolve))
  writer.close()
  await closed
  expect(readAll(reader)).toEqual([1, 2, 3])
  expect(reader.takeWait()).toBe(false)
})
