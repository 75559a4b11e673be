// Turns bytes back into values. The counterpart of the writer: it learns shapes and words as they are defined, in the order in
// which they were written. It is total: whatever the bytes are, it returns a value or throws `BadRecord`; it believes no length
// that the bytes do not back, and never recurses deeper than `deepest`. What is rare, or nested deep, is in build.

import { BadRecord } from '../errors.ts'
import { build } from './build.ts'
import { ShapeReader } from './shape-reader.ts'
import { deepest, inlineIntegers, longestKeys, longestWord, mostKeys, mostShapes, prologue, tag, wordTable } from './tags.ts'

/** Reads what only the threads know about. */
export interface RefReader {
  readRef(reader: Reader): unknown
  /** What the value has beside its bytes. */
  readFreight(): readonly unknown[]
}

export class Reader {
  buffer: Buffer = Buffer.alloc(0)
  #view: DataView = new DataView(new ArrayBuffer(0))
  position = 0
  /** Where the bytes end; the buffer may go on. */
  end = 0
  depth = 0
  /** Objects of the present value in order of their beginning, if some are referred to again. */
  made: unknown[] | undefined = undefined
  #leaves: readonly unknown[] = none
  readonly #refs: RefReader
  readonly #shapes: ShapeReader[] = []
  readonly #words: (string | undefined)[] = new Array<string | undefined>(wordTable).fill(undefined)

  constructor(refs: RefReader) {
    this.#refs = refs
  }

  begin(buffer: Buffer, end: number = buffer.length): void {
    if (this.buffer !== buffer) {
      this.buffer = buffer
      this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
    }
    this.position = 0
    this.end = end
  }
  /** Reads other bytes in between. */
  within<T>(buffer: Buffer, read: () => T): T {
    const { buffer: outer, position, end } = this
    this.begin(buffer)
    try {
      return read()
    } finally {
      this.begin(outer, end)
      this.position = position
    }
  }

  bad(what: string): BadRecord {
    return new BadRecord(`at byte ${this.position} of ${this.end} is ${what}`)
  }

  // Bytes.

  byte(): number {
    if (this.position >= this.end) throw this.bad('the end, where more had to come')
    return this.buffer[this.position++]!
  }
  whole(): number {
    const first = this.byte()
    return first < 128 ? first : this.#larger(first & 127)
  }
  #larger(lowest: number): number {
    let value = lowest
    let scale = 128
    for (;;) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) break
      scale *= 128
      if (scale > 2 ** 49) throw this.bad('a number is too long')
    }
    if (value > Number.MAX_SAFE_INTEGER) throw this.bad('a number is too large')
    return value
  }
  double(): number {
    if (this.position + 8 > this.end) throw this.bad('half a number')
    const value = this.#view.getFloat64(this.position)
    this.position += 8
    return value
  }
  /** A number of things that take so many bytes each, or more. */
  count(each: number): number {
    const count = this.whole()
    if (count * each > this.end - this.position) throw this.bad(`a length of ${count}, which is more than there is`)
    return count
  }
  text(): string {
    const given = this.whole()
    const length = Math.floor(given / 2)
    const start = this.skip(length)
    if (given % 2 === 0) return this.buffer.toString('utf8', start, start + length)
    if (length % 2 !== 0) throw this.bad('half a character')
    return this.buffer.toString('utf16le', start, start + length)
  }
  /** Goes over so many bytes; returns where they begin. */
  skip(length: number): number {
    const start = this.position
    if (length > this.end - start) throw this.bad(`a length of ${length}, which is more than there is`)
    this.position = start + length
    return start
  }

  // Values.

  /** A whole value. */
  value(): unknown {
    this.depth = 0
    const at = this.position
    if (at < this.end && this.buffer[at] === tag.prologue) return this.#withPrologue()
    return this.item()
  }
  #withPrologue(): unknown {
    this.position++
    const flags = this.byte()
    if (flags === 0 || flags > (prologue.graph | prologue.freight)) throw this.bad('an unknown prologue')
    this.depth = 0
    try {
      if ((flags & prologue.freight) !== 0) this.#leaves = this.#refs.readFreight()
      if ((flags & prologue.graph) !== 0) this.made = []
      return this.item()
    } finally {
      this.#leaves = none
      this.made = undefined
    }
  }

  /** A value, or a part of one. */
  item(): unknown {
    const at = this.position
    if (at >= this.end) throw this.bad('the end, where more had to come')
    const first = this.buffer[at]!
    this.position = at + 1
    if (first >= tag.firstInteger) return first - inlineIntegers
    if (first >= tag.firstShape) {
      const code = this.made === undefined && this.depth < deepest ? this.#shapes[first - tag.firstShape]?.code : undefined
      if (code === undefined) return this.#shaped(first, first - tag.firstShape)
      this.depth++
      const value = code(this)
      this.depth--
      return value
    }
    switch (first) {
      case tag.word:
        return this.#word(this.whole())
      case tag.positive:
        return this.whole()
      case tag.negative:
        return -1 - this.whole()
      case tag.double:
        return this.double()
      case tag.utf8:
        return this.text()
      case tag.true:
        return true
      case tag.false:
        return false
      case tag.null:
        return null
      case tag.undefined:
        return undefined
      case tag.wordDefined:
        return this.#defineWord()
      case tag.array:
        return this.made === undefined && this.depth < deepest ? this.#array() : build(this, first)
      case tag.bigint:
        return this.#bigint()
      case tag.ref:
        return this.#refs.readRef(this)
      case tag.prologue:
        throw this.bad('a prologue inside of a value')
      default:
        return build(this, first)
    }
  }

  #word(index: number): string {
    const word = this.#words[index]
    if (word === undefined) throw this.bad('a word that was never defined')
    return word
  }
  #defineWord(): string {
    const index = this.whole()
    const length = this.byte()
    if (index >= wordTable || length > longestWord) throw this.bad('a word that cannot be defined')
    const start = this.skip(length)
    return (this.#words[index] = this.buffer.toString('latin1', start, start + length))
  }
  #bigint(): bigint {
    const sign = this.byte()
    const digits = this.text()
    if (sign > 1 || !/^[\da-f]+$/.test(digits)) throw this.bad('no whole number')
    const value = BigInt(`0x${digits}`)
    return sign === 1 ? -value : value
  }

  #shaped(first: number, id: number): unknown {
    if (this.made !== undefined || this.depth >= deepest) return build(this, first)
    const shape = this.shape(id)
    this.depth++
    const value = shape.read(this)
    this.depth--
    return value
  }
  shape(id: number): ShapeReader {
    const shape = this.#shapes[id]
    if (shape === undefined) throw this.bad('a shape that was never defined')
    return shape
  }
  defineShape(): ShapeReader {
    if (this.#shapes.length >= mostShapes) throw this.bad('too many shapes')
    const keys = this.keys()
    if (keys.length > mostKeys || keys.reduce((sum, key) => sum + key.length, 0) > longestKeys) throw this.bad('a shape that is too large')
    const shape = new ShapeReader(keys)
    this.#shapes.push(shape)
    return shape
  }
  keys(): string[] {
    const count = this.count(1)
    const keys: string[] = []
    for (let i = 0; i < count; i++) keys.push(this.text())
    return keys
  }
  leaf(): unknown {
    const index = this.whole()
    if (index >= this.#leaves.length) throw this.bad('something that did not come')
    return this.#leaves[index]
  }

  #array(): unknown[] {
    const length = this.count(1)
    const array: unknown[] = []
    this.depth++
    for (let i = 0; i < length; i++) array.push(this.item())
    this.depth--
    return array
  }
}

const none: readonly unknown[] = []
