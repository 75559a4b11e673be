// Reads what is rare, nested deep, or referred to again: one part after the other, with a list of what is in progress instead
// of recursion. An object is there before its parts, so that they may refer to it.

import { types } from '../ports/host.ts'
import { define } from './define.ts'
import { makeError, putErrorPart } from './error-value.ts'
import type { Reader } from './reader.ts'
import { binaryKinds, deepest, errorPart, tag } from './tags.ts'

/** Something whose parts are being read. */
interface Frame {
  readonly kind: 'fields' | 'array' | 'sparse' | 'map' | 'set' | 'error' | 'view'
  /** What is made; of a view, where it goes once it is. */
  target: unknown
  /** Keys of fields, or of a view its kind, offset and length. */
  readonly keys: readonly (string | number)[]
  /** Parts that are to come. */
  left: number
  /** Where the next part goes. */
  key: unknown
}

export function build(reader: Reader, first: number): unknown {
  const { depth } = reader
  const stack: Frame[] = []
  let opening = first
  reader.depth = deepest
  for (;;) {
    let value = open(reader, opening, stack)
    // What is complete is a part of what is in progress, which may be complete by it.
    for (;;) {
      const top = stack.at(-1)
      if (top === undefined) {
        reader.depth = depth
        return value
      }
      if (value !== unfinished) give(reader, top, value)
      if (awaits(reader, top)) break
      stack.pop()
      value = finished(reader, top)
    }
    opening = reader.byte()
  }
}
const unfinished = Symbol('unfinished')

/** Begins what has this tag: returns it if it is complete, or puts what is in progress on the stack. */
function open(reader: Reader, first: number, stack: Frame[]): unknown {
  // How much is to come is read first: what the bytes do not back is not made.
  const push = (kind: Frame['kind'], left: number, target: unknown, keys: readonly (string | number)[] = []): typeof unfinished => {
    stack.push({ kind, target, keys, left, key: undefined })
    return unfinished
  }
  switch (first) {
    case tag.shapeDefined:
      return fields(reader, reader.defineShape().keys, push)
    case tag.shape:
      return fields(reader, reader.shape(reader.whole()).keys, push)
    case tag.object:
      return fields(reader, reader.keys(), push)
    case tag.array:
      return push('array', reader.count(1), note(reader, []))
    case tag.sparse: {
      const [array, count] = sparse(reader)
      return push('sparse', count, note(reader, array))
    }
    case tag.map:
      return push('map', reader.count(2) * 2, note(reader, new Map()))
    case tag.set:
      return push('set', reader.count(1), note(reader, new Set()))
    case tag.error:
      return push('error', Infinity, note(reader, makeError(reader)))
    case tag.view: {
      const kind = reader.byte()
      const offset = reader.whole()
      const length = reader.whole()
      if (reader.made !== undefined) reader.made.push(undefined)
      return push('view', 1, reader.made?.length, [kind, offset, length])
    }
    case tag.date:
      return note(reader, new Date(reader.double()))
    case tag.regexp:
      return note(reader, regexp(reader))
    case tag.bytes:
      return own(reader)
    case tag.buffer:
      return note(reader, bytes(reader).buffer)
    case tag.leaf:
      return note(reader, reader.leaf())
    case tag.again:
      return again(reader)
    default:
      if (first >= tag.firstShape && first < tag.firstInteger) return fields(reader, reader.shape(first - tag.firstShape).keys, push)
      if (!simple.has(first) && first < tag.firstInteger) throw reader.bad(`an unknown tag ${first}`)
      // Nothing that has parts: the reader's own affair.
      reader.position--
      return reader.item()
  }
}
const simple: ReadonlySet<number> = new Set([
  tag.undefined,
  tag.null,
  tag.true,
  tag.false,
  tag.positive,
  tag.negative,
  tag.double,
  tag.utf8,
  tag.wordDefined,
  tag.word,
  tag.bigint,
  tag.ref,
])

function fields(
  reader: Reader,
  keys: readonly string[],
  push: (kind: 'fields', left: number, target: unknown, keys: readonly string[]) => unknown,
): unknown {
  return push('fields', keys.length, note(reader, {}), keys)
}
function note<T>(reader: Reader, made: T): T {
  reader.made?.push(made)
  return made
}

/** Whether more parts are to come; reads what comes before the next. */
function awaits(reader: Reader, top: Frame): boolean {
  if (top.kind === 'error') {
    const part = reader.byte()
    if (part === errorPart.end) return false
    if (part > errorPart.errors) throw reader.bad('an unknown part of an error')
    top.key = part === errorPart.field ? reader.text() : part
    return true
  }
  if (top.left === 0) return false
  top.left--
  if (top.kind === 'sparse') top.key = reader.text()
  return true
}

function give(reader: Reader, top: Frame, value: unknown): void {
  switch (top.kind) {
    case 'fields':
      return define(top.target as object, top.keys[top.keys.length - 1 - top.left] as string, value)
    case 'array':
      return void (top.target as unknown[]).push(value)
    case 'sparse':
      if (top.key === 'length') throw reader.bad('a field that an array has already')
      return put(reader, top.target as unknown[], top.key as string, value)
    case 'map':
      if (top.left % 2 === 1) top.key = value
      else (top.target as Map<unknown, unknown>).set(top.key, value)
      return
    case 'set':
      return void (top.target as Set<unknown>).add(value)
    case 'error':
      return putErrorPart(top.target as Error, top.key as string | number, value)
    case 'view':
      top.key = value
  }
}
function finished(reader: Reader, top: Frame): unknown {
  if (top.kind !== 'view') return top.target
  const view = viewOf(reader, top)
  if (typeof top.target === 'number') reader.made![top.target - 1] = view
  return view
}

/** Grows by what is put into it, whatever length it has. */
function sparse(reader: Reader): [array: unknown[], count: number] {
  const length = reader.whole()
  if (length > 0xffff_ffff) throw reader.bad('an array that is too long')
  const count = reader.count(2)
  const array: unknown[] = []
  // An array that was too long for it once takes no room for what is not there.
  if (length > 16 + count * 4) array.length = 0xffff_ffff
  array.length = length
  return [array, count]
}
function put(reader: Reader, array: unknown[], key: string, value: unknown): void {
  const { length } = array
  define(array, key, value)
  if (array.length !== length) throw reader.bad('an element beyond the end')
}

function bytes(reader: Reader): Uint8Array<ArrayBuffer> {
  const length = reader.whole()
  const start = reader.skip(length)
  const copy = new Uint8Array(length)
  copy.set(reader.buffer.subarray(start, start + length))
  return copy
}
function own(reader: Reader): unknown {
  const kind = reader.byte()
  const copy = bytes(reader)
  const view = kind === 0 ? copy : makeView(reader, kind, copy.buffer, 0, undefined)
  reader.made?.push(view, copy.buffer)
  return view
}
function viewOf(reader: Reader, { keys, key: buffer }: Frame): unknown {
  const [kind, offset, length] = keys as readonly number[]
  if (!types.isAnyArrayBuffer(buffer)) throw reader.bad('a view of something that is not a buffer')
  return makeView(reader, kind!, buffer, offset!, length)
}
function makeView(reader: Reader, index: number, buffer: ArrayBufferLike, offset: number, length: number | undefined): unknown {
  const kind = binaryKinds[index]
  if (kind === undefined) throw reader.bad('an unknown kind of bytes')
  try {
    return new kind(buffer, offset, length)
  } catch {
    throw reader.bad('a view that does not fit its buffer')
  }
}

function regexp(reader: Reader): RegExp {
  const source = reader.text()
  const flags = reader.text()
  try {
    return new RegExp(source, flags)
  } catch {
    throw reader.bad('no regular expression')
  }
}
function again(reader: Reader): unknown {
  const index = reader.whole()
  if (reader.made === undefined || index >= reader.made.length) throw reader.bad('something again that never was')
  const known = reader.made[index]
  if (known === undefined) throw reader.bad('something again that is not done')
  return known
}
