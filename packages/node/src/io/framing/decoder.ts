// What every framing is: a decoder that is fed chunks and gives back the frames they complete, holding no more than
// its bound. No I/O, no clock: the same bytes, however cut, give the same frames.

import { isUint8Array } from 'node:util/types'
import { InvalidOption, TroupeError } from '@troupe/core'

/** Cuts a stream of bytes into frames. */
export interface Decoder<F> {
  /** The frames that this chunk completes, in order. Throws `FrameError` on what breaks the framing or its bounds. */
  push(chunk: Uint8Array): F[]
  /** Bytes held for a frame that is not complete yet. */
  readonly held: number
}

/** The bytes are not a valid frame, or larger than allowed; a stream cannot go on after this. */
export class FrameError extends TroupeError {
  readonly code = 'frame-error'
  /** What is wrong, in few words; for RESP those of Redis. */
  readonly problem: string
  constructor(problem: string) {
    super(`Cannot read the frame: ${problem}. Close the connection: what follows cannot be told apart.`)
    this.problem = problem
  }
}

/** Bytes that wait for more. Doubles as it fills, so that a stream that drips byte by byte costs neither time nor memory. */
export class Held {
  bytes: Buffer = none
  length = 0
  add(chunk: Uint8Array, from: number): void {
    const needed = this.length + chunk.length - from
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(this.bytes.length * 2, needed * 2), 64))
      this.bytes.copy(grown, 0, 0, this.length)
      this.bytes = grown
    }
    this.bytes.set(from === 0 ? chunk : chunk.subarray(from), this.length)
    this.length = needed
  }
  /** All that is held, which from then on belongs to the caller. */
  take(): Buffer {
    const all = this.bytes.subarray(0, this.length)
    this.bytes = none
    this.length = 0
    return all
  }
}

const none: Buffer = Buffer.alloc(0)

/** Refuses what is not bytes. */
export function checkChunk(option: string, chunk: unknown): void {
  if (!isUint8Array(chunk)) throw new InvalidOption(option, chunk, 'use a Uint8Array')
}

/** The chunk as a Buffer over the same memory. */
export function asBuffer(chunk: Uint8Array): Buffer {
  checkChunk('chunk', chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
