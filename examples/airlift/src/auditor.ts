// Reads the journal as somebody who believes nobody: counts what was sent, delivered and returned, each in the books of the district where it
// happened, and follows every parcel by its number. `sent = delivered + in flight + returned` is a real check: what is sent and in flight
// stands in the books of one district, what is delivered in those of another, and only the deliveries between them make it add up.
//
// It begins with books as they are, for events before them may have been deleted, and goes on with the events after those. Books are read one
// by one while parcels move, so that until the events have passed the last of them nothing is called a problem.

import { type DepotBooks, type DepotEvent, nameOf } from './depot.ts'

export interface Sum {
  readonly sent: number
  readonly delivered: number
  readonly inFlight: number
  readonly returned: number
  /** Sent, and neither delivered, nor in flight, nor returned; below zero where something was delivered that nobody sent. */
  readonly lost: number
}

export class Auditor {
  readonly #districts: number
  /** How far each district's books have been read. */
  readonly #seqs = new Map<number, number>()
  readonly #held = new Set<number>()
  /** Delivered, while the receipt is on its way. */
  readonly #receipts = new Set<number>()
  readonly #arrived: number[] = []
  /** Events up to this time may be older than books that were read. */
  #settling = Infinity
  sent = 0
  delivered = 0
  returned = 0
  /** Facts that have been read. */
  facts = 0
  readonly problems: string[] = []

  constructor(districts: number) {
    this.#districts = districts
  }

  get ready(): boolean {
    return this.#seqs.size === this.#districts
  }
  get sum(): Sum {
    const { sent, delivered, returned } = this
    const inFlight = this.#held.size - this.#receipts.size
    return { sent, delivered, inFlight, returned, lost: sent - delivered - inFlight - returned + this.problems.length }
  }

  /** The books of a district, for the first time; later ones tell nothing new. */
  open({ district, seq, books }: DepotBooks, now: number): void {
    if (this.#seqs.has(district)) return
    this.#seqs.set(district, seq)
    this.sent += books.sent
    this.delivered += books.delivered
    this.returned += books.returned
    for (const parcel of books.held.keys()) this.#held.add(parcel)
    this.#arrived.push(...books.arrived)
    if (!this.ready) return
    for (const parcel of this.#arrived) if (this.#held.has(parcel)) this.#receipts.add(parcel)
    this.#arrived.length = 0
    this.#settling = now + 1000
  }

  /** The next event of a district; those that its books had already are passed over. */
  take(district: number, seq: number, event: DepotEvent, time: number): void {
    // Not each number has an event: what was delivered and timers have theirs.
    if (seq <= this.#seqs.get(district)!) return
    this.#seqs.set(district, seq)
    this.facts++
    switch (event.type) {
      case 'sent':
        this.sent++
        if (this.#held.has(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was sent twice`)
        this.#held.add(event.parcel)
        return
      case 'delivered':
        this.delivered++
        if (!this.#held.has(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was delivered, but nobody holds it`)
        else if (this.#receipts.has(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was delivered twice`)
        else this.#receipts.add(event.parcel)
        return
      case 'closed':
        this.#held.delete(event.parcel)
        if (!this.#receipts.delete(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was closed before it was delivered`)
        return
      case 'returned':
        this.returned++
        if (!this.#held.delete(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was returned, but nobody held it`)
        return
      default:
    }
  }

  #problem(time: number, text: string): void {
    if (time <= this.#settling) return
    // As many as anybody reads; the first ones are what matters.
    if (this.problems.length < 100) this.problems.push(text)
  }
}
