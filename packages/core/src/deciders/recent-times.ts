// When something happened, as far back as it matters, in bounded memory. The youngest 1,000 times are exact, whatever window
// is asked about; what is older is counted in buckets, each a 500th of the longest window so far, and what lies behind that
// window in one. A bucket counts as a whole as long as its youngest time does: a count may be too high, never too low.

/** How many times are kept as they are. */
const exactTimes = 1000
/** Into how many parts the longest window is cut. */
const parts = 500

interface Bucket {
  readonly first: number
  last: number
  count: number
}

export class RecentTimes {
  /** In order; of the youngest each is a bucket of its own. */
  readonly #buckets: Bucket[] = []
  /** The longest window that was asked about. */
  #reach = 0

  get last(): number {
    return this.#buckets.at(-1)?.last ?? -Infinity
  }
  /** How many entries there are in memory. */
  get kept(): number {
    return this.#buckets.length
  }
  /** Notes a time, not before any noted so far, of which windows of `within` ms are asked. */
  add(now: number, within: number): void {
    const buckets = this.#buckets
    this.#reach = Math.max(this.#reach, within)
    buckets.push({ first: now, last: now, count: 1 })
    const at = buckets.length - exactTimes - 1
    if (at > 0 && buckets[at]!.first - buckets[at - 1]!.first < this.#reach / parts) this.#join(at)
    // Nobody has asked so far back; should somebody, it is better to have counted it.
    while (buckets.length > exactTimes + 1 && buckets[1]!.last <= now - this.#reach) this.#join(1)
  }
  /** Makes one of a bucket and the one before it. */
  #join(at: number): void {
    const [{ last, count }] = this.#buckets.splice(at, 1) as [Bucket]
    const before = this.#buckets[at - 1]!
    before.last = last
    before.count += count
  }
  /** How many lie less than `within` ms back, and when the first of them was; `now` if there is none. */
  within(now: number, within: number): { readonly count: number; readonly first: number } {
    const from = now - within
    let count = 0
    let first = now
    for (let i = this.#buckets.length - 1; i >= 0 && this.#buckets[i]!.last > from; i--) {
      count += this.#buckets[i]!.count
      first = this.#buckets[i]!.first
    }
    return { count, first }
  }
}
