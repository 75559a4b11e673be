// A stream of bytes from one thread to one other, in shared memory. One writer, one reader, no lock: each side moves
// its own position only, and only after the bytes are in place.
//
//   header │ written │ read │ writer waits │ …        positions count bytes and wrap at 2³²; the size is a power of two
//   data   │ length (4 bytes, top bit: more follows) │ bytes … │ length │ bytes …

import type { ByteStream } from '@troupe/border'

const written = 0
const read = 1
const waits = 2
const headerBytes = 32
const lengthBytes = 4
const moreFollows = 0x8000_0000

export function makeRing(size: number): SharedArrayBuffer {
  return new SharedArrayBuffer(headerBytes + size)
}

export class ByteRing implements ByteStream {
  readonly #header: Int32Array
  readonly #data: Uint8Array
  readonly #mask: number
  readonly size: number
  /** What came of a frame whose rest is still to come. */
  #parts: Buffer[] = []
  #into: Buffer
  frameLength = 0

  constructor(memory: SharedArrayBuffer) {
    this.#header = new Int32Array(memory, 0, headerBytes / 4)
    this.#data = new Uint8Array(memory, headerBytes)
    this.size = this.#data.length
    this.#mask = this.size - 1
    this.#into = Buffer.allocUnsafeSlow(4096)
  }

  get used(): number {
    return (Atomics.load(this.#header, written) - Atomics.load(this.#header, read)) >>> 0
  }

  write(frame: Uint8Array, from: number, to: number): number {
    const free = this.size - this.used
    const length = to - from
    const fits = Math.min(length, free - lengthBytes)
    // Small pieces of a large frame are not worth a wake.
    if (fits <= 0 || (fits < length && fits < this.size / 4)) return 0
    const at = Atomics.load(this.#header, written)
    this.#putLength(at, fits === length ? length : (fits | moreFollows) >>> 0)
    this.#put(frame, from, from + fits, at + lengthBytes)
    Atomics.store(this.#header, written, (at + lengthBytes + fits) | 0)
    return fits
  }

  next(): Buffer | undefined {
    for (;;) {
      if (this.used === 0) return undefined
      const at = Atomics.load(this.#header, read)
      const given = this.#takeLength(at)
      const length = given & ~moreFollows
      const partial = given >= moreFollows
      const whole = partial || this.#parts.length > 0
      const into = whole ? Buffer.allocUnsafe(length) : this.#room(length)
      this.#take(into, length, at + lengthBytes)
      Atomics.store(this.#header, read, (at + lengthBytes + length) | 0)
      if (!whole) {
        this.frameLength = length
        return into
      }
      this.#parts.push(into)
      if (partial) continue
      const frame = Buffer.concat(this.#parts)
      this.frameLength = frame.length
      this.#parts = []
      return frame
    }
  }

  waitForRoom(): void {
    Atomics.store(this.#header, waits, 1)
  }
  takeWait(): boolean {
    return Atomics.load(this.#header, waits) === 1 && Atomics.exchange(this.#header, waits, 0) === 1
  }

  #room(length: number): Buffer {
    if (this.#into.length < length) this.#into = Buffer.allocUnsafeSlow(Math.min(this.size, Math.max(length, this.#into.length * 2)))
    return this.#into
  }
  #put(bytes: Uint8Array, from: number, to: number, position: number): void {
    const at = position & this.#mask
    const head = Math.min(to - from, this.size - at)
    this.#data.set(bytes.subarray(from, from + head), at)
    if (head < to - from) this.#data.set(bytes.subarray(from + head, to), 0)
  }
  #take(into: Uint8Array, length: number, position: number): void {
    const at = position & this.#mask
    const head = Math.min(length, this.size - at)
    into.set(this.#data.subarray(at, at + head))
    if (head < length) into.set(this.#data.subarray(0, length - head), head)
  }
  #putLength(position: number, length: number): void {
    for (let i = 0; i < lengthBytes; i++) this.#data[(position + i) & this.#mask] = (length >>> (i * 8)) & 255
  }
  #takeLength(position: number): number {
    let length = 0
    for (let i = 0; i < lengthBytes; i++) length |= this.#data[(position + i) & this.#mask]! << (i * 8)
    return length >>> 0
  }
}
