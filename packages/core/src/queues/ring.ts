// The growing ring behind an unbounded mailbox: a slot is a message and its meta, in two arrays under one index, of which
// the second exists only once a message came with a meta. No object per slot.
//
//   slots  │ m0 │ m1 │ m2 │  …      head is an index, mask = slots.length − 1
//   metas  │    │ x1 │    │  …
//
// Grows by doubling; a large ring that runs empty gives its memory back. `undefined` is not a message, so it marks holes.

import type { MailboxQueue } from '../values/mailbox.ts'

const smallest = 8
const keepWhenEmpty = 1024

const empty = <T>(length: number): (T | undefined)[] => new Array<T | undefined>(length).fill(undefined)

export class MessageRing<T = unknown> implements MailboxQueue {
  /** That of the message taken last. */
  meta: unknown
  private slots: (T | undefined)[] = empty(smallest)
  private metas: unknown[] | undefined = undefined
  private mask = smallest - 1
  private head = 0
  size = 0

  push(message: T, meta?: unknown): void {
    if (this.size > this.mask) this.grow()
    const tail = (this.head + this.size++) & this.mask
    this.slots[tail] = message
    if (meta !== undefined) (this.metas ??= empty(this.slots.length))[tail] = meta
  }

  /** Puts a message in front of all others: how a stash comes back. */
  unshift(message: T, meta?: unknown): void {
    if (this.size > this.mask) this.grow()
    const head = (this.head - 1) & this.mask
    this.head = head
    this.size++
    this.slots[head] = message
    if (meta !== undefined) (this.metas ??= empty(this.slots.length))[head] = meta
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined
    const { slots, metas, head } = this
    const message = slots[head]
    slots[head] = undefined
    if (metas === undefined) this.meta = undefined
    else {
      this.meta = metas[head]
      metas[head] = undefined
    }
    this.head = (head + 1) & this.mask
    if (--this.size === 0 && slots.length > keepWhenEmpty) this.reset()
    return message
  }

  /** The message at `index` (0 is the next), left where it is. */
  at(index: number): T | undefined {
    return index < this.size ? this.slots[(this.head + index) & this.mask] : undefined
  }

  /** How many messages are in front of the one with such a meta; looks at `most` messages, and gives that if it is not among them. */
  indexOfMeta(is: (meta: unknown, message: unknown) => boolean, most: number): number {
    const { metas, slots } = this
    if (metas !== undefined)
      for (let i = 0; i < this.size && i < most; i++) {
        const at = (this.head + i) & this.mask
        if (is(metas[at], slots[at])) return i
      }
    return most
  }

  private grow(): void {
    this.slots = unrolled(this.slots, this.head)
    if (this.metas !== undefined) this.metas = unrolled(this.metas, this.head)
    this.mask = this.slots.length - 1
    this.head = 0
  }

  private reset(): void {
    this.slots = empty(smallest)
    this.metas = undefined
    this.mask = smallest - 1
    this.head = 0
  }
}

/** A full ring's elements from its head on, in an array of twice the length. */
function unrolled<T>(old: readonly (T | undefined)[], head: number): (T | undefined)[] {
  const { length } = old
  const slots = empty<T>(length * 2)
  for (let i = 0; i < length; i++) slots[i] = old[(head + i) & (length - 1)]
  return slots
}

/** A plain growing ring: one element per slot. */
export class Ring<T> {
  private slots: (T | undefined)[] = empty(smallest)
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
      this.slots = empty(smallest)
      this.mask = smallest - 1
      this.head = 0
    }
    return item
  }

  /** The element at `index` (0 is the next), left where it is. */
  at(index: number): T | undefined {
    return index < this.size ? this.slots[(this.head + index) & this.mask] : undefined
  }

  private grow(): void {
    this.slots = unrolled(this.slots, this.head)
    this.mask = this.slots.length - 1
    this.head = 0
  }
}
