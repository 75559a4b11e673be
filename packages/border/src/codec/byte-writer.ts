// Bytes, numbers and texts, one after the other in a buffer that grows as needed.

import { inlineIntegers, tag } from './tags.ts'

/** Bytes that an empty buffer may keep. */
const mostKept: number = 1024 * 1024

export class ByteWriter {
  buffer: Buffer
  #view: DataView
  position = 0

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafeSlow(size)
    this.#view = new DataView(this.buffer.buffer)
  }

  /** All that was written has gone. */
  empty(): void {
    this.position = 0
    // One large record must not keep its memory for good.
    if (this.buffer.length > mostKept) {
      this.buffer = Buffer.allocUnsafeSlow(mostKept / 16)
      this.#view = new DataView(this.buffer.buffer)
    }
  }
  reserve(bytes: number): void {
    if (this.position + bytes > this.buffer.length) this.#grow(bytes)
  }
  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.position + bytes + 1024))
    larger.set(this.buffer.subarray(0, this.position))
    this.buffer = larger
    this.#view = new DataView(larger.buffer)
  }
  byte(value: number): void {
    this.reserve(1)
    this.buffer[this.position++] = value
  }
  /** A whole number from 0. */
  whole(value: number): void {
    this.reserve(10)
    if (value < 0x7fffffff) return this.small(value)
    const { buffer } = this
    let rest = value
    while (rest >= 128) {
      buffer[this.position++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    buffer[this.position++] = rest
  }
  double(value: number): void {
    this.reserve(8)
    this.#view.setFloat64(this.position, value)
    this.position += 8
  }
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.position)
    this.position += bytes.length
  }
  /** A string without a tag. */
  text(value: string): void {
    const wellFormed = (value as unknown as { isWellFormed(): boolean }).isWellFormed()
    const bytes = wellFormed ? Buffer.byteLength(value) : value.length * 2
    this.whole(wellFormed ? bytes * 2 : bytes * 2 + 1)
    this.reserve(bytes)
    this.buffer.write(value, this.position, wellFormed ? 'utf8' : 'utf16le')
    this.position += bytes
  }
  /** A whole number from 0 below 2³¹, where there is room. */
  small(value: number): void {
    const { buffer } = this
    let at = this.position
    let rest = value
    while (rest >= 128) {
      buffer[at++] = (rest & 127) | 128
      rest >>>= 7
    }
    buffer[at++] = rest
    this.position = at
  }
  /** A number with its tag. */
  number(value: number): void {
    this.reserve(12)
    const { buffer } = this
    const small = value | 0
    if (small === value && (small !== 0 || 1 / value > 0)) {
      if (small >= 0 && small < inlineIntegers) {
        buffer[this.position++] = tag.firstInteger + small
        return
      }
      buffer[this.position++] = small < 0 ? tag.negative : tag.positive
      this.small(small < 0 ? ~small : small)
    } else if (Number.isSafeInteger(value) && value !== 0) {
      buffer[this.position++] = value < 0 ? tag.negative : tag.positive
      this.whole(value < 0 ? -1 - value : value)
    } else {
      buffer[this.position++] = tag.double
      this.double(value)
    }
  }
}
