// The keys of a registry that lives in this process: compare-and-set, and keys that vanish in time. It is the registry itself; how far
// away from a node it seems to be is not its concern.

import type { Change, Entry, Revision } from '../../ports/registry.ts'
import type { Timing } from '../../ports/timing.ts'
import { RegistryConflict } from '../../values/errors.ts'

interface Kept {
  readonly value: string
  readonly revision: Revision
  readonly expires: number
  readonly cancel: (() => void) | undefined
}

export class Store {
  readonly #kept = new Map<string, Kept>()
  readonly #timing: Timing
  readonly #onChange: (change: Change) => void
  #revision = 0

  constructor(timing: Timing, onChange: (change: Change) => void) {
    this.#timing = timing
    this.#onChange = onChange
  }

  get size(): number {
    return this.#kept.size
  }

  create(key: string, value: string, ttl: number | undefined): Revision {
    const there = this.#live(key)
    if (there !== undefined) throw new RegistryConflict(key, `it is there, at revision ${there.revision}`)
    return this.#write(key, value, ttl)
  }

  update(key: string, value: string, expected: Revision, ttl: number | undefined): Revision {
    this.#check(key, expected)
    return this.#write(key, value, ttl)
  }

  remove(key: string, expected: Revision): void {
    this.#check(key, expected)
    this.#drop(key)
  }

  /** Removes keys, as an operator who purges them does. */
  purge(keys: readonly string[]): void {
    for (const key of keys) if (this.#kept.has(key)) this.#drop(key)
  }

  /** Steps the clock that keys run out by. Forward, those with less time left vanish at once. */
  stepClock(ms: number): void {
    for (const [key, kept] of this.#kept) {
      if (kept.expires === Number.POSITIVE_INFINITY) continue
      kept.cancel?.()
      const expires = kept.expires - ms
      const left = Math.max(0, expires - this.#timing.now())
      this.#kept.set(key, { ...kept, expires, cancel: this.#expireIn(left, key, kept.revision) })
    }
  }

  read(key: string): Entry | undefined {
    const kept = this.#live(key)
    return kept === undefined ? undefined : { key, value: kept.value, revision: kept.revision }
  }

  list(prefix: string): Entry[] {
    const found: Entry[] = []
    for (const key of [...this.#kept.keys()].sort()) {
      const entry = isUnder(prefix, key) ? this.read(key) : undefined
      if (entry !== undefined) found.push(entry)
    }
    return found
  }

  /** The greatest revision, and how many keys there are: of those that were there none is newer, and none is missing. */
  fingerprint(prefix: string): string {
    let [latest, count] = [0, 0]
    for (const [key, { revision }] of this.#kept)
      if (isUnder(prefix, key)) {
        latest = Math.max(latest, revision)
        count++
      }
    return `${latest}/${count}`
  }

  #check(key: string, expected: Revision): void {
    const there = this.#live(key)
    if (there?.revision === expected) return
    throw new RegistryConflict(key, there === undefined ? `it is gone, not at revision ${expected}` : `it is at ${there.revision}, not ${expected}`)
  }

  #live(key: string): Kept | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined || this.#timing.now() < kept.expires) return kept
    // Its timer is late.
    this.#drop(key)
    return undefined
  }

  #write(key: string, value: string, ttl: number | undefined): Revision {
    this.#kept.get(key)?.cancel?.()
    const revision = ++this.#revision
    const expires = ttl === undefined ? Number.POSITIVE_INFINITY : this.#timing.now() + ttl
    this.#kept.set(key, { value, revision, expires, cancel: ttl === undefined ? undefined : this.#expireIn(ttl, key, revision) })
    this.#onChange({ key, revision, value })
    return revision
  }

  #expireIn(ms: number, key: string, revision: Revision): () => void {
    return this.#timing.timer(ms, () => {
      const kept = this.#kept.get(key)
      if (kept?.revision !== revision) return
      const left = kept.expires - this.#timing.now()
      // Timers of hosts may fire a little early; a lease never ends early.
      if (left > 0) this.#kept.set(key, { ...kept, cancel: this.#expireIn(left, key, revision) })
      else this.#drop(key)
    })
  }

  #drop(key: string): void {
    this.#kept.get(key)?.cancel?.()
    this.#kept.delete(key)
    this.#onChange({ key, revision: ++this.#revision, value: undefined })
  }
}

/** Whether a key begins with the words of the prefix, and has more. */
export function isUnder(prefix: string, key: string): boolean {
  return key.startsWith(`${prefix}.`)
}
