// What happens outside the system at a virtual time: completions through ports, planned actions. Ordered by time, then by
// the seed's choice, then by when it was added.

interface Item {
  readonly at: number
  readonly rank: number
  readonly act: () => void
}

const mostAtOnce = 50

export class Agenda {
  readonly #items: Item[] = []
  /** When the next is due; Infinity when there is none. */
  get next(): number {
    return this.#items.length === 0 ? Infinity : this.#items[0]!.at
  }
  add(at: number, rank: number, act: () => void): void {
    let i = this.#items.length
    while (i > 0 && (this.#items[i - 1]!.at > at || (this.#items[i - 1]!.at === at && this.#items[i - 1]!.rank > rank))) i--
    this.#items.splice(i, 0, { at, rank, act })
  }
  /** Does what is due. What goes on adding more is left for the next pass, so that somebody can notice. */
  run(now: number): void {
    for (let left = mostAtOnce; left > 0 && this.#items.length > 0 && this.#items[0]!.at <= now; left--) this.#items.shift()!.act()
  }
}
