// The first byte of every value on the wire, and what both sides must agree on about sizes. Small whole numbers and the
// first shapes have tags to themselves.
//
//   text    │ length × 2 │ UTF-8 │    or    │ length × 2 + 1 │ UTF-16, for what is not well-formed │
//   value   │ prologue, flags │ item │    where the value has parts met twice, or freight; else the item alone

export const tag = {
  undefined: 0,
  null: 1,
  true: 2,
  false: 3,
  positive: 4,
  negative: 5,
  double: 6,
  utf8: 8,
  wordDefined: 9,
  word: 10,
  array: 11,
  shapeDefined: 12,
  shape: 13,
  /** An object that carries its keys. */
  object: 14,
  map: 15,
  set: 16,
  date: 17,
  bigint: 18,
  error: 19,
  /** A view with a buffer of its own. */
  bytes: 20,
  regexp: 21,
  ref: 23,
  /** Something that only the platform can copy: it went by port, and this is its number there. */
  leaf: 24,
  prologue: 25,
  /** An object that was written before in this value. */
  again: 26,
  /** An array with holes or with fields. */
  sparse: 27,
  buffer: 28,
  /** A view of a buffer that follows, or was written before. */
  view: 29,
  /** 32 … 127: the first shapes. */
  firstShape: 32,
  /** 128 … 255: whole numbers from 0. */
  firstInteger: 128,
} as const

/** What a prologue says. */
export const prologue = { graph: 1, freight: 2 } as const
/** What comes next of an error, and which class it is of. */
export const errorPart = { end: 0, field: 1, cause: 2, errors: 3 } as const
export const errorClass = { byName: 0, actorError: 1, domException: 2 } as const

export const inlineShapes: number = tag.firstInteger - tag.firstShape
export const inlineIntegers = 128
/** Beyond so many shapes an object carries its keys; beyond so many keys, or characters in them, too. */
export const mostShapes = 4096
export const mostKeys = 64
export const longestKeys = 1024
/** Strings up to this length are remembered by both sides, in a table of this size, by a simple hash. */
export const longestWord = 24
export const wordTable = 512
/** What is nested deeper is written and read without recursion. */
export const deepest = 100
/** A shape that was met so often is worth code of its own. */
export const worthCode = 32
/** Buffers from this size on go beside the bytes, copied once, where anything can. */
export const heavy: number = 64 * 1024

/** Kinds of binary data, by the index in this list. */
export const binaryKinds: readonly BinaryKind[] = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
] as never

interface BinaryKind {
  new (buffer: ArrayBufferLike, offset?: number, length?: number): ArrayBufferView
  readonly name: string
  readonly BYTES_PER_ELEMENT?: number
}
