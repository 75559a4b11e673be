// One end of the way to another node, made of payloads of the channel: frames go in parts that fit, and are put together again; how much was
// read is told back, so that never more than `size` bytes are under way and unread, however slow the reader. Of a frame that is larger than half of
// that the rest counts as read when it is here: otherwise one that is larger than all of it would never be whole, and nothing would follow it.
//
//   write ─► parts ═ channel ═► parts ─► whole frames ─► next            read counts ◄═ channel ═

import type { ByteStream, Line, LineEnd, SidePort } from '@troupe/border'
import { BadRecord, NotTransferable } from '@troupe/border'

/** What may be under way toward one node. */
const size = 1_048_576
/** The largest part, where the wire carries it: several share the window of a channel. */
const maxPart = 60 * 1_024
/** The byte before a part that says what it is. */
const partHead = 1
/** What is put together beside one message at most: an honest frame is no larger than what its writer gathers and one record. */
const besideMessage = 3 * size

const kind = { part: 0, last: 1, read: 2 } as const

/** Sends a payload. */
type Push = (bytes: Uint8Array) => void

class Outgoing implements ByteStream {
  readonly size: number = size
  readonly frameLength = 0
  readonly #push: Push
  readonly #partSize: number
  #written = 0
  #read = 0
  /** What of the frame that has begun to go has not gone yet. */
  #left = 0

  constructor(push: Push, maxPayload: number) {
    this.#push = push
    this.#partSize = Math.min(maxPart, maxPayload - partHead)
  }

  get used(): number {
    return this.#written - this.#read
  }

  write(frame: Uint8Array, from: number, to: number): number {
    let at = from
    while (at < to && this.used < size) {
      // A frame is what was there when it began to go: what is added while it waits for room is the next, or it would never end.
      if (this.#left === 0) this.#left = to - at
      const length = Math.min(this.#left, this.#partSize, size - this.used)
      const bytes = new Uint8Array(partHead + length)
      bytes[0] = length === this.#left ? kind.last : kind.part
      bytes.set(frame.subarray(at, at + length), partHead)
      this.#left -= length
      this.#push(bytes)
      at += length
      this.#written += length
    }
    return at - from
  }

  /** The reader has read so many bytes in all. */
  wasRead(total: number): void {
    if (total > this.#written || total < this.#read) throw new BadRecord('more was read than was written')
    this.#read = total
  }

  next(): undefined {}
  // Room is told by the reader, always.
  waitForRoom(): void {}
  takeWait(): boolean {
    return false
  }
}

class Incoming implements ByteStream {
  readonly size: number = size
  frameLength = 0
  /** Of whole frames: while a part is missing there is nothing to read, and the reader must not be woken for it. */
  used = 0
  readonly #push: Push
  #parts: Buffer[] = []
  #together = 0
  /** How much of the frame that is being put together counts as read already. */
  #early = 0
  readonly #frames: { readonly bytes: Buffer; readonly early: number }[] = []
  #read = 0
  #told = 0
  readonly #maxTogether: number

  constructor(push: Push, maxMessage: number) {
    this.#push = push
    this.#maxTogether = maxMessage + besideMessage
  }

  /** A part has come: copied, for the bytes are the wire's. */
  came(bytes: Uint8Array, last: boolean): void {
    this.#together += bytes.length
    if (this.#together + this.used > this.#maxTogether) throw new BadRecord('more came than may be under way')
    this.#parts.push(Buffer.from(bytes))
    if (!last) {
      if (this.#together > size / 2) {
        this.#early += bytes.length
        this.#hasRead(bytes.length)
      }
      return
    }
    this.#frames.push({ bytes: this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts), early: this.#early })
    this.used += this.#together
    this.#parts = []
    this.#together = 0
    this.#early = 0
  }

  next(): Buffer | undefined {
    const frame = this.#frames.shift()
    if (frame === undefined) return undefined
    const { bytes, early } = frame
    this.frameLength = bytes.length
    this.used -= bytes.length
    this.#hasRead(bytes.length - early)
    return bytes
  }
  #hasRead(bytes: number): void {
    this.#read += bytes
    if (this.#read - this.#told >= size / 4) this.#tell()
  }
  #tell(): void {
    this.#told = this.#read
    const bytes = Buffer.alloc(7)
    bytes[0] = kind.read
    bytes.writeUIntLE(this.#read, 1, 6)
    this.#push(bytes)
  }

  write(): number {
    return 0
  }
  waitForRoom(): void {}
  takeWait(): boolean {
    return false
  }
}

/** What would go beside the bytes: a record that is too large, or values of its own, large bytes among them. */
interface Beside {
  readonly record?: Uint8Array | undefined
  readonly freights?: readonly { readonly leaves: readonly unknown[] }[]
}

/** Nothing goes beside the bytes between machines. */
function noSide(maxMessage: number): SidePort {
  return {
    post: (value) => {
      const bytes = bytesBeside(value as Beside)
      if (bytes === 0) throw new NotTransferable([], 'thing that only threads of one process can share', 'The message', 'node')
      const what = `value of ${bytes} bytes, and at most ${maxMessage} go from node to node`
      throw new NotTransferable([], what, 'The message', 'node', 'Send it in parts, or give all nodes a greater maxMessageBytes.')
    },
    take: () => undefined,
    close: () => {},
  }
}

function bytesBeside({ record, freights = [] }: Beside): number {
  let bytes = record?.length ?? 0
  for (const { leaves } of freights) for (const leaf of leaves) if (leaf instanceof ArrayBuffer || ArrayBuffer.isView(leaf)) bytes += leaf.byteLength
  return bytes
}

export class NodeLine implements Line {
  readonly out: Outgoing
  readonly in: Incoming
  readonly largest: number
  readonly #side: SidePort
  #wake: () => void = () => {}

  /** `maxPayload` is the most bytes that `push` takes, `maxMessage` the most that a record may have. */
  constructor(push: Push, maxPayload: number, maxMessage: number) {
    this.out = new Outgoing(push, maxPayload)
    this.in = new Incoming(push, maxMessage)
    this.largest = maxMessage
    this.#side = noSide(maxMessage)
  }

  get end(): LineEnd {
    return { line: this, side: this.#side }
  }

  open(onWake: () => void): void {
    this.#wake = onWake
  }

  /** A payload of the channel. Throws `BadRecord` for what no node writes. */
  payload(bytes: Uint8Array): void {
    const body = bytes.subarray(partHead)
    if (bytes[0] === kind.part || bytes[0] === kind.last) {
      this.in.came(body, bytes[0] === kind.last)
      if (bytes[0] === kind.part) return
    } else if (bytes[0] === kind.read && body.length === 6) this.out.wasRead(Buffer.from(body).readUIntLE(0, 6))
    else throw new BadRecord(`there is no payload of kind ${bytes[0]}`)
    this.#wake()
  }

  // What is pushed leaves by itself.
  ring(): void {}
  nudge(): void {}
  close(): void {
    this.#wake = () => {}
  }
}
