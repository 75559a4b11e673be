// Turns values into bytes, at the moment of sending, so that what the sender changes afterwards is its own affair.
// Objects of a known shape cost their values only: the keys went over once. What does not fit leaves no trace: the
// position and all that was defined on the way are taken back.

import { NotTransferable } from '../errors.ts'
import { makeNode, nodeAfter, type ShapeNode, shapeWriter } from './shapes.ts'
import { binaryKinds, deepest, inlineIntegers, inlineShapes, longestWord, mostKeys, mostShapes, tag, wordTable } from './tags.ts'
import { needsPort, safeString } from './trouble.ts'

/** Writes what only the threads know about: refs. False: it is none. */
export interface RefWriter {
  write(writer: Writer, value: object): boolean
}

export class Writer {
  buffer: Buffer
  #view: DataView
  position = 0
  readonly #refs: RefWriter
  readonly #root: ShapeNode = makeNode([])
  #shapes: ShapeNode[] = []
  readonly #words: (string | undefined)[] = new Array<string | undefined>(wordTable).fill(undefined)
  /** What the value in progress has defined, to be taken back if it fails. */
  #definedWords: number[] = []
  #regrets: (() => void)[] = []
  #depth = 0

  constructor(size: number, refs: RefWriter) {
    this.buffer = Buffer.allocUnsafeSlow(size)
    this.#view = new DataView(this.buffer.buffer)
    this.#refs = refs
  }

  /** Runs `write`; if it throws, position and definitions are as before. */
  attempt<T>(write: () => T): T {
    const { position } = this
    const shapes = this.#shapes.length
    const outer = this.#definedWords
    this.#definedWords = []
    const regrets = this.#regrets.length
    const depth = this.#depth
    try {
      return write()
    } catch (cause) {
      this.position = position
      this.#depth = depth
      for (const node of this.#shapes.splice(shapes)) node.id = -1
      for (const index of this.#definedWords) this.#words[index] = undefined
      for (const regret of this.#regrets.splice(regrets)) regret()
      throw cause
    } finally {
      for (const index of this.#definedWords) outer.push(index)
      this.#definedWords = outer
      if (outer.length > 4096) outer.length = 0
    }
  }

  /** Begins a value that may be taken back by `undo`; cheaper than `attempt`. */
  mark(): void {
    this.#depth = 0
    if (this.#definedWords.length > 0) this.#definedWords = []
    if (this.#regrets.length > 0) this.#regrets = []
  }
  /** What else to take back if the value in progress fails. */
  regret(undo: () => void): void {
    this.#regrets.push(undo)
  }
  get shapes(): number {
    return this.#shapes.length
  }
  undo(position: number, shapes: number): void {
    this.position = position
    for (const node of this.#shapes.splice(shapes)) node.id = -1
    for (const index of this.#definedWords) this.#words[index] = undefined
    this.#definedWords = []
    for (const regret of this.#regrets.splice(0)) regret()
    this.#depth = 0
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
    if (value < 0x7fffffff) return this.#small(value)
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

  value(value: unknown): void {
    switch (typeof value) {
      case 'string':
        return this.string(value)
      case 'number':
        return this.#number(value)
      case 'object':
        return value === null ? this.byte(tag.null) : this.#object(value)
      case 'boolean':
        return this.byte(value ? tag.true : tag.false)
      case 'undefined':
        return this.byte(tag.undefined)
      case 'bigint':
        this.byte(tag.bigint)
        return this.text(value.toString())
      default:
        if (typeof value === 'function' && this.#refs.write(this, value)) return
        throw new NotTransferable([], typeof value)
    }
  }

  #number(value: number): void {
    this.reserve(12)
    const { buffer } = this
    const small = value | 0
    if (small === value && (small !== 0 || 1 / value > 0)) {
      if (small >= 0 && small < inlineIntegers) {
        buffer[this.position++] = tag.firstInteger + small
        return
      }
      buffer[this.position++] = small < 0 ? tag.negative : tag.positive
      this.#small(small < 0 ? ~small : small)
    } else if (Number.isSafeInteger(value) && value !== 0) {
      buffer[this.position++] = value < 0 ? tag.negative : tag.positive
      this.whole(value < 0 ? -1 - value : value)
    } else {
      buffer[this.position++] = tag.double
      this.double(value)
    }
  }

  /** A whole number from 0 below 2³¹, where there is room. */
  #small(value: number): void {
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

  string(value: string): void {
    const { length } = value
    if (length > 0 && length <= longestWord) return this.#word(value)
    this.#long(value)
  }

  #word(value: string): void {
    const { length } = value
    const index = (length * 31 + value.charCodeAt(0) * 7 + value.charCodeAt(length - 1) * 13 + value.charCodeAt(length >> 1) * 3) % wordTable
    this.reserve(longestWord * 3 + 4)
    if (this.#words[index] === value) {
      this.buffer[this.position++] = tag.word
      return this.#small(index)
    }
    const start = this.position
    this.buffer[this.position++] = tag.wordDefined
    this.whole(index)
    this.buffer[this.position++] = length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > 127) {
        this.position = start
        return this.#long(value)
      }
      this.buffer[this.position++] = code
    }
    this.#words[index] = value
    this.#definedWords.push(index)
  }

  #long(value: string): void {
    this.byte(tag.utf8)
    this.text(value)
  }

  /** A string without a tag. */
  text(value: string): void {
    const bytes = Buffer.byteLength(value)
    this.whole(bytes)
    this.reserve(bytes)
    this.buffer.write(value, this.position, 'utf8')
    this.position += bytes
  }

  #object(value: object): void {
    const prototype: unknown = Object.getPrototypeOf(value)
    if (++this.#depth > deepest) throw needsPort
    if (prototype === Object.prototype) this.#record(value)
    else if (Array.isArray(value)) this.#array(value)
    else if (prototype === null) this.#record(value)
    else this.#special(value)
    this.#depth--
  }

  #record(value: object): void {
    let node = this.#root
    for (const key in value) node = node.nextKey === key ? node.nextNode! : nodeAfter(node, key)
    const { id } = node
    if (id >= 0) {
      if (id < inlineShapes) this.byte(tag.firstShape + id)
      else {
        this.byte(tag.shape)
        this.whole(id)
      }
      return node.write!(this, value as never)
    }
    if (this.#shapes.length >= mostShapes || node.keys.length > mostKeys) return this.#loose(value, node.keys)
    node.id = this.#shapes.length
    this.#shapes.push(node)
    this.byte(tag.shapeDefined)
    this.whole(node.keys.length)
    for (const key of node.keys) this.text(key)
    node.write ??= shapeWriter(node.keys)
    node.write(this, value as never)
  }

  #loose(value: object, keys: readonly string[]): void {
    this.byte(tag.object)
    this.whole(keys.length)
    for (const key of keys) {
      this.text(key)
      this.value((value as Record<string, unknown>)[key])
    }
  }

  #array(value: readonly unknown[]): void {
    this.byte(tag.array)
    this.whole(value.length)
    for (let i = 0; i < value.length; i++) {
      const item = value[i]
      if (item === undefined && !(i in value)) this.byte(tag.hole)
      else this.value(item)
    }
  }

  #special(value: object): void {
    if (this.#refs.write(this, value)) return
    if (value instanceof Error) return this.#error(value)
    if (value instanceof Map) {
      this.byte(tag.map)
      this.whole(value.size)
      for (const [key, item] of value) {
        this.value(key)
        this.value(item)
      }
    } else if (value instanceof Set) {
      this.byte(tag.set)
      this.whole(value.size)
      for (const item of value) this.value(item)
    } else if (value instanceof Date) {
      this.byte(tag.date)
      this.double(value.getTime())
    } else if (value instanceof RegExp) {
      this.byte(tag.regexp)
      this.text(value.source)
      this.text(value.flags)
    } else if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) this.#binary(value)
    else if (isOpaque(value)) throw needsPort
    else this.#loose(value, Object.keys(value))
  }

  #binary(value: ArrayBufferView | ArrayBuffer): void {
    const data = ArrayBuffer.isView(value) ? value : new Uint8Array(value)
    if (!(data.buffer instanceof ArrayBuffer)) throw needsPort
    this.byte(tag.bytes)
    this.byte(binaryKinds.findIndex((kind) => value instanceof kind))
    this.whole(data.byteLength)
    this.reserve(data.byteLength)
    this.buffer.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), this.position)
    this.position += data.byteLength
  }

  /** An error always goes over: what it carries that cannot is left behind. */
  #error(error: Error): void {
    this.byte(tag.error)
    this.text(safeString(error.name))
    this.text(safeString(error.message))
    this.text(safeString(error.stack ?? ''))
    const extra = Object.entries(error).filter(([key]) => key !== 'cause' && key !== 'stack' && key !== 'message' && key !== 'name')
    this.whole(extra.length)
    for (const [key, item] of extra) {
      this.text(key)
      this.#lenient(item)
    }
    this.byte('cause' in error ? 1 : 0)
    if ('cause' in error) this.#lenient(error.cause)
  }
  #lenient(value: unknown): void {
    try {
      this.attempt(() => this.value(value))
    } catch {
      this.string(safeString(value))
    }
  }
}

/** Whether the platform knows more about this object than its fields say. */
function isOpaque(value: object): boolean {
  const name = Object.prototype.toString.call(value)
  return name !== '[object Object]' && !(Symbol.toStringTag in value && typeof value.constructor === 'function' && isPlainClass(value))
}

/** A class of the user's with a `Symbol.toStringTag` of its own is as good as any other. */
function isPlainClass(value: object): boolean {
  return !/\[native code\]/.test(Function.prototype.toString.call(value.constructor))
}
