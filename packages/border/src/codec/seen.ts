// The objects of the value in progress, in the order in which they were met, so that one that is met again is referred to
// and not written again. A handful are looked through; more are looked up.

const handful = 32

export class Seen {
  readonly #objects: (object | undefined)[] = []
  #index: Map<object, number> | undefined = undefined
  count = 0
  /** Whether any was met twice. */
  twice = false

  /** Its number if it was met before; otherwise −1, and it has one from now on. */
  note(object: object): number {
    const { count } = this
    if (count < handful) {
      for (let i = 0; i < count; i++) if (this.#objects[i] === object) return this.#again(i)
    } else {
      if (this.#index === undefined) this.#index = new Map(this.#objects.map((o, i) => [o!, i]))
      const before = this.#index.get(object)
      if (before !== undefined) return this.#again(before)
      this.#index.set(object, count)
    }
    this.#objects[count] = object
    this.count = count + 1
    return -1
  }
  has(object: object): boolean {
    return this.#index === undefined ? this.#objects.lastIndexOf(object) >= 0 : this.#index.has(object)
  }
  #again(index: number): number {
    this.twice = true
    return index
  }

  /** Forgets those that were met after so many. */
  truncate(count: number): void {
    if (this.#index !== undefined) for (let i = count; i < this.count; i++) this.#index.delete(this.#objects[i]!)
    if (count < handful) this.#index = undefined
    this.#objects.length = count
    this.count = count
  }
  clear(): void {
    this.twice = false
    if (this.count === 0) return
    if (this.#index !== undefined) {
      this.#index = undefined
      this.#objects.length = 0
    } else for (let i = 0; i < this.count; i++) this.#objects[i] = undefined
    this.count = 0
  }
}
