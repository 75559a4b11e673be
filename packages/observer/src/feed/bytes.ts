// Numbers as few bytes: seven bits in each, the smallest first. Also beyond 32 bits, for uids of threads are.

export class ByteWriter {
  #bytes = new Uint8Array(256)
  #size = 0

  byte(value: number): void {
    if (this.#size === this.#bytes.length) this.#room(1)
    this.#bytes[this.#size++] = value
  }
  /** A whole number from 0 to 2^53 - 1. */
  whole(value: number): void {
    let rest = value
    while (rest >= 128) {
      this.byte((rest % 128) | 128)
      rest = Math.floor(rest / 128)
    }
    this.byte(rest)
  }
  /** Whole numbers that only rise, as what lies between them. */
  rising(values: readonly number[]): void {
    this.whole(values.length)
    let last = 0
    for (const value of values) {
      this.whole(value - last)
      last = value
    }
  }
  bytes(values: Uint8Array): void {
    this.#room(values.length)
    this.#bytes.set(values, this.#size)
    this.#size += values.length
  }
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#size)
  }

  #room(more: number): void {
    const wanted = this.#size + more
    if (wanted <= this.#bytes.length) return
    const wider = new Uint8Array(Math.max(wanted, this.#bytes.length * 2))
    wider.set(this.#bytes)
    this.#bytes = wider
  }
}

/** Bytes that are not what they should be. */
export class BadFrame extends Error {
  override readonly name = 'BadFrame'
}

export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  byte(): number {
    const value = this.#bytes[this.#at++]
    if (value === undefined) throw new BadFrame('It ends too early.')
    return value
  }
  whole(): number {
    let value = 0
    let scale = 1
    for (let i = 0; i < 8; i++) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) {
        if (!Number.isSafeInteger(value)) break
        return value
      }
      scale *= 128
    }
    throw new BadFrame('A number is too long.')
  }
  rising(): number[] {
    const length = this.whole()
    // Each takes a byte at least: whoever claims more than there is shall not have the room for it.
    if (length > this.left) throw new BadFrame('It claims more numbers than it has.')
    const values: number[] = []
    let last = 0
    for (let i = 0; i < length; i++) values.push((last += this.whole()))
    return values
  }
  bytes(length: number): Uint8Array {
    if (length > this.left) throw new BadFrame('It ends too early.')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
  get left(): number {
    return this.#bytes.length - this.#at
  }
}
