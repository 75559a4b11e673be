// Writes what is rare or nested deep: one part after the other, with a list of what is in progress instead of recursion, so
// that no depth is too deep. What it writes is what the writer itself would. A part of an error that cannot go over is left
// out, with all that was written of it.

import { ErrorWalk } from './error-walk.ts'
import { isDense, type Kind, kindOf } from './kinds.ts'
import { writeBuffer, writeLeaf, writeView } from './binary.ts'
import { deepest, tag } from './tags.ts'
import { gone, troubleAt } from './trouble.ts'
import type { Writer } from './writer.ts'

/** Something whose parts are being written. */
export interface Walk {
  /** Where the present part is, for whoever must say so. */
  readonly key: string | number
  readonly part: unknown
  /** Goes on to the next part, and writes what comes before it; false: that was all. */
  next(writer: Writer): boolean
  /** Whether the present part may be left out; then it is as if it had never been begun. */
  forgives?(writer: Writer): boolean
}

export function walk(writer: Writer, first: Walk): void {
  const stack = [first]
  const { depth } = writer
  writer.depth = depth + 1
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!
    try {
      if (!top.next(writer)) stack.pop()
      else if (writer.depth >= deepest && typeof top.part === 'object' && top.part !== null) {
        const inner = writer.begins(top.part)
        if (inner !== undefined) stack.push(inner)
      } else writer.item(top.part)
    } catch (cause) {
      unwind(writer, stack, cause)
    }
  }
  writer.depth = depth
}

/** Goes out to where the trouble may be left behind, and gathers on the way where it was. */
function unwind(writer: Writer, stack: Walk[], cause: unknown): void {
  let trouble = cause
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (top.forgives?.(writer) === true) return
    trouble = troubleAt(trouble, top.key)
    stack.pop()
  }
  throw trouble
}

/** Begins an object that is not a ref; undefined: it has no parts, and is written. */
export function specialWalk(writer: Writer, value: object): Walk | undefined {
  if (writer.again(value)) return undefined
  const kind = kindOf(value)
  switch (kind) {
    case 'fields':
      return new FieldsWalk(writer, value, Object.keys(value))
    case 'array':
      return arrayWalk(writer, value as readonly unknown[], Object.keys(value))
    case 'map':
      return new MapWalk(writer, value as Map<unknown, unknown>)
    case 'set':
      return new SetWalk(writer, value as Set<unknown>)
    case 'error':
      return new ErrorWalk(writer, value as Error)
    default:
      writeWhole(writer, value, kind)
      return undefined
  }
}

/** Writes what has no parts. */
function writeWhole(writer: Writer, value: object, kind: Kind): void {
  if (kind === 'view') writeView(writer, value as ArrayBufferView)
  else if (kind === 'buffer') writeBuffer(writer, value as ArrayBuffer)
  else if (kind === 'date') {
    writer.byte(tag.date)
    writer.double(Date.prototype.getTime.call(value))
  } else if (kind === 'regexp') {
    // A fresh one says what it is, whatever was done to the other's fields.
    const { source, flags } = structuredClone(value as RegExp)
    writer.byte(tag.regexp)
    writer.text(source)
    writer.text(flags)
  } else writeLeaf(writer, value)
}

export function arrayWalk(writer: Writer, value: readonly unknown[], keys: readonly string[]): Walk {
  return isDense(value, keys) ? new ArrayWalk(writer, value) : new SparseWalk(writer, value, keys)
}

/** Reads a field that an object had; what it would inherit instead is not its own. */
export function readField(value: object, key: string | number): unknown {
  if (!Object.hasOwn(value, key)) throw gone()
  const read = (value as Record<string | number, unknown>)[key]
  if (read === undefined && !Object.hasOwn(value, key)) throw gone()
  return read
}

class FieldsWalk implements Walk {
  key = ''
  part: unknown = undefined
  readonly #value: object
  readonly #keys: readonly string[]
  #i = 0
  constructor(writer: Writer, value: object, keys: readonly string[]) {
    this.#value = value
    this.#keys = keys
    writer.head(writer.shapeOfKeys(keys))
  }
  next(): boolean {
    if (this.#i === this.#keys.length) return false
    this.key = this.#keys[this.#i++]!
    this.part = readField(this.#value, this.key)
    return true
  }
}

class ArrayWalk implements Walk {
  key = -1
  part: unknown = undefined
  readonly #value: readonly unknown[]
  readonly #length: number
  constructor(writer: Writer, value: readonly unknown[]) {
    this.#value = value
    this.#length = value.length
    writer.byte(tag.array)
    writer.whole(this.#length)
  }
  next(): boolean {
    if (++this.key >= this.#length) return false
    this.part = readField(this.#value, this.key)
    return true
  }
}

class SparseWalk implements Walk {
  key = ''
  part: unknown = undefined
  readonly #value: readonly unknown[]
  readonly #keys: readonly string[]
  #i = 0
  constructor(writer: Writer, value: readonly unknown[], keys: readonly string[]) {
    this.#value = value
    this.#keys = keys
    writer.byte(tag.sparse)
    writer.whole(value.length)
    writer.whole(keys.length)
  }
  next(writer: Writer): boolean {
    if (this.#i === this.#keys.length) return false
    this.key = this.#keys[this.#i++]!
    writer.text(this.key)
    this.part = readField(this.#value, this.key)
    return true
  }
}

class MapWalk implements Walk {
  readonly #entries: unknown[] = []
  #i = -1
  constructor(writer: Writer, value: Map<unknown, unknown>) {
    // Those of this moment, as structured clone has it, whatever happens to the map meanwhile.
    Map.prototype.forEach.call(value, (item, key) => void this.#entries.push(key, item))
    writer.byte(tag.map)
    writer.whole(this.#entries.length / 2)
  }
  get key(): string {
    return this.#i % 2 === 0 ? '(key)' : `(${shown(this.#entries[this.#i - 1])})`
  }
  get part(): unknown {
    return this.#entries[this.#i]
  }
  next(): boolean {
    return ++this.#i < this.#entries.length
  }
}

class SetWalk implements Walk {
  readonly key = '(item)'
  readonly #items: unknown[] = []
  #i = -1
  constructor(writer: Writer, value: Set<unknown>) {
    Set.prototype.forEach.call(value, (item) => void this.#items.push(item))
    writer.byte(tag.set)
    writer.whole(this.#items.length)
  }
  get part(): unknown {
    return this.#items[this.#i]
  }
  next(): boolean {
    return ++this.#i < this.#items.length
  }
}

/** A key of a map, without calling anybody's code. */
function shown(key: unknown): string {
  return (typeof key === 'object' && key !== null) || typeof key === 'function' ? typeof key : String(key)
}
