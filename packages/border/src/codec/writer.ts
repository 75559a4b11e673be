// Turns values into bytes, at the moment of sending, so that what the sender changes afterwards is its own affair. Each field
// is read once, in the order in which structured clone reads it. Objects of a known shape cost their values only: the keys
// went over once. A record is written whole or not at all: what fails leaves no trace, neither bytes nor anything defined on
// the way. What is rare, or nested deep, is in walk.

import { ByteWriter } from './byte-writer.ts'
import { Freight } from './freight.ts'
import { isDense, isPolluted } from './kinds.ts'
import { Seen } from './seen.ts'
import { ShapeNode } from './shapes.ts'
import { deepest, heavy, inlineShapes, longestWord, mostKeys, mostShapes, prologue, tag, wordTable } from './tags.ts'
import { gone, safeString, Trouble, troubleAt } from './trouble.ts'
import { arrayWalk, readField, specialWalk, type Walk, walk } from './walk.ts'

/** Writes what only the threads know about: refs. False: it is none. */
export interface RefWriter {
  write(writer: Writer, value: object): boolean
}

/** All that a writer has defined and written, to return to. */
export interface Savepoint {
  readonly position: number
  readonly shapes: number
  readonly words: number
  readonly regrets: number
  readonly seen: number
  readonly freight: readonly [number, number, number] | undefined
  readonly depth: number
}

export class Writer extends ByteWriter {
  /** A record is being written: nobody else may write meanwhile, as a getter of the value might. */
  busy = false
  /** What the values of the record in progress send beside their bytes, in order. */
  freights: Freight[] = []
  /** What is to be moved with the next value instead of being copied. */
  transfer: readonly unknown[] | undefined = undefined
  /** Buffers from this size on go beside the bytes. */
  heavy: number = heavy
  /** What cannot go over is told by its text: for reports, which must not fail. */
  lenient = false
  #freight: Freight | undefined = undefined
  readonly #refs: RefWriter
  readonly #root = new ShapeNode([], 0)
  #shapes: ShapeNode[] = []
  readonly #words: (string | undefined)[] = new Array<string | undefined>(wordTable).fill(undefined)
  /** What the record in progress has defined, to be taken back if it fails. */
  readonly #defined: number[] = []
  readonly #regrets: (() => void)[] = []
  #shapesBefore = 0
  /** Whether objects have fields to inherit, as the value in progress found it. */
  #polluted = false
  readonly #seen = new Seen()
  depth = 0

  constructor(size: number, refs: RefWriter) {
    super(size)
    this.#refs = refs
  }

  // Transactions.

  /** Begins a record; returns where. To be ended by `commit` or `rollback`. */
  begin(): number {
    this.busy = true
    this.#shapesBefore = this.#shapes.length
    return this.position
  }
  /** The record is whole. */
  commit(): void {
    this.busy = false
    this.lenient = false
    if (this.freights.length > 0) this.freights = []
    if (this.#defined.length > 0) this.#defined.length = 0
    if (this.#regrets.length > 0) this.#regrets.length = 0
  }
  /** The record that began there never was. */
  rollback(position: number): void {
    this.#return(position, this.#shapesBefore, 0, 0)
    this.#seen.clear()
    this.#freight = undefined
    this.freights = []
    this.transfer = undefined
    this.depth = 0
    this.lenient = false
    this.busy = false
  }
  #return(position: number, shapes: number, words: number, regrets: number): void {
    this.position = position
    for (const node of this.#shapes.splice(shapes)) node.id = -1
    for (const index of this.#defined.splice(words)) this.#words[index] = undefined
    for (const regret of this.#regrets.splice(regrets).toReversed()) regret()
  }
  /** What else to take back if the record in progress fails. */
  regret(undo: () => void): void {
    this.#regrets.push(undo)
  }
  /** Where a part of a value begins that may be left out. */
  save(): Savepoint {
    return {
      position: this.position,
      shapes: this.#shapes.length,
      words: this.#defined.length,
      regrets: this.#regrets.length,
      seen: this.#seen.count,
      freight: this.#freight?.standing,
      depth: this.depth,
    }
  }
  restore(to: Savepoint): void {
    this.#return(to.position, to.shapes, to.words, to.regrets)
    this.#seen.truncate(to.seen)
    if (to.freight === undefined) this.#freight = undefined
    else this.#freight!.truncate(to.freight)
    this.depth = to.depth
  }

  // Values.

  /** A whole value; what it has beside its bytes is in `freights` then. */
  value(value: unknown): void {
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return this.item(value)
    const start = this.position
    this.#polluted = isPolluted()
    if (this.transfer !== undefined) this.freight.take(this.transfer)
    this.transfer = undefined
    this.item(value)
    const freight = this.#freight
    if (freight !== undefined || this.#seen.twice)
      this.#prepend(start, (this.#seen.twice ? prologue.graph : 0) | (freight === undefined ? 0 : prologue.freight))
    if (freight !== undefined) {
      this.freights.push(freight)
      this.#freight = undefined
    }
    this.#seen.clear()
  }
  /** A value that is not the message itself: trouble in it says so. */
  labelled(label: string, value: unknown): void {
    try {
      this.value(value)
    } catch (cause) {
      throw troubleAt(cause, label)
    }
  }
  /** Only now is it known what the reader must know first. */
  #prepend(start: number, flags: number): void {
    this.reserve(2)
    this.buffer.copyWithin(start + 2, start, this.position)
    this.buffer[start] = tag.prologue
    this.buffer[start + 1] = flags
    this.position += 2
  }
  /** What goes beside the bytes of the value in progress. */
  get freight(): Freight {
    return (this.#freight ??= new Freight())
  }

  /** A value, or a part of one. */
  item(value: unknown): void {
    switch (typeof value) {
      case 'string':
        return this.string(value)
      case 'number':
        return this.number(value)
      case 'object':
        return value === null ? this.byte(tag.null) : this.#object(value)
      case 'boolean':
        return this.byte(value ? tag.true : tag.false)
      case 'undefined':
        return this.byte(tag.undefined)
      case 'bigint':
        this.byte(tag.bigint)
        this.byte(value < 0n ? 1 : 0)
        return this.text((value < 0n ? -value : value).toString(16))
      default:
        if (typeof value === 'function' && this.#refs.write(this, value)) return
        if (!this.lenient) throw new Trouble(typeof value)
        return this.string(safeString(value))
    }
  }

  /** A field of an object, read here. */
  field(value: object, key: string): void {
    this.item(readField(value, key))
  }
  /** A field that was undefined when it was read: it is, or it was taken away meanwhile. */
  nothing(value: object, key: string | number): void {
    if (!Object.hasOwn(value, key)) throw gone()
    this.byte(tag.undefined)
  }

  string(value: string): void {
    const { length } = value
    if (length > 0 && length <= longestWord) return this.#word(value)
    this.byte(tag.utf8)
    this.text(value)
  }
  #word(value: string): void {
    const { length } = value
    const index = (length * 31 + value.charCodeAt(0) * 7 + value.charCodeAt(length - 1) * 13 + value.charCodeAt(length >> 1) * 3) % wordTable
    this.reserve(longestWord + 8)
    if (this.#words[index] === value) {
      this.buffer[this.position++] = tag.word
      return this.small(index)
    }
    const start = this.position
    this.buffer[this.position++] = tag.wordDefined
    this.small(index)
    this.buffer[this.position++] = length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > 127) {
        this.position = start
        this.byte(tag.utf8)
        return this.text(value)
      }
      this.buffer[this.position++] = code
    }
    this.#words[index] = value
    this.#defined.push(index)
  }

  /** Whether the object was written before, and is now referred to. */
  again(value: object): boolean {
    const before = this.#seen.note(value)
    if (before < 0) return false
    this.byte(tag.again)
    this.whole(before)
    return true
  }

  #object(value: object): void {
    if (this.depth >= deepest) return this.special(value)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype === Object.prototype) {
      const node = this.#shapeOf(value)
      // One without any field may be no plain object at all; one with very many has no shape worth the name.
      if (node === undefined) return this.special(value)
      if (this.again(value)) return
      this.depth++
      const { id, code } = node
      if (id >= 0 && id < inlineShapes && code !== undefined) {
        this.byte(tag.firstShape + id)
        code(this, value as never)
      } else {
        this.head(node)
        node.write(this, value as never)
      }
      this.depth--
    } else if (prototype === Array.prototype && Array.isArray(value)) {
      if (this.again(value)) return
      const keys = Object.keys(value)
      if (!isDense(value, keys)) return walk(this, arrayWalk(this, value, keys))
      this.depth++
      this.#array(value)
      this.depth--
    } else this.special(value)
  }
  /** What is rare, or nested deep. */
  special(value: object): void {
    const parts = this.begins(value)
    if (parts !== undefined) walk(this, parts)
  }
  /** Begins a part that is an object; undefined: it has no parts of its own, and is written. */
  begins(value: object): Walk | undefined {
    return this.#refs.write(this, value) ? undefined : specialWalk(this, value)
  }
  hasSeen(value: object): boolean {
    return this.#seen.has(value)
  }
  freightMoves(value: unknown): boolean {
    return this.#freight !== undefined && this.#freight.moves(value)
  }

  #shapeOf(value: object): ShapeNode | undefined {
    let node = this.#root
    let count = 0
    for (const key in value) {
      if (++count > mostKeys) return undefined
      node = node.nextKey === key ? node.nextNode! : node.after(key)
    }
    return count === 0 || this.#polluted ? undefined : node
  }
  shapeOfKeys(keys: readonly string[]): ShapeNode {
    if (keys.length > mostKeys) return new ShapeNode(keys, Infinity)
    let node = this.#root
    for (const key of keys) node = node.nextKey === key ? node.nextNode! : node.after(key)
    return node
  }
  /** The shape of an object whose fields follow, each without its key; the other side is told of it if need be. */
  head(node: ShapeNode): void {
    const { id } = node
    if (id >= 0) {
      if (id < inlineShapes) return this.byte(tag.firstShape + id)
      this.byte(tag.shape)
      return this.whole(id)
    }
    if (this.#shapes.length < mostShapes && node.small) {
      node.id = this.#shapes.length
      this.#shapes.push(node)
      this.byte(tag.shapeDefined)
    } else this.byte(tag.object)
    this.whole(node.keys.length)
    for (const key of node.keys) this.text(key)
  }

  #array(value: readonly unknown[]): void {
    const { length } = value
    this.byte(tag.array)
    this.whole(length)
    let i = 0
    try {
      for (; i < length; i++) {
        const item = value[i]
        if (item === undefined) this.nothing(value, i)
        else this.item(item)
      }
    } catch (cause) {
      throw troubleAt(cause, i)
    }
  }
}
