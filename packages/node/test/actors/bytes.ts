// Feeds a reader bytes that no writer made: whatever they are, it returns a value or refuses them, at once, and takes no more
// memory than they account for.

import fc from 'fast-check'
import { getHeapStatistics } from 'node:v8'
import { Maker } from './making.ts'
import { recipes } from './recipes.ts'

/** What is tried, from the sources or as built. */
export interface Codec {
  readonly Reader: new (refs: { readRef(reader: never): unknown; readFreight(): readonly unknown[] }) => BytesReader
  readonly Writer: new (size: number, refs: { write(): boolean }) => BytesWriter
}
interface BytesReader {
  position: number
  readonly end: number
  begin(bytes: Buffer): void
  value(): unknown
  byte(): number
  whole(): number
}
interface BytesWriter {
  position: number
  readonly buffer: Buffer
  begin(): number
  rollback(to: number): void
  value(value: unknown): void
  commit(): void
  empty(): void
}

export interface BytesReport {
  inputs: number
  bytes: number
  values: number
  refused: number
  /** What was thrown that is no refusal; the first of them, with its input. */
  others: number
  firstOther: string | undefined
  /** Milliseconds that the slowest input took, and its size. */
  worst: number
  worstBytes: number
  /** Inputs whose memory was measured, and what the greediest took for each byte beyond what reading nothing takes. */
  measured: number
  greediest: number
  greediestInput: string
}

/** Bytes that were bad for somebody once. */
export const evil: readonly (readonly number[])[] = [
  [0x0c, 0x80, 0x94, 0xeb, 0xdc, 0x03],
  [0x14, 0x00, 0x80, 0x80, 0x80, 0x80, 0x08],
  [0x0b, 0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x1b, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00],
  [0x12, 0x00, 0x02, 0x30],
  [0x15, 0x02, 0x28, 0x00],
  [0x19, 0x01, 0x1a, 0x00],
  [0x13, 0x01, 0x00, 0x00, 0x00, 0x02, 0x7b],
]

/** What reading may take for each byte, beyond what a reader and a refusal take by themselves. */
export const perByte = 256
const refusal: Buffer = Buffer.from([31])
/** What measuring is off by. */
const slack = 512

export class BytesFuzz {
  readonly report: BytesReport = {
    inputs: 0,
    bytes: 0,
    values: 0,
    refused: 0,
    others: 0,
    firstOther: undefined,
    worst: 0,
    worstBytes: 0,
    measured: 0,
    greediest: 0,
    greediestInput: '',
  }
  readonly #codec: Codec
  readonly #random: (below: number) => number
  readonly #corpus: Buffer[] = []
  readonly #gc: (() => void) | undefined
  #besides: number | undefined

  constructor(codec: Codec, seed: number, gc: (() => void) | undefined) {
    this.#codec = codec
    this.#gc = gc
    let state = seed >>> 0 || 1
    this.#random = (below) => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return (state >>> 0) % below
    }
    for (const recipe of fc.sample(recipes, { numRuns: 400, seed }))
      this.#add(new Maker({ standIn: false, refs: ['a ref'], tell: () => {} }).make(recipe))
  }
  #add(value: unknown): void {
    const writer = new this.#codec.Writer(256, { write: () => false })
    const start = writer.begin()
    try {
      writer.value(value)
      if (writer.position < 4096) this.#corpus.push(Buffer.from(writer.buffer.subarray(0, writer.position)))
    } catch {
      writer.rollback(start)
    }
  }

  run(inputs: number, measureEvery: number): void {
    for (let i = 0; i < inputs; i++) {
      const input = i < evil.length ? Buffer.from(evil[i]!) : this.#input()
      this.#try(input)
      if (this.#gc !== undefined && i % measureEvery === 0) this.#measure(input)
    }
  }

  #input(): Buffer {
    switch (this.#random(8)) {
      case 0:
      case 1:
        return this.#bytes(this.#random(64), 256)
      case 2:
        // Tags mostly, and small numbers.
        return this.#bytes(this.#random(48), 34)
      case 3:
        return Buffer.concat([Buffer.from(evil[this.#random(evil.length)]!), this.#bytes(this.#random(40), 40)])
      default: {
        let bytes: Buffer = Buffer.from(this.#corpus[this.#random(this.#corpus.length)]!)
        for (let times = 1 + this.#random(4); times > 0; times--) bytes = this.#mutated(bytes)
        return bytes
      }
    }
  }
  #bytes(length: number, below: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let i = 0; i < length; i++) bytes[i] = this.#random(below)
    return bytes
  }
  #mutated(bytes: Buffer): Buffer {
    const at = this.#random(bytes.length + 1)
    switch (this.#random(6)) {
      case 0:
        if (at < bytes.length) bytes[at] = bytes[at]! ^ (1 << this.#random(8))
        return bytes
      case 1:
        if (at < bytes.length) bytes[at] = this.#random(256)
        return bytes
      case 2:
        return bytes.subarray(0, at)
      case 3:
        return Buffer.concat([bytes.subarray(0, at), this.#bytes(this.#random(12), this.#random(2) === 0 ? 34 : 256), bytes.subarray(at)])
      case 4: {
        const other = this.#corpus[this.#random(this.#corpus.length)]!
        return Buffer.concat([bytes.subarray(0, at), other.subarray(this.#random(other.length + 1))])
      }
      default:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(this.#random(at + 1))])
    }
  }

  #try(input: Buffer): void {
    const { report } = this
    const since = performance.now()
    try {
      this.#read(input)
      report.values++
    } catch (cause) {
      if ((cause as { code?: unknown }).code === 'bad-record') report.refused++
      else {
        report.others++
        report.firstOther ??= `${String(cause)} at ${input.toString('hex').slice(0, 200)}`
      }
    }
    let took = performance.now() - since
    // Whoever else has the processor makes one reading slow, hardly three of the same.
    for (let again = 0; again < 2 && took > report.worst && took > 5; again++) took = Math.min(took, this.#time(input))
    if (took > report.worst) {
      report.worst = took
      report.worstBytes = input.length
    }
    report.inputs++
    report.bytes += input.length
  }
  #time(input: Buffer): number {
    const since = performance.now()
    try {
      this.#read(input)
    } catch {
      // As before.
    }
    return performance.now() - since
  }
  #read(input: Buffer): unknown[] {
    const reader = new this.#codec.Reader({
      readRef: (r: BytesReader) => {
        r.byte()
        return r.whole()
      },
      readFreight: () => leaves,
    })
    reader.begin(input)
    const values: unknown[] = []
    while (reader.position < reader.end) values.push(reader.value())
    return values
  }

  #measure(input: Buffer): void {
    if (input.length === 0) return
    this.#besides ??= this.#taken(refusal)
    // Whatever else the process did meanwhile is in one of them, hardly in all.
    const taken = Math.min(this.#taken(input), this.#taken(input), this.#taken(input))
    this.report.measured++
    const { greediest } = this.report
    if ((taken - this.#besides - slack) / input.length <= greediest) return
    // What the engine does besides comes in spells, which last longer than a measurement: one that would be told is compared with a refusal of
    // the same moment, five times.
    const differences = Array.from({ length: 5 }, () => this.#taken(input) - this.#taken(refusal)).toSorted((a, b) => a - b)
    const each = (differences[2]! - slack) / input.length
    if (each <= greediest) return
    this.report.greediest = each
    this.report.greediestInput = input.toString('hex').slice(0, 120)
  }
  /** What the input takes, of many readings of it, all of them kept, so that nothing is collected meanwhile. */
  #taken(input: Buffer): number {
    // Memory is counted by the page: of small inputs it takes many to tell.
    const times = input.length <= 128 ? 1024 : 64
    const kept: unknown[] = new Array<unknown>(times)
    // Where a refusal came from takes memory too, and always the same.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    this.#gc!()
    const before = used()
    for (let i = 0; i < times; i++) {
      try {
        kept[i] = this.#read(input)
      } catch (cause) {
        kept[i] = cause
      }
    }
    const after = used()
    Error.stackTraceLimit = stackTraceLimit
    kept.fill(undefined)
    return (after - before) / times
  }
}
const leaves = [new ArrayBuffer(8), 'text']

function used(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}
