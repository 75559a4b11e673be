// One database: keys, values, and when they expire. Not an actor: the keyspace actor owns one, and so does the plain
// server that the benchmark compares with. Expired keys are gone when looked at; `sweep` finds those nobody looks at.

import { Deque } from './deque.ts'
import { CommandError, wrongType } from './replies.ts'

export type Value = string | Deque | Map<string, string> | Set<string>

export class Store {
  readonly #values = new Map<string, Value>()
  readonly #expiry = new Map<string, number>()
  readonly #scans = new Map<number, Iterator<string>>()
  #cursor = 0
  readonly #clock: () => number
  /** Milliseconds; read once for each batch of commands. */
  now: number
  constructor(clock: () => number) {
    this.#clock = clock
    this.now = clock()
  }
  tick(): void {
    this.now = this.#clock()
  }
  get size(): number {
    return this.#values.size
  }
  get expiring(): number {
    return this.#expiry.size
  }

  get(key: string): Value | undefined {
    if (this.#expiry.size > 0 && this.#expired(key)) return undefined
    return this.#values.get(key)
  }
  text(key: string): string | undefined {
    const value = this.get(key)
    if (value === undefined || typeof value === 'string') return value
    throw new CommandError(wrongType)
  }
  list(key: string): Deque | undefined {
    const value = this.get(key)
    if (value === undefined || value instanceof Deque) return value
    throw new CommandError(wrongType)
  }
  hash(key: string): Map<string, string> | undefined {
    const value = this.get(key)
    if (value === undefined || value instanceof Map) return value
    throw new CommandError(wrongType)
  }
  members(key: string): Set<string> | undefined {
    const value = this.get(key)
    if (value === undefined || value instanceof Set) return value
    throw new CommandError(wrongType)
  }

  /** Replaces a value and forgets when the old one would have expired. */
  set(key: string, value: Value): void {
    this.#values.set(key, value)
    if (this.#expiry.size > 0) this.#expiry.delete(key)
  }
  /** Replaces a value that keeps its expiry. */
  change(key: string, value: Value): void {
    this.#values.set(key, value)
  }
  delete(key: string): boolean {
    const there = this.get(key) !== undefined
    this.#expiry.delete(key)
    this.#values.delete(key)
    return there
  }
  clear(): void {
    this.#values.clear()
    this.#expiry.clear()
  }
  keys(): IterableIterator<string> {
    return this.#values.keys()
  }

  /** Where a scan goes on; one that was given up long ago begins anew, which SCAN allows. */
  scanFrom(cursor: number): Iterator<string> {
    const left = this.#scans.get(cursor)
    this.#scans.delete(cursor)
    return left ?? this.#values.keys()
  }
  /** Keeps a scan for its next page, the last thousand of them. */
  scanLater(left: Iterator<string>): number {
    const cursor = ++this.#cursor
    this.#scans.set(cursor, left)
    if (this.#scans.size > 1000) this.#scans.delete(this.#scans.keys().next().value!)
    return cursor
  }

  expiresAt(key: string): number | undefined {
    return this.#expiry.get(key)
  }
  expire(key: string, at: number): void {
    if (at <= this.now) this.delete(key)
    else this.#expiry.set(key, at)
  }
  persist(key: string): boolean {
    return this.#expiry.delete(key)
  }
  /** Removes what has expired, looking at no more than `limit` keys. */
  sweep(limit: number): void {
    this.tick()
    let left = limit
    for (const [key, at] of this.#expiry) {
      if (at <= this.now) this.#drop(key)
      if (--left === 0) return
    }
  }

  #expired(key: string): boolean {
    const at = this.#expiry.get(key)
    if (at === undefined || at > this.now) return false
    this.#drop(key)
    return true
  }
  #drop(key: string): void {
    this.#values.delete(key)
    this.#expiry.delete(key)
  }
}
