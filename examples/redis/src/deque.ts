// A list that grows at both ends in constant time: a ring of a power of two, doubled when full.

export class Deque {
  #slots: (string | undefined)[] = new Array<string | undefined>(4)
  #head = 0
  length = 0
  pushBack(value: string): void {
    if (this.length === this.#slots.length) this.#grow()
    this.#slots[(this.#head + this.length++) & (this.#slots.length - 1)] = value
  }
  pushFront(value: string): void {
    if (this.length === this.#slots.length) this.#grow()
    this.#head = (this.#head - 1) & (this.#slots.length - 1)
    this.#slots[this.#head] = value
    this.length++
  }
  popFront(): string | undefined {
    if (this.length === 0) return undefined
    const value = this.#slots[this.#head]
    this.#slots[this.#head] = undefined
    this.#head = (this.#head + 1) & (this.#slots.length - 1)
    this.length--
    return value
  }
  popBack(): string | undefined {
    if (this.length === 0) return undefined
    const at = (this.#head + --this.length) & (this.#slots.length - 1)
    const value = this.#slots[at]
    this.#slots[at] = undefined
    return value
  }
  *range(from: number, to: number): Generator<string> {
    for (let i = from; i <= to; i++) yield this.#slots[(this.#head + i) & (this.#slots.length - 1)]!
  }
  #grow(): void {
    const { length } = this
    const grown = new Array<string | undefined>(this.#slots.length * 2)
    for (let i = 0; i < length; i++) grown[i] = this.#slots[(this.#head + i) & (this.#slots.length - 1)]
    this.#slots = grown
    this.#head = 0
  }
}
