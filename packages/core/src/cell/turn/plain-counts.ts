// How many messages those handled that have no account of their own, by uid: four bytes each, in pages, because where a hundred thousand have turns
// what is read at each of them must be small. The highest bit says that there is an account, which is then the one to count in.

const pageSize = 2 ** 12
const lowMost = 65_536
const followed = 0x8000_0000
const most = 0x7fff_ffff

export class PlainCounts {
  /** By number; those of threads, whose uids begin high, by name. */
  #low: (Uint32Array | undefined)[] = []
  readonly #pages = new Map<number, Uint32Array>()
  /** Those that somebody who lives was found in, since the last sweep. */
  readonly #seen = new Set<number>()

  /** The page of a uid, made where there is none. */
  #page(uid: number): Uint32Array {
    const at = Math.floor(uid / pageSize)
    return (at < lowMost ? this.#low[at] : this.#pages.get(at)) ?? this.#begin(at)
  }
  #begin(at: number): Uint32Array {
    const page = new Uint32Array(pageSize)
    if (at >= lowMost) this.#pages.set(at, page)
    else {
      while (this.#low.length <= at) this.#low.push(undefined)
      this.#low[at] = page
    }
    return page
  }

  /** Adds to the count of one without an account, and returns true; false of one that has one. */
  add(uid: number, messages: number): boolean {
    // Without a division, where it can be: it is done for each turn of a hundred thousand.
    const low = uid < lowMost * pageSize
    const page = (low ? this.#low[uid >>> 12] : undefined) ?? this.#page(uid)
    const at = low ? uid & (pageSize - 1) : uid % pageSize
    const value = page[at]!
    if (value >= followed) return false
    page[at] = Math.min(most, value + messages)
    return true
  }
  /** Undefined of one that has an account. */
  get(uid: number): number | undefined {
    const value = this.#page(uid)[uid % pageSize]!
    return value >= followed ? undefined : value
  }
  /** From now on there is an account, which goes on from what is returned. */
  follow(uid: number): number {
    const page = this.#page(uid)
    const value = page[uid % pageSize]!
    page[uid % pageSize] = followed
    return value >= followed ? 0 : value
  }
  /** There is no account any more; it is counted on from there. */
  unfollow(uid: number, messages: number): void {
    this.#page(uid)[uid % pageSize] = Math.min(most, messages)
  }

  /** Whoever has this uid lives. */
  see(uid: number): void {
    this.#seen.add(Math.floor(uid / pageSize))
  }
  /** Lets go of pages in which nobody lives, as far as was seen since the last time. */
  sweep(): void {
    for (const at of this.#pages.keys()) if (!this.#seen.has(at)) this.#pages.delete(at)
    for (const at of this.#low.keys()) if (!this.#seen.has(at)) this.#low[at] = undefined
    this.#seen.clear()
  }
}
