import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Decoder } from './decoder.ts'
import { encodeLengthPrefixed, lengthPrefixed } from './length-prefixed.ts'
import { lines } from './lines.ts'
import { encodeRespRequest, respReplies } from './resp-replies.ts'
import { respRequests, splitWords } from './resp-requests.ts'

/** Feeds the bytes cut at the given places; gives the frames, or the first error's message. */
function feed<F>(decoder: Decoder<F>, bytes: Buffer, cuts: readonly number[]): { frames: F[]; error: string | undefined } {
  const places = [...new Set(cuts.map((c) => c % (bytes.length + 1)))].sort((a, b) => a - b)
  const frames: F[] = []
  let from = 0
  try {
    for (const to of [...places, bytes.length]) {
      frames.push(...decoder.push(bytes.subarray(from, to)))
      from = to
    }
    return { frames, error: undefined }
  } catch (cause) {
    return { frames, error: (cause as Error).message }
  }
}

const cuts = fc.array(fc.nat(10_000), { maxLength: 30 })

test('lines are the same however the stream is cut, also inside a character', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }).filter((s) => !/[\n\r]/.test(s))), cuts, fc.constantFrom('\n', '\r\n'), (texts, at, end) => {
      const bytes = Buffer.from(texts.map((t) => t + end).join('') + 'rest')
      const decoder = lines()
      expect(feed(decoder, bytes, at).frames).toEqual(texts)
      expect(decoder.rest()).toBe('rest')
    }),
  )
})

test('a line beyond its bound fails without being held', () => {
  const decoder = lines({ maxLength: 10 })
  decoder.push(Buffer.from('12345'))
  expect(() => decoder.push(Buffer.alloc(1000))).toThrow(/longer than 10 bytes/)
  expect(decoder.held).toBeLessThanOrEqual(10)
})

test('length-prefixed frames survive any cut, for each size of the prefix', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), cuts, fc.constantFrom(1 as const, 2 as const, 4 as const), (payloads, at, prefix) => {
      const bytes = Buffer.concat(payloads.map((p) => encodeLengthPrefixed(p, { prefix })))
      const { frames } = feed(lengthPrefixed({ prefix }), bytes, at)
      expect(frames.map((f) => f.toString('hex'))).toEqual(payloads.map((p) => Buffer.from(p).toString('hex')))
    }),
  )
})

test('a length above the bound fails at once, and a frame that does not fit its prefix is refused', () => {
  expect(() => lengthPrefixed({ maxLength: 100 }).push(Buffer.from([0, 0, 0, 101]))).toThrow(/announces 101 bytes/)
  expect(() => encodeLengthPrefixed(Buffer.alloc(256), { prefix: 1 })).toThrow(/do not fit/)
})

test('redis requests are the same however the stream is cut, with any bytes inside', () => {
  const command = fc.array(fc.uint8Array({ maxLength: 100 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(fc.array(command, { maxLength: 10 }), cuts, (commands, at) => {
      const bytes = Buffer.concat(commands.map(encodeRespRequest))
      const { frames, error } = feed(respRequests(), bytes, at)
      expect(error).toBeUndefined()
      expect(frames).toEqual(commands.map((args) => args.map((a) => Buffer.from(a).toString('latin1'))))
    }),
  )
})

test('any bytes at all, cut anywhere, give the same commands or the same error', () => {
  const token = fc.constantFrom(
    '*',
    '$',
    '\r\n',
    '\n',
    '0',
    '1',
    '2',
    '3',
    '-1',
    'PING',
    ' ',
    '"',
    "'",
    '\\x41',
    '*1\r\n$4\r\nPING\r\n',
    '999999999999',
  )
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((b) => Buffer.from(b)),
    fc.array(token, { maxLength: 20 }).map((t) => Buffer.from(t.join(''))),
  )
  fc.assert(
    fc.property(noise, cuts, (bytes, at) => {
      const whole = { commands: [] as string[][], error: undefined as string | undefined }
      try {
        respRequests().read(bytes, whole.commands)
      } catch (cause) {
        whole.error = (cause as Error).message
      }
      const cutUp: string[][] = []
      const decoder = respRequests()
      let error: string | undefined
      try {
        for (const chunk of pieces(bytes, at)) decoder.read(chunk, cutUp)
      } catch (cause) {
        error = (cause as Error).message
      }
      expect(cutUp).toEqual(whole.commands)
      expect(error).toEqual(whole.error)
    }),
    { numRuns: 2000, examples: [[Buffer.from('*1\r\n\r\n\r\n'), [5]]] },
  )
})

function* pieces(bytes: Buffer, at: readonly number[]): Generator<Buffer> {
  let from = 0
  for (const to of [...new Set(at.map((c) => c % (bytes.length + 1)))].sort((a, b) => a - b)) {
    yield bytes.subarray(from, to)
    from = to
  }
  yield bytes.subarray(from)
}

test.each([
  ['*1048577\r\n', /invalid multibulk length/],
  ['*99999999999999999999\r\n', /invalid multibulk length/],
  ['*1\r\n$99999999999\r\n', /invalid bulk length/],
  ['*1\r\n$-1\r\n', /invalid bulk length/],
  ['*1\r\n$67108865\r\n', /invalid bulk length/],
  ['*1\r\n:1\r\n', /expected '\$', got ':'/],
  ['*1\r\n$1\r\nab\r\n', /does not end/],
  ['*x\r\n', /invalid multibulk length/],
  [`*${'1'.repeat(40)}`, /invalid multibulk length/],
  ['set "a\r\n', /unbalanced quotes/],
])('hostile redis input %j is refused before anything is kept for it', (input, error) => {
  const decoder = respRequests()
  expect(() => decoder.push(Buffer.from(input))).toThrow(error)
})

test('an inline command beyond its bound is refused', () => {
  expect(() => respRequests().push(Buffer.alloc(65_537, 'x'))).toThrow(/too big inline/)
})

test('the sum of the arguments is bounded, not only each of them', () => {
  const decoder = respRequests({ maxBulk: 100, maxCommand: 150 })
  expect(() => decoder.push(Buffer.from(`*2\r\n$100\r\n${'x'.repeat(100)}\r\n$100\r\n`))).toThrow(/too large/)
})

test('a bulk that drips byte by byte is held at most twice, and read once', () => {
  const decoder = respRequests()
  decoder.push(Buffer.from('*1\r\n$20000\r\n'))
  for (let i = 0; i < 20_000; i++) decoder.push(Buffer.from('x'))
  expect(decoder.push(Buffer.from('\r\n'))).toEqual([['x'.repeat(20_000)]])
  expect(decoder.held).toBe(0)
})

test('empty commands and empty lines are skipped, inline words follow quotes', () => {
  expect(respRequests().push(Buffer.from('*0\r\n*-1\r\n\r\n\nPING\r\nset k "a b\\x00" \'c\'\n'))).toEqual([['PING'], ['set', 'k', 'a b\0', 'c']])
  expect(splitWords('a"b"')).toEqual(['ab'])
  expect(splitWords('"a"b')).toBeUndefined()
})

test('redis replies survive any cut, nested', () => {
  const bytes = Buffer.from('+OK\r\n-ERR no\r\n:-42\r\n$3\r\na\r\n\r\n$-1\r\n*3\r\n:1\r\n*2\r\n+a\r\n*0\r\n$1\r\nb\r\n*-1\r\n')
  const expected = ['OK', { error: 'ERR no' }, -42, 'a\r\n', null, [1, ['a', []], 'b'], null]
  fc.assert(
    fc.property(cuts, (at) => {
      expect(feed(respReplies(), bytes, at)).toEqual({ frames: expected, error: undefined })
    }),
  )
})

test('replies nested too deeply are refused', () => {
  expect(() => respReplies().push(Buffer.from('*1\r\n'.repeat(17)))).toThrow(/nested deeper/)
})

test('an inline command has the words that splitWords finds, with quotes and without, however it was cut', () => {
  const letter = fc.constantFrom('a', 'B', ' ', '\t', '\v', '\f', '\0', '\r', '\\', '"', "'", '\xff')
  fc.assert(
    fc.property(fc.array(letter, { maxLength: 20 }), cuts, (letters, at) => {
      const line = `x${letters.join('')}`
      const words = splitWords(line)
      const { frames, error } = feed(respRequests(), Buffer.from(`${line}\r\n`, 'latin1'), at)
      if (words === undefined) expect(error).toMatch(/unbalanced quotes/)
      else expect(frames).toEqual([words])
    }),
  )
})
