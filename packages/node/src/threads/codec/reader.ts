// Turns bytes back into values. The counterpart of the writer: it learns shapes and words as they are defined, in the
// order in which they were written.

import { ActorError, type FailureKind, type Severity } from 'troupe'
import { binaryKinds, inlineIntegers, tag, wordTable } from './tags.ts'

/** Reads what only the threads know about. */
export interface RefReader {
  readRef(reader: Reader): unknown
  /** The value that went by port instead. */
  readCargo(): unknown
}

type ShapeReader = (reader: Reader) => unknown

export class Reader {
  buffer: Buffer = Buffer.alloc(0)
  #view: DataView = new DataView(new ArrayBuffer(0))
  position = 0
  readonly #refs: RefReader
  readonly #shapes: ShapeReader[] = []
  readonly #words: string[] = new Array<string>(wordTable).fill('')

  constructor(refs: RefReader) {
    this.#refs = refs
  }

  begin(buffer: Buffer): void {
    if (this.buffer !== buffer) {
      this.buffer = buffer
      this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
    }
    this.position = 0
  }

  byte(): number {
    return this.buffer[this.position++]!
  }
  whole(): number {
    const { buffer } = this
    let byte = buffer[this.position++]!
    if (byte < 128) return byte
    let value = byte & 127
    byte = buffer[this.position++]!
    value |= (byte & 127) << 7
    if (byte < 128) return value
    byte = buffer[this.position++]!
    value |= (byte & 127) << 14
    if (byte < 128) return value
    let scale = 2 ** 21
    do {
      byte = buffer[this.position++]!
      value += (byte & 127) * scale
      scale *= 128
    } while (byte >= 128)
    return value
  }
  double(): number {
    const value = this.#view.getFloat64(this.position)
    this.position += 8
    return value
  }
  text(): string {
    const length = this.whole()
    const start = this.position
    this.position += length
    return this.buffer.toString('utf8', start, start + length)
  }

  value(): unknown {
    const first = this.buffer[this.position++]!
    if (first >= tag.firstInteger) return first - inlineIntegers
    if (first >= tag.firstShape) return this.#shapes[first - tag.firstShape]!(this)
    switch (first) {
      case tag.word:
        return this.#words[this.whole()]
      case tag.positive:
        return this.whole()
      case tag.negative:
        return -1 - this.whole()
      case tag.double:
        return this.double()
      case tag.utf8:
        return this.text()
      case tag.true:
        return true
      case tag.false:
        return false
      case tag.null:
        return null
      case tag.shape:
        return this.#shapes[this.whole()]!(this)
      default:
        return this.#rare(first)
    }
  }

  #rare(first: number): unknown {
    switch (first) {
      case tag.undefined:
        return undefined
      case tag.wordDefined: {
        const index = this.whole()
        const length = this.byte()
        const start = this.position
        this.position += length
        return (this.#words[index] = this.buffer.toString('latin1', start, start + length))
      }
      case tag.array:
        return this.#array()
      case tag.shapeDefined: {
        const read = shapeReader(this.#keys())
        this.#shapes.push(read)
        return read(this)
      }
      case tag.object: {
        const result: Record<string, unknown> = {}
        for (let left = this.whole(); left > 0; left--) define(result, this.text(), this.value())
        return result
      }
      case tag.map: {
        const map = new Map<unknown, unknown>()
        for (let left = this.whole(); left > 0; left--) {
          const key = this.value()
          map.set(key, this.value())
        }
        return map
      }
      case tag.set: {
        const set = new Set<unknown>()
        for (let left = this.whole(); left > 0; left--) set.add(this.value())
        return set
      }
      case tag.date:
        return new Date(this.double())
      case tag.bigint:
        return BigInt(this.text())
      case tag.regexp: {
        const source = this.text()
        return new RegExp(source, this.text())
      }
      case tag.error:
        return this.#error()
      case tag.bytes:
        return this.#binary()
      case tag.ref:
        return this.#refs.readRef(this)
      case tag.cargo:
        return this.#refs.readCargo()
      default:
        throw new Error(`Unknown tag ${first} at ${this.position}: the two ends of a channel disagree. This is a bug of Troupe.`)
    }
  }

  #keys(): string[] {
    const keys: string[] = []
    for (let left = this.whole(); left > 0; left--) keys.push(this.text())
    return keys
  }

  #array(): unknown[] {
    const length = this.whole()
    const array: unknown[] = length > 1024 ? [] : new Array<unknown>(length)
    array.length = length
    for (let i = 0; i < length; i++) {
      if (this.buffer[this.position] === tag.hole) this.position++
      else array[i] = this.value()
    }
    return array
  }

  #binary(): unknown {
    const kind = binaryKinds[this.byte()]!
    const length = this.whole()
    const bytes = new Uint8Array(length)
    bytes.set(this.buffer.subarray(this.position, this.position + length))
    this.position += length
    if ((kind as unknown) === Uint8Array) return bytes
    return (kind as unknown) === ArrayBuffer ? bytes.buffer : new kind(bytes.buffer)
  }

  #error(): Error {
    const name = this.text()
    const message = this.text()
    const stack = this.text()
    const extra: Record<string, unknown> = {}
    for (let left = this.whole(); left > 0; left--) define(extra, this.text(), this.value())
    const caused = this.byte() === 1
    const cause = caused ? this.value() : undefined
    return errorFrom(name, message, stack, extra, caused ? { cause } : undefined)
  }
}

const known: Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>> = {
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  URIError,
  EvalError,
}

function errorFrom(name: string, message: string, stack: string, extra: Record<string, unknown>, options: ErrorOptions | undefined): Error {
  const error = extra['code'] === 'actor-error' ? actorError(message, extra, options) : new (known[name] ?? Error)(message, options)
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  Object.defineProperty(error, 'stack', { value: stack, configurable: true, writable: true })
  for (const [key, value] of Object.entries(extra)) if (!Object.hasOwn(error, key)) define(error as never, key, value)
  return error
}

/** Supervision looks at what kind of failure it is, so that error must be itself again. */
function actorError(message: string, extra: Record<string, unknown>, options: ErrorOptions | undefined): Error {
  const retry = extra['retry'] as { max: number; within: number } | undefined
  try {
    return new ActorError(message, {
      kind: extra['kind'] as FailureKind,
      severity: extra['severity'] as Severity,
      labels: extra['labels'] as Record<string, string>,
      ...(retry === undefined ? undefined : { retry }),
      ...options,
    })
  } catch {
    return new Error(message, options)
  }
}

function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}

/** Code made for one shape gives its objects one hidden class, which handlers thank with speed. */
function shapeReader(keys: readonly string[]): ShapeReader {
  try {
    const fields = keys.map((key) => `${key === '__proto__' ? '["__proto__"]' : JSON.stringify(key)}: reader.value()`)
    // oxlint-disable-next-line typescript/no-implied-eval -- from keys only, each quoted
    return new Function('reader', `return { ${fields.join(', ')} }`) as ShapeReader
  } catch {
    return (reader) => {
      const result: Record<string, unknown> = {}
      for (const key of keys) define(result, key, reader.value())
      return result
    }
  }
}
