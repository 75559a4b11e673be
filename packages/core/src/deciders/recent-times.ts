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
  /** The youngest, in order. */
  readonly #times: number[] = []
  /** Those before them, in order; made when it is needed. */
  #older: Bucket[] | undefined
  /** The longest window that was asked about. */
  #reach = 0

  get last(): number {
    return this.#times.at(-1) ?? -Infinity
  }
  /** How many entries there are in memory. */
  get kept(): number {
    return this.#times.length + (this.#older?.length ?? 0)
  }
  /** Notes a time, not before any noted so far, of which windows of `within` ms are asked. */
  add(now: number, within: number): void {
    this.#reach = Math.max(this.#reach, within)
    this.#times.push(now)
    if (this.#times.length > exactTimes) this.#retire(this.#times.shift()!)
  }
  #retire(time: number): void {
    const older = (this.#older ??= [])
    const young = older.at(-1)
    if (young === undefined || time - young.first >= this.#reach / parts) older.push({ first: time, last: time, count: 1 })
    else {
      young.last = time
      young.count++
    }
    // Nobody has asked so far back; should somebody, it is better to have counted it.
    while (older.length > 1 && older[1]!.last <= this.last - this.#reach) {
      const [old, next] = older as [Bucket, Bucket]
      older.splice(0, 2, { first: old.first, last: next.last, count: old.count + next.count })
    }
  }
  /** How many lie less than `within` ms back, and when the first of them was; `now` if there is none. */
  within(now: number, within: number): { readonly count: number; readonly first: number } {
    const from = now - within
    const times = this.#times
    // The first that is young enough, by halving: a storm of failures asks each time.
    let at = 0
    for (let end = times.length; at < end;) {
      const middle = (at + end) >>> 1
      if (times[middle]! > from) end = middle
      else at = middle + 1
    }
    let count = times.length - at
    let first = times[at] ?? now
    const older = this.#older
    if (older === undefined || at > 0) return { count, first }
    for (let i = older.length - 1; i >= 0 && older[i]!.last > from; i--) {
      count += older[i]!.count
      first = older[i]!.first
    }
    return { count, first }
  }
}
