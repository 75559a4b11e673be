// What a benchmark of the suite needs of an actor system, so that each is written once and run on several: on Troupe
// with default options, and on the raw floor. A handler returns true when its actor shall stop.

import { ActorSystem, receive, same, stopped } from '@troupe/core'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'

export interface Address<M> {
  tell(message: M): void
}

export type Handler<M> = (message: M, self: Address<M>) => boolean | void

export interface Stage {
  spawn<M>(handler: Handler<M>): Address<M>
}

/** One benchmark: how much work it is, and the run, which calls `finish` with its result once. */
export interface Benchmark {
  readonly name: string
  /** What is counted, in words, for the report. */
  readonly unit: string
  /** How many of them one run is. */
  readonly operations: number
  /** Whether it is about messages (the floor is the queue) or about computing inside handlers. */
  readonly kind: 'messages' | 'compute'
  run(stage: Stage, finish: (result: unknown) => void): void
  /** Throws unless the result is right: a wrong result is a failure, not a time. */
  check(result: unknown): void
}

/** Runs it once on a system of its own; the time in ms until it finished, without the check and the shutdown. */
export async function onTroupe(benchmark: Benchmark): Promise<number> {
  const failures: unknown[] = []
  const note = (fields: Readonly<Record<string, unknown>>): void => void failures.push(fields['cause'])
  const started = performance.now()
  const system = ActorSystem.create('bench', {
    logger: { debug: () => {}, info: () => {}, warn: note, error: note, isLevelEnabled: (level) => level !== 'debug' },
  })
  const stage: Stage = {
    spawn: (handler) => system.spawn(receive((ctx, message) => (handler(message as never, ctx.self) === true ? stopped : same))),
  }
  const result = await new Promise((resolve) => benchmark.run(stage, resolve))
  const elapsed = performance.now() - started
  benchmark.check(result)
  await system.shutdown()
  if (failures.length > 0) throw failures[0]
  return elapsed
}

/** Runs it once on the floor; the time in ms until it finished, without the check. */
export async function onRaw(benchmark: Benchmark): Promise<number> {
  const started = performance.now()
  const system = new RawSystem()
  const stage: Stage = {
    spawn: <M>(handler: Handler<M>) => {
      const actor: RawActor<M> = new RawActor<M>(system, (message) => void handler(message, actor))
      return actor
    },
  }
  const result = await new Promise((resolve) => benchmark.run(stage, resolve))
  const elapsed = performance.now() - started
  benchmark.check(result)
  return elapsed
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (!Object.is(actual, expected)) throw new Error(`${what}: expected ${String(expected)}, got ${String(actual)}`)
}

export function expectClose(actual: unknown, expected: number, tolerance: number, what: string): void {
  if (typeof actual !== 'number' || !(Math.abs(actual - expected) <= tolerance))
    throw new Error(`${what}: expected about ${expected}, got ${String(actual)}`)
}

/** A small seeded generator (xorshift), so that every run and every side sees the same numbers. */
export class Dice {
  #state: number
  constructor(seed: number) {
    this.#state = seed | 0 || 1
  }
  /** A whole number from 0 to `below` − 1. */
  roll(below: number): number {
    let s = this.#state
    s ^= s << 13
    s ^= s >>> 17
    s ^= s << 5
    this.#state = s
    return (s >>> 0) % below
  }
  /** A number in [0, 1). */
  next(): number {
    return this.roll(1 << 30) / (1 << 30)
  }
}
