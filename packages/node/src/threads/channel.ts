// One thread's end of the way to one other: records are written into a buffer here, go over as frames when the
// turn is over, and are read there in the order in which they were sent. What must go by structured clone
// (transfers, shared memory, things that only the platform can copy) is posted first and leaves its mark in the record.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { NotTransferable } from './errors.ts'
import { needsPort, safeString, troubleIn } from './codec/trouble.ts'
import { type RefWriter, Writer } from './codec/writer.ts'
import { type RefReader, Reader } from './codec/reader.ts'
import { tag } from './codec/tags.ts'
import { fromClone, toClone } from './cargo.ts'
import type { Arrivals } from './arrivals.ts'
import type { Control } from './control.ts'
import type { Link } from './link.ts'
import { lineOf } from './media.ts'
import type { ByteStream, Line, Wiring } from './medium.ts'
import type { RefTable } from './ref-table.ts'
import { hasTransfers, takeTransfer } from './transfer.ts'

/** What kind of record it is: its first byte. */
export const record = { message: 1, envelope: 2, link: 3, control: 4, answer: 5, refusal: 6, credit: 7, address: 8, unlink: 9 } as const

/** Bytes after which a buffer goes over at once, while the sender goes on. */
const eager = 16 * 1024

export class Channel {
  readonly peer: number
  readonly writer: Writer
  readonly reader: Reader
  /** Messages that went this way and came this way, for the ledger. */
  sent = 0
  received = 0
  nextLink = 0
  /** Ways to actors over there, and from there to actors here. */
  readonly links: Map<number, Link> = new Map()
  readonly arrivals: Map<number, Arrivals> = new Map()
  /** Refs that both sides know by a number; the oldest makes room. */
  readonly refSlots: Map<number, number> = new Map()
  readonly slotUids: number[] = []
  readonly slotRefs: unknown[] = []
  nextSlot = 0
  state: 'connecting' | 'open' | 'closed' = 'connecting'
  #line: Line | undefined
  #out: ByteStream | undefined
  #in: ByteStream | undefined
  #cargo: MessagePort | undefined
  readonly #refs: RefTable
  readonly #toPost: unknown[] = []
  /** A larger record goes by port. */
  #largest = 64 * 1024
  /** Where the frame ends that is being read; 0 between frames. */
  #frameEnd = 0
  /** How much of the buffer has gone over. */
  #gone = 0
  readonly #later: (channel: Channel) => void
  #scheduled = false
  #wanted = false
  /** Called when there is room again for what wanted it. */
  onRoom: () => void = () => {}

  constructor(peer: number, refs: RefTable, later: (channel: Channel) => void) {
    this.peer = peer
    this.#refs = refs
    this.#later = later
    const write: RefWriter = { write: (writer, value) => refs.write(this, writer, value) }
    const read: RefReader = { readRef: (reader) => refs.read(this, reader), readCargo: () => this.#takeCargo() }
    this.writer = new Writer(64 * 1024, write)
    this.reader = new Reader(read)
  }

  open(wiring: Wiring, onWake: () => void): void {
    this.#line = lineOf(wiring.line)
    this.#out = this.#line.out
    this.#in = this.#line.in
    this.#cargo = wiring.cargo
    this.#line.open(onWake)
    this.#largest = this.#out.size / 2
    for (const clone of this.#toPost.splice(0)) this.#cargo.postMessage(clone, [])
    this.state = 'open'
    this.#schedule()
  }

  close(): void {
    this.state = 'closed'
    this.#line?.close()
    this.#cargo?.close()
  }

  /** Whether another message may be written: what is under way is bounded. */
  get hasRoom(): boolean {
    return this.state === 'open' && this.writer.position - this.#gone < this.#out!.size
  }
  /** Says that something waits for room here: then `onRoom` is called. Returns that there is none. */
  wantRoom(): false {
    this.#wanted = true
    return false
  }
  get hasIncoming(): boolean {
    return this.state === 'open' && (this.#frameEnd > 0 || this.#in!.used > 0)
  }
  /** Bytes that are written here and have not gone, that have gone and were not read there, and that came and were not read here. */
  get standing(): { readonly unsent: number; readonly unread: number; readonly incoming: number } {
    return { unsent: this.writer.position - this.#gone, unread: this.#out?.used ?? 0, incoming: this.#in?.used ?? 0 }
  }

  /** Writes a record that needs no value of the user's. */
  plain(write: (writer: Writer) => void): void {
    if (this.state === 'closed') return
    const { position } = this.writer
    this.writer.mark()
    write(this.writer)
    this.wrote(position)
  }

  /** Writes a control record; what cannot go over in it is told by its text. */
  control(content: Control): void {
    if (this.state === 'closed') return
    const { writer } = this
    const { position, shapes } = writer
    writer.mark()
    try {
      writer.byte(record.control)
      writer.value(content)
    } catch {
      writer.undo(position, shapes)
      writer.byte(record.control)
      writer.value(Object.fromEntries(Object.entries(content).map(([key, value]) => [key, this.#orText(value)])))
    }
    this.wrote(position)
  }
  #orText(value: unknown): unknown {
    const { writer } = this
    try {
      writer.attempt(() => {
        writer.value(value)
        throw fine
      })
    } catch (cause) {
      if (cause !== fine) return safeString(value)
    }
    return value
  }

  /** Writes a message to a link; returns its size. Throws `NotTransferable`, and then nothing was written. */
  message(link: number, value: unknown): number {
    const { writer } = this
    const { position, shapes } = writer
    writer.mark()
    if (!hasTransfers()) {
      try {
        writer.byte(record.message)
        writer.whole(link)
        writer.value(value)
        if (writer.position - position <= this.#largest) return this.wrote(position)
      } catch (cause) {
        this.#rethrow(cause, value, position, shapes)
      }
      writer.undo(position, shapes)
    }
    return this.valued((w) => {
      w.byte(record.message)
      w.whole(link)
    }, value)
  }

  /** Writes a record that ends with a value of the user's; otherwise as `message`. */
  valued(head: (writer: Writer) => void, value: unknown): number {
    const { writer } = this
    const { position, shapes } = writer
    writer.mark()
    const transfer = takeTransfer(value)
    if (transfer === undefined) {
      try {
        head(writer)
        writer.value(value)
        if (writer.position - position <= this.#largest) return this.wrote(position)
      } catch (cause) {
        this.#rethrow(cause, value, position, shapes)
      }
      writer.undo(position, shapes)
    }
    try {
      head(writer)
      this.#post(value, transfer ?? [])
    } catch (cause) {
      writer.undo(position, shapes)
      throw cause
    }
    return this.wrote(position)
  }

  /** Whether the trouble is one that a structured clone may not have. */
  #rethrow(cause: unknown, value: unknown, position: number, shapes: number): void {
    if (cause === needsPort || cause instanceof RangeError) return
    this.writer.undo(position, shapes)
    throw cause instanceof NotTransferable ? new NotTransferable(troubleIn(this.writer, value), cause.what) : new NotTransferable([], describe(cause))
  }

  /** Posts what goes by structured clone, and marks its place. */
  #post(value: unknown, transfer: readonly unknown[]): void {
    const { writer } = this
    try {
      const clone = toClone(this, this.#refs, value)
      // A way that is being opened keeps what it will post; order is kept by the marks.
      if (this.#cargo === undefined) this.#toPost.push(structuredClone(clone, { transfer: transfer as never }))
      else this.#cargo.postMessage(clone, transfer as never)
    } catch (cause) {
      throw cause instanceof NotTransferable ? cause : new NotTransferable(troubleIn(writer, value), describe(cause))
    }
    writer.byte(tag.cargo)
  }
  #takeCargo(): unknown {
    const came = receiveMessageOnPort(this.#cargo!)
    if (came === undefined) throw new Error('What was sent by port did not come. This is a bug of Troupe.')
    return fromClone(this, this.#refs, came.message)
  }

  /** To be called after each record; returns its size. */
  wrote(from: number): number {
    const size = this.writer.position - from
    if (this.writer.position - this.#gone > eager) this.flush()
    this.#schedule()
    return size
  }
  #schedule(): void {
    if (this.#scheduled || this.state !== 'open' || this.writer.position === this.#gone) return
    this.#scheduled = true
    this.#later(this)
  }

  /** Lets go over what is written, as far as there is room; wakes the peer if it sleeps. */
  flush(): void {
    if (this.state !== 'open') return
    const { writer } = this
    const out = this.#out!
    if (writer.position > this.#gone) {
      const gone = out.write(writer.buffer, this.#gone, writer.position)
      this.#gone += gone
      if (this.#gone < writer.position) {
        out.waitForRoom()
        // The reader may have made room between the two, and then nobody would tell us.
        this.#gone += out.write(writer.buffer, this.#gone, writer.position)
      }
      if (this.#gone === writer.position) {
        this.#gone = 0
        writer.position = 0
      }
      this.ring()
    }
  }
  flushed(): void {
    this.#scheduled = false
    this.flush()
  }
  /** Wakes the peer if it sleeps. */
  ring(): void {
    this.#line!.ring()
  }

  /** Wakes the peer even if it was rung for: by a thread, maybe, that is gone and took the wake with it. */
  nudge(): void {
    if (this.state === 'open') this.#line!.nudge()
  }

  /** Reads the records that have come, up to a number of bytes, and calls back for each record. Returns how many bytes came. */
  drain(most: number, onRecord: (channel: Channel, kind: number, reader: Reader) => void): number {
    if (this.state !== 'open') return 0
    const { reader } = this
    const incoming = this.#in!
    let bytes = 0
    while (bytes < most) {
      if (this.#frameEnd === 0) {
        const frame = incoming.next()
        if (frame === undefined) break
        reader.begin(frame)
        this.#frameEnd = incoming.frameLength
      }
      const start = reader.position
      const until = Math.min(this.#frameEnd, start + most - bytes)
      while (reader.position < until) onRecord(this, reader.byte(), reader)
      bytes += reader.position - start
      if (reader.position >= this.#frameEnd) this.#frameEnd = 0
    }
    if (incoming.takeWait()) this.ring()
    if (this.#gone > 0 || this.writer.position > 0) this.flush()
    if (this.#wanted && this.hasRoom) {
      this.#wanted = false
      this.onRoom()
    }
    return bytes
  }
}

const fine = Symbol('fits')

function describe(cause: unknown): string {
  return cause instanceof Error && cause.name === 'DataCloneError'
    ? 'thing that cannot be cloned'
    : `value that fails to be read: ${safeString(cause)}`
}
