// A stream of bytes from one thread to one other, over a message port. One writer, one reader; the writer counts what it has
// posted, the reader acknowledges what it has read, and the difference never exceeds the size.
//
//   writer → reader │ bytes: a frame, or the last part of one │ { part }: more follows │ null: I wait for room │
//   reader → writer │ number: so many bytes were read │

import type { MessagePort } from 'node:worker_threads'
import type { ByteStream } from '@troupe/border'
import { PortReader } from './port-reader.ts'

type Fragment = { readonly part: Uint8Array }
type Post = Uint8Array | Fragment | null | number

/** What a frame counts for besides its bytes, so that many small ones are bounded as well. */
const perFrame = 64
const shiftEvery = 256

export class PortStream implements ByteStream {
  readonly size: number
  readonly #port: MessagePort
  readonly #came: PortReader<Post>
  #used = 0
  /** Frames that came and were not read; those before `#head` were. */
  readonly #frames: (Uint8Array | Fragment)[] = []
  #head = 0
  /** What came of a frame whose rest is still to come. */
  #parts: Uint8Array[] = []
  frameLength = 0
  /** Bytes that were read here and not acknowledged. */
  #owed = 0
  /** To the reader: the writer waits. To the writer: the reader was told so. */
  #waits = false
  /** The writer waited, and has its acknowledgement. */
  #answered = false

  constructor(port: MessagePort, size: number) {
    this.#port = port
    this.#came = new PortReader(port, (post) => this.#take(post))
    this.size = size
  }

  /** From now on `onPost` is called after something has come that was not looked for. */
  listen(onPost: () => void): void {
    this.#came.listen(onPost)
  }
  close(): void {
    this.#port.close()
  }

  get used(): number {
    this.#came.look()
    return this.#used
  }

  write(frame: Uint8Array, from: number, to: number): number {
    const free = this.size - this.used
    const length = to - from
    const fits = Math.min(length, free - perFrame)
    // Small pieces of a large frame are not worth a wake.
    if (fits <= 0 || (fits < length && fits < this.size / 4)) return 0
    // Memory of its own, for it moves to the reader.
    const bytes = Buffer.allocUnsafeSlow(fits)
    bytes.set(frame.subarray(from, from + fits))
    this.#used += fits + perFrame
    this.#port.postMessage(fits === length ? bytes : { part: bytes }, [bytes.buffer])
    return fits
  }

  next(): Buffer | undefined {
    for (;;) {
      const came = this.#shift()
      if (came === undefined) return undefined
      const bytes = 'part' in came ? came.part : came
      this.#read(bytes.length + perFrame)
      if (came === bytes && this.#parts.length === 0) {
        this.frameLength = bytes.length
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      }
      this.#parts.push(bytes)
      if (came !== bytes) continue
      const frame = Buffer.concat(this.#parts)
      this.frameLength = frame.length
      this.#parts = []
      return frame
    }
  }

  waitForRoom(): void {
    // Once is enough until something was acknowledged.
    if (this.#waits) return
    this.#waits = true
    this.#port.postMessage(null, [])
  }
  takeWait(): boolean {
    this.#came.look()
    // A writer that waits while nothing is owed gets its acknowledgement with the next frame that is read.
    if (this.#waits && this.#owed > 0) this.#acknowledge()
    const answered = this.#answered
    this.#answered = false
    return answered
  }

  #shift(): Uint8Array | Fragment | undefined {
    if (this.#head === this.#frames.length) this.#came.look()
    if (this.#head === this.#frames.length) return undefined
    const came = this.#frames[this.#head++]
    // Moving the rest for each one would cost more than reading it; never moving it would keep all that ever came.
    if (this.#head === this.#frames.length || this.#head === shiftEvery) {
      this.#frames.splice(0, this.#head)
      this.#head = 0
    }
    return came
  }
  #read(bytes: number): void {
    this.#used -= bytes
    this.#owed += bytes
    // A quarter at a time: each acknowledgement wakes the writer.
    if (this.#owed >= this.size / 4) this.#acknowledge()
  }
  #acknowledge(): void {
    this.#port.postMessage(this.#owed, [])
    this.#owed = 0
    this.#answered ||= this.#waits
    this.#waits = false
  }

  #take(post: Post): void {
    if (post === null) this.#waits = true
    else if (typeof post === 'number') {
      this.#used -= post
      this.#waits = false
    } else {
      this.#frames.push(post)
      this.#used += ('part' in post ? post.part : post).length + perFrame
    }
  }
}
