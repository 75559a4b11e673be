// What a Redis server sends, RESP2: simple strings, errors, integers, bulk strings and arrays, nested within a bound.
// Incremental like the requests: a value is put into its place as soon as it is complete, nothing is read twice.

import { isUint8Array } from 'node:util/types'
import { checkList } from '@troupe/core/internal'
import { checkOptions, replyFramingChecks } from '../limits.ts'
import { asBuffer, type Decoder, FrameError, Held } from './decoder.ts'
import { readLength } from './resp-requests.ts'

/** An error reply, as a value: it is part of the stream, not the end of it. */
export interface RespErrorReply {
  readonly error: string
}

/** One RESP2 value. Text is binary-safe, one char per byte. */
export type RespReply = string | number | null | RespErrorReply | readonly RespReply[]

/** The bounds of one reply. */
export interface RespReplyOptions {
  /** Bytes of one string; 64 MiB if left out. */
  readonly maxBulk?: number | undefined
  /** Elements of one array; 1,048,576 if left out. */
  readonly maxElements?: number | undefined
  /** Arrays within arrays; 16 if left out. */
  readonly maxDepth?: number | undefined
  /** Bytes of a simple string, error or integer; 65,536 if left out. */
  readonly maxLine?: number | undefined
}

const lf = 10
const cr = 13

/**
 * What a Redis server sends, as values.
 *
 * Guarantees and fails as `respRequests` does.
 *
 * @example
 * const decoder = respReplies()
 * for (const reply of decoder.push(chunk)) waiting.shift()?.tell(reply)
 */
export function respReplies(options: RespReplyOptions = {}): Decoder<RespReply> {
  const read = checkOptions('respReplies', options, replyFramingChecks)
  const { maxBulk = 64 * 1024 * 1024, maxElements = 1024 * 1024, maxDepth = 16, maxLine = 65_536 } = read
  const held = new Held()
  const stack: { readonly items: RespReply[]; readonly count: number }[] = []
  let bulk = -1
  let need = 0
  let scanned = 0

  const place = (value: RespReply, replies: RespReply[]): void => {
    let done = value
    for (;;) {
      const open = stack.at(-1)
      if (open === undefined) {
        replies.push(done)
        return
      }
      open.items.push(done)
      if (open.items.length < open.count) return
      stack.pop()
      done = open.items
    }
  }

  const line = (bytes: Buffer, at: number, end: number, replies: RespReply[]): void => {
    const text = (): string => bytes.toString('latin1', at + 1, end)
    switch (bytes[at]) {
      case 43: // +
        return place(text(), replies)
      case 45: // -
        return place({ error: text() }, replies)
      case 58: {
        // :
        if (!/^[+-]?\d{1,19}$/.test(text())) throw new FrameError('invalid integer')
        return place(Number(text()), replies)
      }
      case 36: {
        // $
        const length = readLength(bytes, at + 1, end)
        if (length === -1) return place(null, replies)
        if (!(length >= 0) || length > maxBulk) throw new FrameError('invalid bulk length')
        bulk = length
        return
      }
      case 42: {
        // *
        const count = readLength(bytes, at + 1, end)
        if (count === -1) return place(null, replies)
        if (!(count >= 0) || count > maxElements) throw new FrameError('invalid multibulk length')
        if (count === 0) return place([], replies)
        if (stack.length >= maxDepth) throw new FrameError(`arrays are nested deeper than ${maxDepth}`)
        stack.push({ items: [], count })
        return
      }
      default:
        throw new FrameError(`unknown type byte ${bytes[at]}`)
    }
  }

  const parse = (bytes: Buffer, replies: RespReply[]): number => {
    let at = 0
    need = 0
    while (at < bytes.length) {
      if (bulk >= 0) {
        const end = at + bulk
        if (bytes.length < end + 2) {
          need = bulk + 2
          return at
        }
        if (bytes[end] !== cr || bytes[end + 1] !== lf) throw new FrameError('a bulk string does not end where it said')
        const value = bytes.toString('latin1', at, end)
        bulk = -1
        at = end + 2
        place(value, replies)
        continue
      }
      const end = bytes.indexOf(lf, at === 0 ? scanned : at)
      scanned = 0
      if (end < 0) {
        if (bytes.length - at > maxLine) throw new FrameError(`a line is longer than ${maxLine} bytes`)
        scanned = bytes.length - at
        return at
      }
      if (end - at > maxLine) throw new FrameError(`a line is longer than ${maxLine} bytes`)
      if (bytes[end - 1] !== cr || end === at) throw new FrameError('a line ends without CR')
      line(bytes, at, end - 1, replies)
      at = end + 1
    }
    return at
  }

  return {
    get held() {
      return held.length
    },
    push(chunk) {
      const replies: RespReply[] = []
      let bytes = asBuffer(chunk)
      if (held.length > 0) {
        held.add(bytes, 0)
        if (held.length < need) return replies
        bytes = held.take()
      }
      const at = parse(bytes, replies)
      if (at < bytes.length) held.add(bytes, at)
      return replies
    },
  }
}

/**
 * A command as clients send it. Text is UTF-8.
 *
 * @example
 * connection.write(encodeRespRequest(['SET', 'key', 'value']))
 */
export function encodeRespRequest(args: readonly (string | Uint8Array)[]): Buffer {
  const all = checkList<string | Uint8Array>('args', args, (arg) => typeof arg === 'string' || isUint8Array(arg), 'text and bytes')
  const parts: Uint8Array[] = [Buffer.from(`*${all.length}\r\n`)]
  for (const arg of all) {
    const bytes = typeof arg === 'string' ? Buffer.from(arg) : arg
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'))
  }
  return Buffer.concat(parts)
}
