// What is counted of the actors of one system while somebody looks, and who had a turn since the last look. Kept here, by uid, and not at
// the actor: a word in each is paid by all the systems that nobody looks at.
//
//   buckets  │ count ─→ count │ │ count │ …      chained; as many buckets as counts, at least
//
// Where more have turns than `followedMost` between two looks, of the others only messages are counted: to fetch the accounts of a hundred
// thousand from memory, each at its turn, costs more than their turns. What they handle until the next look stands at the actors themselves
// (see tally), and a look takes it from there; between the looks at a crowd nobody begins an account who is not remarkable.

import type { Cell } from './cell.ts'
import { PlainCounts } from './plain-counts.ts'
import { addTally, isFull, noteAccount, takeTally, wipeTally } from './tally.ts'

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
  /** Whether it is the one that may write at the actors; where several look at a system the others keep all their counts here. */
  readonly #writes: boolean
  /** Whether nothing of an earlier one is left there. */
  #wiped = false
  epoch = 1
  list: TurnCount[] = []
  /** Those without an account that had a turn since the last look; no more than make a crowd. */
  #touched: Cell[] = []
  /** Whether more had turns before the last look than are followed: then it is probably still so. */
  #crowd = false
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

  constructor(writes = false) {
    this.#writes = writes
  }

  /** Whether nobody begins an account any more, until the next look. */
  get crowded(): boolean {
    return this.#crowd || this.list.length >= followedMost
  }

  /** Counts messages of one without an account, and returns true; false of one that has one. */
  count(cell: Cell, messages: number): boolean {
    if (!this.#wiped) return this.plain.add(cell.ref.uid, messages)
    const before = addTally(cell, messages)
    if (before < 0) return false
    if (before === 0) {
      if (this.#touched.length < followedMost) this.#touched.push(cell)
    } else if (isFull(before)) this.gather(cell)
    return true
  }

  /** Takes over what stands at the actor. */
  gather(cell: Cell): void {
    if (!this.#wiped) return
    const messages = takeTally(cell)
    if (messages > 0) this.plain.add(cell.ref.uid, messages)
  }

  /** It is met in a look at everybody: nothing of an earlier one is left at it. */
  meet(cell: Cell): void {
    if (this.#wiped) this.gather(cell)
    else if (this.#writes) wipeTally(cell, this.plain.get(cell.ref.uid) === undefined)
  }
  /** Everybody was met. */
  met(): void {
    this.#wiped = this.#writes
  }

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
    this.gather(cell)
    if (this.#writes) noteAccount(cell, true)
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
    if (this.#writes) noteAccount(cell, false)
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
    const touched = this.#touched
    const crowded = list.length + touched.length >= followedMost
    this.epoch++
    this.list = []
    this.#touched = []
    this.#crowd = crowded && this.#wiped
    this.gone = []
    this.overlooked = false
    return { epoch, list, touched, crowded, gone, overlooked }
  }
}

/** What came together between two looks. */
export interface Taken {
  readonly epoch: number
  readonly list: readonly TurnCount[]
  /** Those that had turns without an account; all of them, where it is not `crowded`. */
  readonly touched: readonly Cell[]
  /** Whether more had turns than were written down. */
  readonly crowded: boolean
  readonly gone: readonly number[]
  readonly overlooked: boolean
}
