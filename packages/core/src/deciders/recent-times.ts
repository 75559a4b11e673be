// When something happened, as far back as it matters, in bounded memory. The youngest 1,000 times are exact, whatever window
// is asked about; what is older is counted in buckets, each a 500th of the longest window so far, and what lies behind that
// window in one. A bucket counts as a whole as long as its youngest time does: a count may be too high, never too low.

/** How many times are kept as they are. */
const exactTimes = 1000
/** Into how many parts the longest window is cut. */
const parts = 500

interface Bucket {
  first: number
  last: number
  count: number
}

export class RecentTimes {
  /** Buckets of times that are no longer exact, oldest first. */
  readonly #older: Bucket[] = []
  /** The youngest times; once there are 1,000 the next one replaces the oldest, which is at `#oldest`. Before that nothing is there. */
  readonly #exact: number[] = []
  #oldest = 0
  /** The longest window that was asked about. */
  #reach = 0

  get last(): number {
    return this.#exact.at(this.#oldest - 1) ?? -Infinity
  }
  /** How many entries there are in memory. */
  get kept(): number {
    return this.#older.length + this.#exact.length
  }
  /** Notes a time, not before any noted so far, of which windows of `within` ms are asked. */
  add(now: number, within: number): void {
    const older = this.#older
    this.#reach = Math.max(this.#reach, within)
    const time = this.#exact[this.#oldest]
    this.#exact[this.#oldest] = now
    this.#oldest = (this.#oldest + 1) % exactTimes
    if (time === undefined) return
    const youngest = older.at(-1)
    if (youngest !== undefined && time - youngest.first < this.#reach / parts) {
      youngest.last = time
      youngest.count++
    } else older.push({ first: time, last: time, count: 1 })
    // No window has been this long. If a longer one is asked about later, these times have to be counted in it.
    while (older.length > 1 && older[1]!.last <= now - this.#reach) {
      const { first, count } = older.shift()!
      older[0]!.first = first
      older[0]!.count += count
    }
  }
  /** How many lie less than `within` ms back, and when the first of them was; `now` if there is none. */
  within(now: number, within: number): { readonly count: number; readonly first: number } {
    const from = now - within
    let count = 0
    let first = now
    let time: number
    while (count < this.#exact.length && (time = this.#exact.at(this.#oldest - 1 - count)!) > from) {
      first = time
      count++
    }
    for (let i = this.#older.length - 1; i >= 0 && this.#older[i]!.last > from; i--) {
      count += this.#older[i]!.count
      first = this.#older[i]!.first
    }
    return { count, first }
  }
}
