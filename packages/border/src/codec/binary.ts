// Writes binary data, and what only the platform can copy. A view brings its whole buffer, as structured clone has it, so that
// two views of one buffer stay that. Only Node's own Buffers bring no more than their part: the rest of their memory belongs
// to strangers.

import { types } from '../ports/host.ts'
import { viewName } from './kinds.ts'
import { binaryKinds, tag } from './tags.ts'
import { safeString, Trouble } from './trouble.ts'
import type { Writer } from './writer.ts'

/** What a view says of itself, whatever fields were put on it. */
const typed = Object.getPrototypeOf(Uint8Array.prototype) as object
const getters = { typed: gettersOf(typed), data: gettersOf(DataView.prototype) }

interface Getters {
  readonly buffer: (this: unknown) => ArrayBuffer
  readonly byteOffset: (this: unknown) => number
  readonly byteLength: (this: unknown) => number
}
function gettersOf(prototype: object): Getters {
  // oxlint-disable-next-line typescript/unbound-method -- called with what it is asked about
  const get = (name: string): never => Object.getOwnPropertyDescriptor(prototype, name)!.get as never
  return { buffer: get('buffer'), byteOffset: get('byteOffset'), byteLength: get('byteLength') }
}

export function writeView(writer: Writer, view: ArrayBufferView): void {
  const of = types.isDataView(view) ? getters.data : getters.typed
  const buffer = of.buffer.call(view)
  const offset = of.byteOffset.call(view)
  const length = of.byteLength.call(view)
  const name = viewName(view)
  const kind = binaryKinds.findIndex((k) => k.name === name)
  if (length === 0) checkAttached(buffer)
  const whole = offset === 0 && length === buffer.byteLength
  if (!whole && Object.getPrototypeOf(view) === Buffer.prototype) return writeOwn(writer, kind, new Uint8Array(buffer, offset, length), {})
  if (whole && length < writer.heavy && !writer.hasSeen(buffer) && !writer.freightMoves(buffer))
    return writeOwn(writer, kind, new Uint8Array(buffer, offset, length), buffer)
  writer.byte(tag.view)
  writer.byte(kind)
  writer.whole(offset)
  writer.whole(length / (binaryKinds[kind]!.BYTES_PER_ELEMENT ?? 1))
  if (!writer.again(buffer)) writeBuffer(writer, buffer)
}

/** A view with a buffer of its own, which is met here for the first time. */
function writeOwn(writer: Writer, kind: number, bytes: Uint8Array, buffer: object): void {
  if (bytes.length >= writer.heavy) {
    writer.byte(tag.view)
    writer.byte(kind)
    writer.whole(0)
    writer.whole(bytes.length)
    writer.again(buffer)
    return writeMoved(writer, bytes.slice().buffer)
  }
  writer.again(buffer)
  writer.byte(tag.bytes)
  writer.byte(kind)
  writer.whole(bytes.length)
  writer.raw(bytes)
}

export function writeBuffer(writer: Writer, buffer: ArrayBuffer): void {
  if (writer.freightMoves(buffer)) return writeLeaf(writer, buffer)
  const bytes = new Uint8Array(buffer)
  // Copied once, here, and then moved.
  if (bytes.length >= writer.heavy) return writeMoved(writer, bytes.slice().buffer)
  writer.byte(tag.buffer)
  writer.whole(bytes.length)
  writer.raw(bytes)
}
function writeMoved(writer: Writer, copy: ArrayBuffer): void {
  const { freight } = writer
  freight.moved.push(copy)
  putLeaf(writer, copy)
}

/** What is moved is the platform's to check when it is; the rest is tried here, where its place is known. */
export function writeLeaf(writer: Writer, value: object): void {
  try {
    if (!writer.freightMoves(value)) checkCopy(value)
  } catch (trouble) {
    if (!writer.lenient) throw trouble
    return putLeaf(writer, safeString(value))
  }
  putLeaf(writer, value)
}
function putLeaf(writer: Writer, value: unknown): void {
  const { leaves } = writer.freight
  writer.byte(tag.leaf)
  writer.whole(leaves.length)
  leaves.push(value)
}
function checkCopy(value: object): void {
  let copy: unknown
  try {
    copy = structuredClone(value)
  } catch {
    throw new Trouble(`${nameOf(value)}, which cannot be copied`)
  }
  // What comes out bare has lost what it was.
  if (Object.getPrototypeOf(copy) === Object.prototype) throw new Trouble(`${nameOf(value)}, which would lose what it is`)
}
function nameOf(value: object): string {
  try {
    const { name } = value.constructor
    return typeof name === 'string' && name !== '' ? name : 'thing'
  } catch {
    return 'thing'
  }
}

/** A view of a buffer that was moved away is as empty as one of an empty buffer; only this tells them apart on every host. */
function checkAttached(buffer: ArrayBuffer): void {
  // oxlint-disable-next-line no-new -- throws where there is no buffer any more
  if (types.isArrayBuffer(buffer)) new Uint8Array(buffer)
}
