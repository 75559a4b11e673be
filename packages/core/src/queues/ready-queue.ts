// First in, first out, and it remembers who was taken lately: what was taken stays in its slot until `forget`. So a turn
// costs what it costs with a plain ring, and who had one is known when it matters.
//
//   │ taken lately │ ready │      from is an index, mask = slots.length − 1
//   from           +taken

const smallest = 128
const keepWhenEmpty = 1024

export class ReadyQueue<T> {
  private slots: (T | undefined)[] = new Array<T | undefined>(smallest).fill(undefined)
  private mask = smallest - 1
  private from = 0
  /** How many were taken since `forget`. */
  private taken = 0
  size = 0

  push(item: T): void {
    if (this.taken + this.size > this.mask) this.move(this.slots.length * 2)
    this.slots[(this.from + this.taken + this.size++) & this.mask] = item
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined
    this.size--
    return this.slots[(this.from + this.taken++) & this.mask]
  }

  /** Takes back the last `shift`: who was taken is next again. */
  putBack(): void {
    this.taken--
    this.size++
  }

  /** The element at `index` (0 is the next), left where it is. */
  at(index: number): T | undefined {
    return index < this.size ? this.slots[(this.from + this.taken + index) & this.mask] : undefined
  }

  /** Takes the element at `index` (0 is the next); those before it keep their order. */
  takeAt(index: number): T | undefined {
    if (index >= this.size) return undefined
    const { slots, mask } = this
    const head = this.from + this.taken
    const item = slots[(head + index) & mask]
    for (let i = head + index; i > head; i--) slots[i & mask] = slots[(i - 1) & mask]
    slots[head & mask] = item
    return this.shift()
  }

  /** Who was taken since `forget`, each once. */
  lately(): Set<T> {
    const items = new Set<T>()
    for (let i = 0; i < this.taken; i++) items.add(this.slots[(this.from + i) & this.mask]!)
    return items
  }

  /** Forgets who was taken, but for the last `keep`. */
  forget(keep: 0 | 1): void {
    const { slots, mask } = this
    for (; this.taken > keep; this.taken--) {
      slots[this.from] = undefined
      this.from = (this.from + 1) & mask
    }
    this.shrink()
  }

  /** Gives memory back that nobody needs any more, once all are taken. */
  shrink(): void {
    if (this.size > 0 || this.slots.length <= keepWhenEmpty) return
    let length = smallest
    while (length <= this.taken) length *= 2
    if (length < this.slots.length) this.move(length)
  }

  private move(length: number): void {
    const { slots, mask, from } = this
    const moved = new Array<T | undefined>(length).fill(undefined)
    for (let i = this.taken + this.size - 1; i >= 0; i--) moved[i] = slots[(from + i) & mask]
    this.slots = moved
    this.mask = length - 1
    this.from = 0
  }
}
