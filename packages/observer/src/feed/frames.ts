// The stream that a page reads: frames one after another, each with its length, its kind and its content. A reader takes bytes in whatever
// pieces they come. What is not a frame ends the stream with an error: nobody guesses where the next one begins.
//
//   length (4 bytes, little-endian, of what follows) | kind (1 byte) | content

import { BadFrame } from './bytes.ts'
import { type Cells, decodeCells, encodeCells } from './cells.ts'
import type { Hello, RoundNews } from './news.ts'

export type FeedFrame =
  | { readonly kind: 'hello'; readonly hello: Hello }
  | { readonly kind: 'round'; readonly round: RoundNews }
  | { readonly kind: 'cells'; readonly cells: Cells }
  /** The system has closed; nothing follows. */
  | { readonly kind: 'end'; readonly reason: string }

const kinds = ['hello', 'round', 'cells', 'end'] as const
/** Longer is refused by the reader: a page shall not be made to keep what never ends. */
export const longestFrame: number = 64 * 1024 * 1024

export function encodeFrame(frame: FeedFrame): Uint8Array<ArrayBuffer> {
  const content = contentOf(frame)
  const bytes = new Uint8Array(5 + content.length)
  new DataView(bytes.buffer).setUint32(0, content.length + 1, true)
  bytes[4] = kinds.indexOf(frame.kind)
  bytes.set(content, 5)
  return bytes
}

function contentOf(frame: FeedFrame): Uint8Array {
  switch (frame.kind) {
    case 'hello':
      return json(frame.hello)
    case 'round':
      return json(frame.round)
    case 'cells':
      return encodeCells(frame.cells)
    case 'end':
      return json(frame.reason)
  }
}

const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

function decodeContent(kind: (typeof kinds)[number], content: Uint8Array): FeedFrame {
  if (kind === 'cells') return { kind, cells: decodeCells(content) }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content))
  } catch {
    throw new BadFrame(`A ${kind} is not JSON.`)
  }
  if (kind === 'end') return { kind, reason: String(value) }
  if (typeof value !== 'object' || value === null) throw new BadFrame(`A ${kind} is not an object.`)
  return kind === 'hello' ? { kind, hello: value as Hello } : { kind, round: value as RoundNews }
}

/** Takes bytes as they come, and gives frames. After it has thrown `BadFrame` it is of no more use. */
export class FrameReader {
  #pieces: Uint8Array[] = []
  #size = 0

  take(piece: Uint8Array): FeedFrame[] {
    this.#pieces.push(piece)
    this.#size += piece.length
    const frames: FeedFrame[] = []
    while (this.#size >= 5) {
      const head = this.#together(5)
      const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true)
      if (length === 0 || length > longestFrame) throw new BadFrame(`A frame of ${length} bytes.`)
      const kind = kinds[head[4]!]
      if (kind === undefined) throw new BadFrame(`A frame of kind ${head[4]}.`)
      if (this.#size < 4 + length) break
      const whole = this.#together(4 + length)
      frames.push(decodeContent(kind, whole.slice(5, 4 + length)))
      this.#pieces = whole.length > 4 + length ? [whole.subarray(4 + length), ...this.#pieces.slice(1)] : this.#pieces.slice(1)
      this.#size -= 4 + length
    }
    return frames
  }
  /** Bytes of a frame that has not come to its end. */
  get waiting(): number {
    return this.#size
  }

  /** The first piece, with at least so many bytes: those after it are put to it once, not with each that comes. */
  #together(least: number): Uint8Array {
    const first = this.#pieces[0]!
    if (first.length >= least) return first
    const all = new Uint8Array(this.#size)
    let at = 0
    for (const piece of this.#pieces) {
      all.set(piece, at)
      at += piece.length
    }
    this.#pieces = [all]
    return all
  }
}
