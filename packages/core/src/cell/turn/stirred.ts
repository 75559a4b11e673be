// What is counted of the actors of one system while somebody looks, and who had a turn since the last look. Kept here, by uid, and not at
// the actor: a word in each is paid by all the systems that nobody looks at.
//
//   buckets  │ count ─→ count │ │ count │ …      chained; as many buckets as counts, at least
//
// Where more have turns than `followedMost` between two looks, of the others only messages are counted: to fetch the accounts of a hundred
// thousand from memory, each at its turn, costs more than their turns.

import type { Cell } from './cell.ts'
import { PlainCounts } from './plain-counts.ts'

/** What is counted of one actor, from the first look on. */
export class TurnCount {
  readonly cell: Cell
  /** The next one in its bucket. */
  next: TurnCount | undefined
  /** Messages and signals that were handled. */
  processed = 0
  turns = 0
  /** Milliseconds that its turns took. */
  busy = 0
  /** The look before which it had its last turn. */
  epoch = 0
  constructor(cell: Cell, next: TurnCount | undefined) {
    this.cell = cell
    this.next = next
  }
}

const fewestBuckets = 1024
/** Accounts that are gone on with, or begun, between two looks. */
export const followedMost = 8192
/** Milliseconds of a message, from which on its actor is followed however many others have turns. */
export const dear = 0.2

/** Shared by the dispatchers of a system. */
export class Stirred {
  epoch = 1
  list: TurnCount[] = []
  /** Those that have ended since. */
  gone: number[] = []
  /** Whether some may have had turns that nobody looked at. */
  overlooked = false
  #buckets: (TurnCount | undefined)[] = new Array<TurnCount | undefined>(fewestBuckets).fill(undefined)
  #size = 0
  /** Of those that have no account. */
  readonly plain: PlainCounts = new PlainCounts()
  /** What those took, and handled: what a message of theirs takes is known only of all of them together. */
  ms = 0
  messages = 0

  /** Milliseconds of one message of those that have no account. */
  get price(): number {
    return this.messages === 0 ? 0 : this.ms / this.messages
  }

  /** What is counted of an actor, from now on if nothing was. */
  of(cell: Cell): TurnCount {
    return this.find(cell) ?? this.#add(cell)
  }

  /** What is counted of an actor; nothing before its first turn. */
  find(cell: Cell): TurnCount | undefined {
    const buckets = this.#buckets
    let count = buckets[cell.ref.uid & (buckets.length - 1)]
    while (count !== undefined && count.cell !== cell) count = count.next
    return count
  }

  #add(cell: Cell): TurnCount {
    // One that has ended may still have a turn, in which nothing happens; nobody would take it from here.
    if (cell.phase === 'terminated') return new TurnCount(cell, undefined)
    if (this.#size++ === this.#buckets.length) this.#grow()
    const { uid } = cell.ref
    const at = uid & (this.#buckets.length - 1)
    const count = (this.#buckets[at] = new TurnCount(cell, this.#buckets[at]))
    count.processed = count.turns = this.plain.follow(uid)
    count.busy = count.processed * this.price
    return count
  }

  #grow(): void {
    const before = this.#buckets
    const buckets = (this.#buckets = new Array<TurnCount | undefined>(before.length * 2).fill(undefined))
    for (const first of before)
      for (let count = first; count !== undefined;) {
        const { next } = count
        const at = count.cell.ref.uid & (buckets.length - 1)
        count.next = buckets[at]
        buckets[at] = count
        count = next
      }
  }

  /** An actor has ended: nothing of it is kept. */
  ended(cell: Cell): void {
    this.gone.push(cell.ref.uid)
    this.#drop(cell)
  }

  /** Ends an account; how many messages it handled is counted on. Whose messages take long keeps it, and who has a turn now. */
  unfollow(cell: Cell): void {
    const count = this.find(cell)
    if (count === undefined || count.busy > count.processed * dear) return
    this.#drop(cell)
    this.plain.unfollow(cell.ref.uid, count.processed)
  }

  #drop(cell: Cell): void {
    const buckets = this.#buckets
    const at = cell.ref.uid & (buckets.length - 1)
    let before: TurnCount | undefined
    for (let count = buckets[at]; count !== undefined; before = count, count = count.next) {
      if (count.cell !== cell) continue
      if (before === undefined) buckets[at] = count.next
      else before.next = count.next
      this.#size--
      return
    }
  }

  /** Hands out what has come together, and begins anew. */
  take(): Taken {
    const { epoch, list, gone, overlooked } = this
    this.epoch++
    this.list = []
    this.gone = []
    this.overlooked = false
    return { epoch, list, gone, overlooked }
  }
}

/** What came together between two looks. */
export interface Taken {
  readonly epoch: number
  readonly list: readonly TurnCount[]
  readonly gone: readonly number[]
  readonly overlooked: boolean
}
