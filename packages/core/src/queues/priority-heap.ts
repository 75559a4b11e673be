// The storage of a priority mailbox: a 4-ary heap, stable among equals, O(log n) for push, shift and evict. Entries are
// also linked in order of arrival, so that the one that waits longest is found at once, wherever it stands in the heap.

import type { MailboxQueue } from '../values/mailbox.ts'

/** Below zero when `a` goes first. */
export type Compare = (a: unknown, b: unknown) => number

class Entry {
  readonly message: unknown
  readonly meta: unknown
  /** What the sender said about its urgency; more goes first, whatever `compare` thinks. */
  readonly urgency: number
  readonly order: number
  at = 0
  older: Entry | undefined = undefined
  newer: Entry | undefined = undefined
  constructor(message: unknown, meta: unknown, order: number) {
    this.message = message
    this.meta = meta
    this.order = order
    const said = typeof meta === 'object' && meta !== null ? (meta as { priority?: unknown }).priority : undefined
    this.urgency = typeof said === 'number' && said === said ? said : 0
  }
}

export class PriorityHeap implements MailboxQueue {
  meta: unknown = undefined
  readonly #compare: Compare
  readonly #fault: (cause: unknown) => void
  #heap: Entry[] = []
  #order = 0
  #oldest: Entry | undefined = undefined
  #newest: Entry | undefined = undefined

  /** A `compare` that throws makes its two messages equal; `fault` hears of it. */
  constructor(compare: Compare, fault: (cause: unknown) => void) {
    this.#compare = compare
    this.#fault = fault
  }

  get size(): number {
    return this.#heap.length
  }

  push(message: unknown, meta: unknown): void {
    const entry = new Entry(message, meta, this.#order++)
    entry.older = this.#newest
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
    this.#heap.push(entry)
    this.#up(entry, this.#heap.length - 1)
  }

  shift(): unknown {
    const top = this.#heap[0]
    return top === undefined ? undefined : this.#take(top)
  }

  evict(): unknown {
    return this.#oldest === undefined ? undefined : this.#take(this.#oldest)
  }

  #take(entry: Entry): unknown {
    const { at, older, newer } = entry
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    const last = this.#heap.pop()!
    if (last !== entry) {
      // The last one fills the hole; from there it may have to go either way.
      if (at > 0 && this.#before(last, this.#heap[(at - 1) >> 2]!)) this.#up(last, at)
      else this.#down(last, at)
    }
    if (this.#heap.length === 0) this.#heap = []
    this.meta = entry.meta
    return entry.message
  }

  #before(a: Entry, b: Entry): boolean {
    if (a.urgency !== b.urgency) return a.urgency > b.urgency
    let sign = 0
    try {
      sign = this.#compare(a.message, b.message)
    } catch (cause) {
      this.#fault(cause)
    }
    return sign < 0 || (!(sign > 0) && a.order < b.order)
  }

  #up(entry: Entry, from: number): void {
    const heap = this.#heap
    let i = from
    while (i > 0) {
      const up = (i - 1) >> 2
      const parent = heap[up]!
      if (!this.#before(entry, parent)) break
      heap[i] = parent
      parent.at = i
      i = up
    }
    heap[i] = entry
    entry.at = i
  }

  #down(entry: Entry, from: number): void {
    const heap = this.#heap
    const length = heap.length
    let i = from
    for (;;) {
      const first = i * 4 + 1
      if (first >= length) break
      let best = first
      const end = Math.min(first + 4, length)
      for (let c = first + 1; c < end; c++) if (this.#before(heap[c]!, heap[best]!)) best = c
      const child = heap[best]!
      if (!this.#before(child, entry)) break
      heap[i] = child
      child.at = i
      i = best
    }
    heap[i] = entry
    entry.at = i
  }
}
