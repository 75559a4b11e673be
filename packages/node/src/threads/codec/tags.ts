// The first byte of every value on the wire. Small whole numbers and the first shapes have theirs to themselves.

export const tag = {
  undefined: 0,
  null: 1,
  true: 2,
  false: 3,
  positive: 4,
  negative: 5,
  double: 6,
  ascii: 7,
  utf8: 8,
  wordDefined: 9,
  word: 10,
  array: 11,
  shapeDefined: 12,
  shape: 13,
  object: 14,
  map: 15,
  set: 16,
  date: 17,
  bigint: 18,
  error: 19,
  bytes: 20,
  regexp: 21,
  hole: 22,
  ref: 23,
  cargo: 24,
  /** 32 … 127: the first shapes. */
  firstShape: 32,
  /** 128 … 255: whole numbers from 0. */
  firstInteger: 128,
} as const

export const inlineShapes: number = tag.firstInteger - tag.firstShape
export const inlineIntegers = 128
/** Beyond so many shapes an object carries its keys; beyond so many keys too. */
export const mostShapes = 4096
export const mostKeys = 64
/** Strings up to this length are remembered by both sides, in a table of this size, by a simple hash. */
export const longestWord = 24
export const wordTable = 512
/** What is nested deeper goes by structured clone, which also knows cycles. */
export const deepest = 100

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
  ArrayBuffer,
] as never

type BinaryKind = new (buffer: ArrayBufferLike) => object
