// What a node believes to be under one prefix of the registry: hints as they come, corrected by lists. A hint counts only if it is newer than
// what is there; a list replaces everything but what a hint brought while it was under way. Lists never overlap: one that were asked for first and
// answered last would bring back what is over.

import type { Change, Entry } from '../ports/registry.ts'

interface Seen {
  readonly revision: number
  readonly value: string | undefined
}

export class Mirror {
  readonly #seen = new Map<string, Seen>()
  /** Keys that hints told of since a list was asked for; undefined while none is. */
  #during: Set<string> | undefined
  /** Settles when the last list that was asked for has. */
  #lists: Promise<void> = Promise.resolve()

  /** The value of a key; undefined where it is not there. */
  value(key: string): string | undefined {
    return this.#seen.get(key)?.value
  }

  /** Keys that have a value, in no order. */
  *keys(): Generator<string, void, void> {
    for (const [key, { value }] of this.#seen) if (value !== undefined) yield key
  }

  get size(): number {
    return this.#seen.size
  }

  /** Takes a change; whether it was news. */
  change({ key, revision, value }: Change): boolean {
    const before = this.#seen.get(key)
    if (before !== undefined && before.revision >= revision) return false
    // A removal is remembered until the next list, so that an older write which comes late does not undo it.
    this.#seen.set(key, { revision, value })
    this.#during?.add(key)
    return true
  }

  /** The revision that is known of a key, removed or not. */
  revision(key: string): number | undefined {
    return this.#seen.get(key)?.revision
  }

  /** Takes what a read found of a key that was known at the revision `asked` when it was asked for. */
  read(key: string, entry: Entry | undefined, asked: number | undefined): void {
    if (entry !== undefined) this.change(entry)
    // A change that came meanwhile knows better.
    else if (asked !== undefined && this.revision(key) === asked) {
      this.#seen.set(key, { revision: asked, value: undefined })
      this.#during?.add(key)
    }
  }

  /**
   * Takes a list that is asked for after this call; it waits for one that is under way. Rejects as `list` does, and then keeps what it has.
   */
  refresh(list: () => Promise<readonly Entry[]>): Promise<void> {
    const fresh = this.#lists.then(() => this.#list(list))
    this.#lists = fresh.catch(() => {})
    return fresh
  }

  async #list(list: () => Promise<readonly Entry[]>): Promise<void> {
    this.#during = new Set()
    try {
      this.#replace(await list())
    } finally {
      this.#during = undefined
    }
  }

  #replace(entries: readonly Entry[]): void {
    const during = this.#during!
    const listed = new Map(entries.map((entry) => [entry.key, entry]))
    for (const key of this.#seen.keys()) if (!listed.has(key) && !during.has(key)) this.#seen.delete(key)
    for (const [key, { revision, value }] of listed) {
      const before = this.#seen.get(key)
      if (!during.has(key) || before === undefined || before.revision < revision) this.#seen.set(key, { revision, value })
    }
  }
}
