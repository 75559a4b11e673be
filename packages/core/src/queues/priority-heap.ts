// The storage of a priority mailbox: a 4-ary heap, stable among equals, O(log n) for push, shift and evict. Entries are
// also linked in order of arrival, so that the one that waits longest is found at once, wherever it stands in the heap.
// `compare` is the user's and may tell this very actor: a place is first looked for and only then taken, so that the heap
// is whole whenever `compare` runs; what comes or goes meanwhile is not compared, and stands where there is room.

import type { MailboxQueue } from '../values/mailbox.ts'
import { observed } from '../values/thenable.ts'

/** Below zero when `a` goes first. */
export type Compare = (a: unknown, b: unknown) => number

class Entry {
  readonly message: unknown
  readonly meta: unknown
  /** What the sender said about its urgency; more goes first, whatever `compare` thinks. */
  readonly urgency: number
  readonly order: number
  at = 0
  older: Entry | undefined
  newer: Entry | undefined
  constructor(message: unknown, meta: unknown, order: number) {
    this.message = message
    this.meta = meta
    this.order = order
    this.urgency = urgencyOf(meta)
  }
}

function urgencyOf(meta: unknown): number {
  if (typeof meta !== 'object' || meta === null) return 0
  const said = (meta as { priority?: unknown }).priority
  return typeof said === 'number' && said === said ? said : 0
}

export class PriorityHeap implements MailboxQueue {
  meta: unknown
  readonly #compare: Compare
  readonly #fault: (cause: unknown) => void
  #heap: Entry[] = []
  #order = 0
  #oldest: Entry | undefined
  #newest: Entry | undefined
  /** Taken out, and not given yet. */
  #inHand = 0
  #comparing = false
  /** How many were taken out: a way that was found before is none afterwards. */
  #taken = 0
  /** The places that an entry would pass, from where it stands to where it belongs. */
  readonly #way: number[] = []

  /** A `compare` that throws makes its two messages equal; `fault` hears of it. */
  constructor(compare: Compare, fault: (cause: unknown) => void) {
    this.#compare = compare
    this.#fault = fault
  }

  get size(): number {
    return this.#heap.length + this.#inHand
  }

  push(message: unknown, meta: unknown): void {
    const entry = new Entry(message, meta, this.#order++)
    entry.older = this.#newest
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
    entry.at = this.#heap.length
    this.#heap.push(entry)
    this.#settle(entry)
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
    this.#taken++
    const heap = this.#heap
    const last = heap.pop()!
    if (last !== entry) {
      // The last one fills the hole; from there it may have to go either way.
      heap[at] = last
      last.at = at
      this.#inHand++
      try {
        this.#settle(last)
      } finally {
        this.#inHand--
      }
    }
    if (this.#heap.length === 0) this.#heap = []
    this.meta = entry.meta
    return entry.message
  }

  /** Brings an entry to where it belongs. */
  #settle(entry: Entry): void {
    if (this.#comparing) return
    const taken = this.#taken
    const way = this.#way
    this.#comparing = true
    way.length = 0
    try {
      if (!this.#findUp(entry, way)) this.#findDown(entry, way)
    } finally {
      this.#comparing = false
    }
    if (way.length === 0 || taken !== this.#taken) return
    const heap = this.#heap
    let i = entry.at
    for (const to of way) {
      const other = heap[to]!
      heap[i] = other
      other.at = i
      i = to
    }
    heap[i] = entry
    entry.at = i
  }

  #findUp(entry: Entry, way: number[]): boolean {
    let i = entry.at
    while (i > 0) {
      i = (i - 1) >> 2
      if (!this.#before(entry, this.#heap[i])) break
      way.push(i)
    }
    return way.length > 0
  }

  #findDown(entry: Entry, way: number[]): void {
    let i = entry.at
    for (;;) {
      const heap = this.#heap
      const first = i * 4 + 1
      if (first >= heap.length) return
      let best = first
      const end = Math.min(first + 4, heap.length)
      for (let c = first + 1; c < end; c++) if (this.#before(heap[c], heap[best])) best = c
      if (!this.#before(heap[best], entry)) return
      way.push(best)
      i = best
    }
  }

  /** Either may be gone: `compare` runs between two looks at the heap, and then nothing of the way counts. */
  #before(a: Entry | undefined, b: Entry | undefined): boolean {
    if (a === undefined || b === undefined) return false
    if (a.urgency !== b.urgency) return a.urgency > b.urgency
    let sign = 0
    try {
      const said: unknown = this.#compare(a.message, b.message)
      if (typeof said === 'number') sign = said
      else {
        // In here: what cannot be a number throws when it is looked at.
        observed(said, this.#fault)
        sign = Number(said)
      }
    } catch (cause) {
      this.#fault(cause)
    }
    return sign < 0 || (!(sign > 0) && a.order < b.order)
  }
}
