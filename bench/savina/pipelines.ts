// Savina's pipelines: radix sort, filter bank, sieve of Eratosthenes. Actors in a row, each doing a little.

import { type Address, type Benchmark, Dice, expectClose, expectEqual, type Stage } from './stage.ts'

type Value = { type: 'value'; value: number }
const radixValues = 20_000
const radixTop = 1 << 20

export const radixSort: Benchmark = {
  name: 'radix sort',
  unit: 'messages',
  operations: radixValues * 20,
  kind: 'messages',
  run: (stage, finish) => {
    let last = -1
    let sorted = true
    let seen = 0
    let next: Address<Value> = stage.spawn<Value>((m) => {
      if (m.value < last) sorted = false
      last = m.value
      if (++seen === radixValues) finish(sorted)
    })
    // One actor per bit: zeros pass at once, ones wait until all have come. The lowest bit comes first.
    for (let bit = radixTop >> 1; bit > 0; bit >>= 1) next = radixStage(stage, bit, next)
    const dice = new Dice(11)
    for (let i = 0; i < radixValues; i++) next.tell({ type: 'value', value: dice.roll(radixTop) })
  },
  check: (result) => expectEqual(result, true, 'radix sort'),
}

function radixStage(stage: Stage, bit: number, next: Address<Value>): Address<Value> {
  const ones: number[] = []
  let seen = 0
  return stage.spawn<Value>((m) => {
    if ((m.value & bit) === 0) next.tell({ type: 'value', value: m.value })
    else ones.push(m.value)
    if (++seen < radixValues) return false
    for (const value of ones) next.tell({ type: 'value', value })
    return true
  })
}

type Sample = { type: 'sample'; value: number } | { type: 'part'; branch: number; value: number }
const channels = 8
const columns = 32_768
const taps = 16

export const filterBank: Benchmark = {
  name: 'filter bank',
  unit: 'samples',
  operations: columns,
  kind: 'compute',
  run: (stage, finish) => {
    let sum = 0
    let seen = 0
    const queues: number[][] = Array.from({ length: channels }, () => [])
    const combine = stage.spawn<Sample>((m) => {
      if (m.type !== 'part') return false
      queues[m.branch]!.push(m.value)
      if (queues.some((q) => q.length === 0)) return false
      for (const q of queues) sum += q.shift()!
      if (++seen === columns) finish(sum)
      return seen === columns
    })
    const branches = Array.from({ length: channels }, (_, b) => bankBranch(stage, b, combine))
    const source = stage.spawn<Sample>((m) => {
      if (m.type === 'sample') for (const branch of branches) branch.tell({ type: 'sample', value: m.value })
    })
    for (let i = 0; i < columns; i++) source.tell({ type: 'sample', value: i % 1_000 })
  },
  check: (result) => {
    let expected = 0
    const filters = Array.from({ length: channels }, (_, b) => [new Fir(b), new Delay(b + 1), new Fir(b + channels)] as const)
    for (let i = 0; i < columns; i++) for (const [first, line, second] of filters) expected += second.feed(line.feed(first.feed(i % 1_000)))
    expectClose(result, expected, Math.abs(expected) * 1e-9, 'filter bank')
  },
}

/** A finite impulse response filter with coefficients that depend on its number. */
class Fir {
  readonly #coefficients: number[]
  readonly #window: number[] = new Array<number>(taps).fill(0)
  #at = 0
  constructor(id: number) {
    this.#coefficients = Array.from({ length: taps }, (_, i) => ((id + 1) * (i + 1)) / (taps * channels * 2))
  }
  feed(value: number): number {
    this.#window[this.#at] = value
    let sum = 0
    for (let i = 0; i < taps; i++) sum += this.#window[(this.#at + i) % taps]! * this.#coefficients[i]!
    this.#at = (this.#at + taps - 1) % taps
    return sum
  }
}

/** Gives back what it was fed some samples ago. */
class Delay {
  readonly #line: number[]
  #at = 0
  constructor(length: number) {
    this.#line = new Array<number>(length).fill(0)
  }
  feed(value: number): number {
    const old = this.#line[this.#at]!
    this.#line[this.#at] = value
    this.#at = (this.#at + 1) % this.#line.length
    return old
  }
}

/** One channel of the bank: filter, delay, filter, each an actor. */
function bankBranch(stage: Stage, branch: number, combine: Address<Sample>): Address<Sample> {
  const second = new Fir(branch + channels)
  const synthesis = stage.spawn<Sample>((m) => {
    if (m.type === 'sample') combine.tell({ type: 'part', branch, value: second.feed(m.value) })
  })
  const line = new Delay(branch + 1)
  const delay = stage.spawn<Sample>((m) => {
    if (m.type === 'sample') synthesis.tell({ type: 'sample', value: line.feed(m.value) })
  })
  const first = new Fir(branch)
  return stage.spawn<Sample>((m) => {
    if (m.type === 'sample') delay.tell({ type: 'sample', value: first.feed(m.value) })
  })
}

type Candidate = { type: 'candidate'; value: number } | { type: 'end' }
const sieveTop = 100_000
const sieveBlock = 1_000

export const sieve: Benchmark = {
  name: 'sieve',
  unit: 'candidates',
  operations: sieveTop / 2,
  kind: 'compute',
  run: (stage, finish) => {
    let primes = 1
    const found = (): void => void primes++
    const first = sieveStage(stage, 2, found, () => finish(primes))
    for (let value = 3; value < sieveTop; value += 2) first.tell({ type: 'candidate', value })
    first.tell({ type: 'end' })
  },
  check: (result) => expectEqual(result, 9_592, 'sieve'),
}

/** Holds up to a block of primes; what passes all of them goes on, or founds the next block. */
function sieveStage(stage: Stage, prime: number, found: () => void, end: () => void): Address<Candidate> {
  const primes = [prime]
  let next: Address<Candidate> | undefined
  return stage.spawn<Candidate>((m) => {
    if (m.type === 'end') {
      if (next === undefined) end()
      else next.tell(m)
      return true
    }
    for (const p of primes) if (m.value % p === 0) return false
    if (primes.length < sieveBlock) {
      primes.push(m.value)
      found()
    } else if (next === undefined) {
      found()
      next = sieveStage(stage, m.value, found, end)
    } else next.tell({ type: 'candidate', value: m.value })
    return false
  })
}
