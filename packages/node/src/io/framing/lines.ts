// Lines of text: what ends with LF or CRLF.

import { checkOptions, lineFramingChecks } from '../limits.ts'
import { asBuffer, type Decoder, FrameError, Held } from './decoder.ts'

const lf = 10
const cr = 13

/**
 * Text lines without their ends, as strings.
 *
 * Guarantees: the same lines however the stream was cut, also inside a character. Fails: `FrameError` for a line of
 * more than `maxLength` bytes (65,536 if left out), without holding more than that.
 *
 * @example
 * const decoder = lines()
 * for (const line of decoder.push(chunk)) ctx.self.tell({ type: 'line', line })
 */
export function lines(options: { readonly maxLength?: number | undefined; readonly encoding?: BufferEncoding | undefined } = {}): Decoder<string> & {
  /** What came after the last line end; the last line of a stream that does not end with one. */
  rest(): string
} {
  const { maxLength = 65_536, encoding = 'utf8' } = checkOptions('lines', options, lineFramingChecks)
  const held = new Held()
  const text = (bytes: Buffer, from: number, to: number): string => bytes.toString(encoding, from, to > from && bytes[to - 1] === cr ? to - 1 : to)
  return {
    get held() {
      return held.length
    },
    rest: () => held.take().toString(encoding),
    push(chunk) {
      const bytes = asBuffer(chunk)
      const found: string[] = []
      let from = 0
      for (let at = bytes.indexOf(lf); at >= 0; at = bytes.indexOf(lf, from)) {
        if (held.length + at - from > maxLength) throw new FrameError(`a line is longer than ${maxLength} bytes`)
        if (held.length > 0) {
          held.add(bytes.subarray(0, at), from)
          const all = held.take()
          found.push(text(all, 0, all.length))
        } else found.push(text(bytes, from, at))
        from = at + 1
      }
      const left = bytes.length - from
      if (held.length + left > maxLength) throw new FrameError(`a line is longer than ${maxLength} bytes`)
      if (left > 0) held.add(bytes, from)
      return found
    },
  }
}
