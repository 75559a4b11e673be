// Frames with their length in front: 1, 2 or 4 bytes, big-endian.

import { checkOptions, lengthFramingChecks } from '../limits.ts'
import { asBuffer, checkChunk, type Decoder, FrameError, Held } from './decoder.ts'

/** How a length stands in front of its frame. */
export interface LengthPrefixOptions {
  /** Bytes of the length; 4 if left out. */
  readonly prefix?: 1 | 2 | 4 | undefined
  /** Bytes of the largest frame taken; 1 MiB if left out. */
  readonly maxLength?: number | undefined
}

/**
 * Frames with a big-endian length in front.
 *
 * Guarantees: never holds more than one frame, and only bytes that arrived. Fails: `FrameError` as soon as a length
 * above `maxLength` was read.
 *
 * @example
 * const decoder = lengthPrefixed({ prefix: 4 })
 * connection.write(encodeLengthPrefixed(payload, { prefix: 4 }))
 */
export function lengthPrefixed(options: LengthPrefixOptions = {}): Decoder<Buffer> {
  const { prefix = 4, maxLength = 1024 * 1024 } = checkOptions('lengthPrefixed', options, lengthFramingChecks)
  const held = new Held()
  let need = 0
  return {
    get held() {
      return held.length
    },
    push(chunk) {
      const frames: Buffer[] = []
      let bytes = asBuffer(chunk)
      if (held.length > 0) {
        held.add(bytes, 0)
        if (held.length < need) return frames
        bytes = held.take()
      }
      let at = 0
      need = 0
      while (bytes.length - at >= prefix) {
        const length = bytes.readUIntBE(at, prefix)
        if (length > maxLength) throw new FrameError(`it announces ${length} bytes, of which at most ${maxLength} are taken`)
        if (bytes.length - at - prefix < length) {
          need = prefix + length
          break
        }
        frames.push(bytes.subarray(at + prefix, at + prefix + length))
        at += prefix + length
      }
      if (at < bytes.length) held.add(bytes, at)
      return frames
    },
  }
}

/**
 * One frame with its length in front. Fails with `FrameError` where the length does not fit the prefix.
 *
 * @example
 * connection.write(encodeLengthPrefixed(Buffer.from('hello')))
 */
export function encodeLengthPrefixed(payload: Uint8Array, options: LengthPrefixOptions = {}): Buffer {
  const { prefix = 4 } = checkOptions('encodeLengthPrefixed', options, lengthFramingChecks)
  checkChunk('payload', payload)
  if (payload.length >= 2 ** (8 * prefix)) throw new FrameError(`${payload.length} bytes do not fit a length of ${prefix} bytes`)
  const frame = Buffer.allocUnsafe(prefix + payload.length)
  frame.writeUIntBE(payload.length, 0, prefix)
  frame.set(payload, prefix)
  return frame
}
