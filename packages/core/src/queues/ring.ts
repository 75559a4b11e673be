// The growing ring behind an unbounded mailbox: message and meta side by side in one array, no object per slot.
//
//   slots  │ m0 x0 │ m1 x1 │ m2 x2 │  …      head and tail are slot indexes, always even; mask = slots.length − 1
//
// Grows by doubling; a large ring that runs empty gives its memory back. `undefined` is no message, so it marks holes.

import type { MailboxQueue } from '../values/mailbox.ts'

const smallest = 16
const keepWhenEmpty = 2048

export class MessageRing implements MailboxQueue {
  meta: unknown = undefined
  private slots: unknown[] = new Array<unknown>(smallest).fill(undefined)
  private mask = smallest - 1
  private head = 0
  size = 0

  push(message: unknown, meta: unknown): void {
    const used = this.size * 2
    if (used > this.mask) this.grow()
    const tail = (this.head + used) & this.mask
    this.slots[tail] = message
    if (meta !== undefined) this.slots[tail + 1] = meta
    this.size++
  }

  /** Puts a message in front of all others: how a stash comes back. */
  unshift(message: unknown, meta: unknown): void {
    if (this.size * 2 > this.mask) this.grow()
    const head = (this.head - 2) & this.mask
    this.head = head
    this.slots[head] = message
    this.slots[head + 1] = meta
    this.size++
  }

  shift(): unknown {
    if (this.size === 0) return undefined
    const slots = this.slots
    const head = this.head
    const message = slots[head]
    const meta = slots[head + 1]
    slots[head] = undefined
    if (meta !== undefined) slots[head + 1] = undefined
    this.meta = meta
    this.head = (head + 2) & this.mask
    if (--this.size === 0 && slots.length > keepWhenEmpty) this.reset()
    return message
  }

  /** How many messages are in front of the one with such a meta; looks at `most` messages, and gives that if it is not among them. */
  indexOfMeta(is: (meta: unknown) => boolean, most: number): number {
    for (let i = 0; i < this.size && i < most; i++) if (is(this.slots[((this.head + i * 2) & this.mask) + 1])) return i
    return most
  }

  private grow(): void {
    const old = this.slots
    const length = old.length
    const slots = new Array<unknown>(length * 2).fill(undefined)
    for (let i = 0; i < length; i++) slots[i] = old[(this.head + i) & this.mask]
    this.slots = slots
    this.mask = slots.length - 1
    this.head = 0
  }

  private reset(): void {
    this.slots = new Array<unknown>(smallest).fill(undefined)
    this.mask = smallest - 1
    this.head = 0
  }
}

/** A plain growing ring, for the ready queue: one element per slot. */
export class Ring<T> {
  private slots: (T | undefined)[] = new Array<T | undefined>(smallest).fill(undefined)
  private mask = smallest - 1
  private head = 0
  size = 0

  push(item: T): void {
    if (this.size > this.mask) this.grow()
    this.slots[(this.head + this.size++) & this.mask] = item
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined
    const head = this.head
    const item = this.slots[head]
    this.slots[head] = undefined
    this.head = (head + 1) & this.mask
    if (--this.size === 0 && this.slots.length > keepWhenEmpty) {
      this.slots = new Array<T | undefined>(smallest).fill(undefined)
      this.mask = smallest - 1
      this.head = 0
    }
    return item
  }

  /** The element at `index` (0 is the next), left where it is. */
  at(index: number): T | undefined {
    return index < this.size ? this.slots[(this.head + index) & this.mask] : undefined
  }

  /** Takes the element at `index` (0 is the next); those before it keep their order. */
  takeAt(index: number): T | undefined {
    if (index >= this.size) return undefined
    const slots = this.slots
    const mask = this.mask
    const at = this.head + index
    const item = slots[at & mask]
    for (let i = at; i > this.head; i--) slots[i & mask] = slots[(i - 1) & mask]
    slots[this.head & mask] = undefined
    this.head = (this.head + 1) & mask
    this.size--
    return item
  }

  private grow(): void {
    const old = this.slots
    const length = old.length
    const slots = new Array<T | undefined>(length * 2).fill(undefined)
    for (let i = 0; i < length; i++) slots[i] = old[(this.head + i) & this.mask]
    this.slots = slots
    this.mask = slots.length - 1
    this.head = 0
  }
}
