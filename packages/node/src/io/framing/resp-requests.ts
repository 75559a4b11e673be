// What a Redis client sends: arrays of bulk strings, and inline commands. Incremental: each argument is taken as soon
// as it is complete, so that neither a drip of single bytes nor a command of a million arguments is ever read twice.
// Every number a peer can choose is checked against a bound before anything is kept for it.

import { checkOptions, requestFramingChecks } from '../limits.ts'
import { asBuffer, type Decoder, FrameError, Held } from './decoder.ts'

/** The bounds of one command. */
export interface RespRequestOptions<A> {
  /** Makes an argument of its bytes; by default binary-safe text, one char per byte (`latin1`). */
  readonly argument?: ((bytes: Buffer, from: number, to: number) => A) | undefined
  /** Arguments of one command; 1,048,576 if left out. */
  readonly maxArguments?: number | undefined
  /** Bytes of one argument; 64 MiB if left out. */
  readonly maxBulk?: number | undefined
  /** Bytes of all arguments of one command; 64 MiB if left out. */
  readonly maxCommand?: number | undefined
  /** Bytes of an inline command; 65,536 if left out. */
  readonly maxInline?: number | undefined
}

const lf = 10
const cr = 13
const dollar = 36
const star = 42
const minus = 45
const space = 32
const doubleQuote = 34
const singleQuote = 39
/** A sign, ten digits and the line end fit; nothing longer is a length. */
const longestHeader = 32

/** What `respRequests` makes: a decoder of commands, each an array of its arguments. */
export class RespRequests<A> implements Decoder<A[]> {
  readonly #argument: (bytes: Buffer, from: number, to: number) => A
  readonly #maxArguments: number
  readonly #maxBulk: number
  readonly #maxCommand: number
  readonly #maxInline: number
  readonly #held = new Held()
  /** Bytes in `held` that are known to contain no line end. */
  #scanned = 0
  /** Bytes wanted before it is worth looking again. */
  #need = 0
  #args: A[] = []
  #missing = 0
  #size = 0
  /** Length of the bulk whose body comes next; -1 when its header does. */
  #bulk = -1

  constructor(options: RespRequestOptions<A>) {
    const read = checkOptions('respRequests', options, requestFramingChecks)
    this.#argument = read.argument ?? (latin1 as (bytes: Buffer, from: number, to: number) => never)
    this.#maxArguments = read.maxArguments ?? 1024 * 1024
    this.#maxBulk = read.maxBulk ?? 64 * 1024 * 1024
    this.#maxCommand = read.maxCommand ?? 64 * 1024 * 1024
    this.#maxInline = read.maxInline ?? 65_536
  }

  get held(): number {
    return this.#held.length + this.#size
  }

  push(chunk: Uint8Array): A[][] {
    const commands: A[][] = []
    this.read(chunk, commands)
    return commands
  }

  /** As `push`, but leaves what was complete before a `FrameError` in `commands`. */
  read(chunk: Uint8Array, commands: A[][]): void {
    let bytes = asBuffer(chunk)
    const held = this.#held
    if (held.length > 0) {
      held.add(bytes, 0)
      if (held.length < this.#need) return
      bytes = held.take()
    }
    const at = this.#parse(bytes, commands)
    if (at < bytes.length) held.add(bytes, at)
  }

  /** Takes what is complete; returns where the rest begins. */
  #parse(bytes: Buffer, commands: A[][]): number {
    let at = 0
    this.#need = 0
    while (at < bytes.length) {
      if (this.#bulk >= 0) {
        const end = at + this.#bulk
        if (bytes.length < end + 2) {
          this.#need = this.#bulk + 2
          return at
        }
        if (bytes[end] !== cr || bytes[end + 1] !== lf) throw new FrameError('a bulk string does not end where it said')
        this.#args.push(this.#argument(bytes, at, end))
        this.#bulk = -1
        at = end + 2
        if (--this.#missing === 0) commands.push(this.#complete())
        continue
      }
      if (this.#missing === 0 && bytes[at] !== star) {
        const next = this.#inline(bytes, at, commands)
        if (next < 0) return at
        at = next
        continue
      }
      // The mark first: whether more of its line has come must make no difference.
      if (this.#missing > 0 && bytes[at] !== dollar) throw new FrameError(`expected '$', got '${printable(bytes[at]!)}'`)
      const end = this.#header(bytes, at)
      if (end < 0) return at
      if (this.#missing === 0) this.#begin(readLength(bytes, at + 1, end))
      else this.#expect(readLength(bytes, at + 1, end))
      at = end + 2
    }
    return at
  }

  #complete(): A[] {
    const args = this.#args
    this.#args = []
    this.#size = 0
    return args
  }

  /** Where the CR of the header at `at` is; -1 when it is not there yet. */
  #header(bytes: Buffer, at: number): number {
    const last = Math.min(bytes.length, at + longestHeader)
    for (let i = at + 1; i < last; i++) {
      if (bytes[i] !== cr) continue
      if (i + 1 === bytes.length) return -1
      if (bytes[i + 1] === lf) return i
      break
    }
    if (last < at + longestHeader && bytes.indexOf(cr, at) < 0) return -1
    throw new FrameError(this.#missing === 0 ? 'invalid multibulk length' : 'invalid bulk length')
  }

  #begin(count: number): void {
    if (Number.isNaN(count) || count > this.#maxArguments) throw new FrameError('invalid multibulk length')
    // `*0` and `*-1` are commands without a word; Redis skips them, and so do we.
    if (count > 0) this.#missing = count
  }

  #expect(length: number): void {
    if (!(length >= 0) || length > this.#maxBulk) throw new FrameError('invalid bulk length')
    this.#size += length
    if (this.#size > this.#maxCommand) throw new FrameError('the command is too large')
    this.#bulk = length
  }

  /** Reads a line of words; returns where the next command begins, or -1. */
  #inline(bytes: Buffer, at: number, commands: A[][]): number {
    const end = bytes.indexOf(lf, at === 0 ? this.#scanned : at)
    if (end < 0) {
      if (bytes.length - at > this.#maxInline) throw new FrameError('too big inline request')
      this.#scanned = bytes.length - at
      return -1
    }
    this.#scanned = 0
    if (end - at > this.#maxInline) throw new FrameError('too big inline request')
    const to = end > at && bytes[end - 1] === cr ? end - 1 : end
    const args = this.#words(bytes, at, to)
    if (args.length > 0) commands.push(args)
    return end + 1
  }

  /** The words of a line, each taken where it stands, as bulk strings are; only quotes need them put together. */
  #words(bytes: Buffer, at: number, to: number): A[] {
    const args: A[] = []
    let i = at
    for (;;) {
      while (i < to && isSpace(bytes[i]!)) i++
      if (i >= to) return args
      const from = i
      for (; i < to; i++) {
        const byte = bytes[i]!
        if (isSpace(byte)) break
        if (byte === doubleQuote || byte === singleQuote) return this.#quoted(bytes.toString('latin1', at, to))
      }
      args.push(this.#argument(bytes, from, i))
    }
  }
  #quoted(line: string): A[] {
    const words = splitWords(line)
    if (words === undefined) throw new FrameError('unbalanced quotes in request')
    return words.map((word) => {
      const raw = Buffer.from(word, 'latin1')
      return this.#argument(raw, 0, raw.length)
    })
  }
}

/**
 * What a Redis client sends, as arrays of arguments.
 *
 * Guarantees: the same commands however the stream was cut; holds no more than its bounds and twice what arrived.
 * Fails: `FrameError` with Redis' own words for it; the stream cannot go on.
 *
 * @example
 * const decoder = respRequests()
 * for (const [name, ...args] of decoder.push(chunk)) run(name, args)
 */
export function respRequests(options?: RespRequestOptions<string> & { readonly argument?: undefined }): RespRequests<string>
export function respRequests<A>(options: RespRequestOptions<A>): RespRequests<A>
export function respRequests<A>(options: RespRequestOptions<A> = {}): RespRequests<A> {
  return new RespRequests(options)
}

function latin1(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('latin1', from, to)
}

/** The number between `from` and `to`; NaN where it is none. */
export function readLength(bytes: Buffer, from: number, to: number): number {
  let i = from
  const negative = bytes[i] === minus
  if (negative) i++
  if (i === to || to - i > 10) return Number.NaN
  let n = 0
  for (; i < to; i++) {
    const digit = bytes[i]! - 48
    if (digit < 0 || digit > 9) return Number.NaN
    n = n * 10 + digit
  }
  return negative ? -n : n
}

function printable(byte: number): string {
  return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' }

/** Words as Redis splits them: quotes, and escapes inside double ones; undefined for quotes that do not close. */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = []
  let i = 0
  for (;;) {
    while (i < line.length && isSpace(line.charCodeAt(i))) i++
    if (i >= line.length) return words
    let word = ''
    while (i < line.length && !isSpace(line.charCodeAt(i))) {
      const quote = line[i]!
      if (quote !== '"' && quote !== "'") {
        word += quote
        i++
        continue
      }
      i++
      for (;;) {
        if (i >= line.length) return undefined
        const c = line[i]!
        if (c === quote) break
        const hex = quote === '"' && c === '\\' ? /^\\x([0-9a-fA-F]{2})/.exec(line.slice(i, i + 4)) : null
        if (hex !== null) {
          word += String.fromCharCode(Number.parseInt(hex[1]!, 16))
          i += 4
        } else if (c === '\\' && i + 1 < line.length && (quote === '"' || line[i + 1] === "'")) {
          word += escapes[quote === '"' ? line[i + 1]! : ''] ?? line[i + 1]!
          i += 2
        } else {
          word += c
          i++
        }
      }
      i++
      if (i < line.length && !isSpace(line.charCodeAt(i))) return undefined
    }
    words.push(word)
  }
}

/** A blank, a tab, a line end of any kind, or a zero. */
function isSpace(byte: number): boolean {
  return byte === space || (byte >= 9 && byte <= cr) || byte === 0
}
