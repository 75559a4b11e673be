// Writes records, each whole or not at all, and posts what goes beside one once it is whole. A record that is told while
// another is being written, by a getter of that one, is written apart, with nothing that the way has defined, and follows it.

import { weightOf } from '../codec/freight.ts'
import { refusal } from '../codec/trouble.ts'
import { Writer } from '../codec/writer.ts'
import { type FreightPort, held, type Ready, readyPost } from './freight-port.ts'

/** What kind of record it is: its first byte. */
export const record = {
  message: 1,
  envelope: 2,
  link: 3,
  control: 4,
  answer: 5,
  refusal: 6,
  credit: 7,
  address: 8,
  unlink: 9,
  apart: 10,
  large: 11,
} as const

/** Writes a ref; one that is written apart is not remembered. False: it is none. */
type WriteRef = (writer: Writer, value: object, remembers: boolean) => boolean

export class RecordWriter {
  readonly writer: Writer
  /** A larger record goes by port. */
  largest: number = 64 * 1024
  readonly #freight: FreightPort
  readonly #writeRef: WriteRef
  /** Records that were told while another was being written. */
  #apart: { readonly bytes: Uint8Array; readonly ready: Ready | undefined }[] = []

  constructor(freight: FreightPort, writeRef: WriteRef) {
    this.#freight = freight
    this.#writeRef = writeRef
    this.writer = new Writer(64 * 1024, { write: (writer, value) => writeRef(writer, value, true) })
  }

  /** As `write`, of a message that nothing goes with, while no other record is being written. */
  message(link: number, value: unknown): number {
    const { writer } = this
    const start = writer.begin()
    try {
      writer.byte(record.message)
      writer.whole(link)
      writer.value(value)
    } catch (cause) {
      this.#failed(writer, start)
      throw refusal(cause)
    }
    return this.#whole(writer, start)
  }

  /** Writes a record, or nothing; returns its size, with what goes beside it. */
  write(write: (writer: Writer) => void): number {
    // Somebody's getter sends: what it sends must not come to lie inside of what is being sent.
    const writer = this.writer.busy ? this.#writerApart() : this.writer
    const start = writer.begin()
    try {
      write(writer)
    } catch (cause) {
      this.#failed(writer, start)
      throw cause
    }
    return this.#whole(writer, start)
  }
  #writerApart(): Writer {
    const writer = new Writer(1024, { write: (apart, value) => this.#writeRef(apart, value, false) })
    writer.heavy = this.writer.heavy
    return writer
  }

  #whole(writer: Writer, start: number): number {
    let size = writer.position - start
    const { freights } = writer
    try {
      for (const { leaves } of freights) size += weightOf(leaves)
      if (writer !== this.writer) {
        const ready = freights.length === 0 ? undefined : held(readyPost(freights, undefined))
        this.#apart.push({ bytes: writer.buffer.subarray(0, writer.position), ready })
        return size
      }
      if (writer.position - start > this.largest) this.#lift(writer, start)
      else if (freights.length > 0) this.#freight.post(readyPost(freights, undefined))
    } catch (cause) {
      this.#failed(writer, start)
      throw refusal(cause)
    }
    writer.commit()
    this.#follow()
    return size
  }
  #failed(writer: Writer, start: number): void {
    writer.rollback(start)
    this.#follow()
  }
  /** A record that is too large for the way goes by the port, and leaves its mark. */
  #lift(writer: Writer, start: number): void {
    const bytes = Buffer.allocUnsafeSlow(writer.position - start)
    bytes.set(writer.buffer.subarray(start, writer.position))
    this.#freight.post(readyPost(writer.freights, bytes))
    writer.position = start
    writer.byte(record.large)
  }
  /** What was told meanwhile follows, whatever became of the other. */
  #follow(): void {
    if (this.#apart.length === 0 || this.writer.busy) return
    const { writer } = this
    for (const { bytes, ready } of this.#apart.splice(0)) {
      if (ready !== undefined) this.#freight.post(ready)
      writer.byte(record.apart)
      writer.whole(bytes.length)
      writer.raw(bytes)
    }
  }
}
