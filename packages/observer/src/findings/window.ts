// What happened lately, by key: how often, the first and the last, and the greatest number that came with it. Older than the span is
// forgotten; of one key no more than a thousand are kept, and then the oldest times are, so that a storm is not made small.

const most = 1000

interface Entry {
  readonly times: number[]
  count: number
  greatest: number
  first: number
  readonly uids: Set<number>
  readonly paths: Set<string>
}

export interface Lately {
  readonly key: string
  readonly count: number
  readonly greatest: number
  readonly first: number
  readonly uids: ReadonlySet<number>
  readonly paths: ReadonlySet<string>
}

export class Window {
  readonly #span: number
  readonly #entries = new Map<string, Entry>()
  constructor(span: number) {
    this.#span = span
  }
  add(key: string, at: number, greatest = 0, uid?: number, path?: string): void {
    let entry = this.#entries.get(key)
    if (entry === undefined) this.#entries.set(key, (entry = { times: [], count: 0, greatest: 0, first: at, uids: new Set(), paths: new Set() }))
    entry.times.push(at)
    if (entry.times.length > most) entry.times.shift()
    else entry.count++
    entry.greatest = Math.max(entry.greatest, greatest)
    if (uid !== undefined && entry.uids.size < most) entry.uids.add(uid)
    if (path !== undefined && entry.paths.size < most) entry.paths.add(path)
  }
  /** All keys of which something happened within the span. */
  at(now: number): readonly Lately[] {
    const found: Lately[] = []
    for (const [key, entry] of this.#entries) {
      const old = entry.times.findIndex((at) => at > now - this.#span)
      if (old < 0) {
        this.#entries.delete(key)
        continue
      }
      entry.times.splice(0, old)
      entry.count = entry.times.length
      entry.first = entry.times[0]!
      found.push({ key, ...entry })
    }
    return found
  }
}
