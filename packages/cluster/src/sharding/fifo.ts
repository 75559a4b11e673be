// First in, first out, also for hundreds of thousands: taking the first costs the same however many there are, which is not so with an array.

export class Fifo<T> {
  #items: T[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }
  get first(): T | undefined {
    return this.#items[this.#head]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Puts these before all others, in their order. */
  prepend(items: readonly T[]): void {
    if (items.length === 0) return
    this.#items = [...items, ...this]
    this.#head = 0
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#head]!
    this.#items[this.#head++] = undefined as T
    // What was taken is let go of now and then, so that each is moved once or twice in all.
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  /** Takes all. */
  drain(): T[] {
    const items = [...this]
    this.#items = []
    this.#head = 0
    return items
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let at = this.#head; at < this.#items.length; at++) yield this.#items[at]!
  }
}
