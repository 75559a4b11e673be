// First in, first out, and it remembers who was taken lately: what was taken stays in its slot until `forget`. So a turn
// costs what it costs with a plain ring, and who had one is known when it matters.
//
//   │ taken lately │ ready │ at least one free slot │      three indices into slots, each below its length
//   from           head    tail                      from

const smallest = 128
const keepWhenEmpty = 1024

export class ReadyQueue<T> {
  private slots: (T | undefined)[] = new Array<T | undefined>(smallest).fill(undefined)
  private mask = smallest - 1
  private from = 0
  private head = 0
  private tail = 0

  get size(): number {
    return (this.tail - this.head) & this.mask
  }

  push(item: T): void {
    this.slots[this.tail] = item
    this.tail = (this.tail + 1) & this.mask
    if (this.tail === this.from) this.move(this.slots.length * 2, this.slots.length)
  }

  shift(): T | undefined {
    const { head } = this
    if (head === this.tail) return undefined
    this.head = (head + 1) & this.mask
    return this.slots[head]
  }

  /** Takes back the last `shift`: the one that was taken is next again. */
  putBack(): void {
    this.head = (this.head - 1) & this.mask
  }

  /** The element at `index` (0 is the next), left where it is. */
  at(index: number): T | undefined {
    return index < this.size ? this.slots[(this.head + index) & this.mask] : undefined
  }

  /** Takes the element at `index` (0 is the next); those before it keep their order. */
  takeAt(index: number): T | undefined {
    if (index >= this.size) return undefined
    const { slots, mask, head } = this
    const item = slots[(head + index) & mask]
    for (let i = head + index; i > head; i--) slots[i & mask] = slots[(i - 1) & mask]
    slots[head] = item
    return this.shift()
  }

  /** Who was taken since `forget`, each once. */
  lately(): Set<T> {
    const items = new Set<T>()
    for (let i = this.from; i !== this.head; i = (i + 1) & this.mask) items.add(this.slots[i]!)
    return items
  }

  /** Forgets who was taken, but for the last `keep`. */
  forget(keep: 0 | 1): void {
    const { slots, mask, head } = this
    const last = this.from === head ? head : (head - keep) & mask
    for (let i = this.from; i !== last; i = (i + 1) & mask) slots[i] = undefined
    this.from = last
  }

  /** Whether it is empty, and has more slots than one keeps for nothing. */
  get idle(): boolean {
    return this.slots.length > keepWhenEmpty && this.head === this.tail
  }

  /** Gives memory back that nobody needs any more; of one that is idle. */
  shrink(): void {
    const taken = (this.head - this.from) & this.mask
    let length = smallest
    while (length <= taken) length *= 2
    if (length < this.slots.length) this.move(length, taken)
  }

  /** Moves the first `count` from `from` on; where all slots are taken, `tail` has come round to it. */
  private move(length: number, count: number): void {
    const { slots, mask, from } = this
    const moved = new Array<T | undefined>(length).fill(undefined)
    for (let i = count - 1; i >= 0; i--) moved[i] = slots[(from + i) & mask]
    this.head = (this.head - from) & mask
    this.tail = count
    this.slots = moved
    this.mask = length - 1
    this.from = 0
  }
}
