// Reads the journal as somebody who believes nobody: counts what was sent, delivered and returned, each in the books of the district where it
// happened, and follows every parcel by its number. `sent = delivered + in flight + returned` is a real check: what is sent and in flight
// stands in the books of one district, what is delivered in those of another, and only the deliveries between them make it add up.
//
// It begins with books as they are, for events before them may have been deleted, and goes on with the events after those. Books are read one
// by one while parcels move, so that until the events have passed the last of them nothing is called a problem. Now and then it is shown books
// again: where it read so slowly that events were deleted before it came to them, its counts differ from those, and it begins anew.

import { type DepotBooks, type DepotEvent, nameOf } from './depot.ts'

export interface Sum {
  readonly sent: number
  readonly delivered: number
  readonly inFlight: number
  readonly returned: number
  /** Sent, and neither delivered, nor in flight, nor returned; below zero where something was delivered that nobody sent. */
  readonly lost: number
}

const mostWaiting = 50_000

interface Page {
  seq: number
  sent: number
  delivered: number
  returned: number
}

export class Auditor {
  readonly #districts: number
  /** How far each district's books have been read, and what they have counted until there. */
  readonly #pages = new Map<number, Page>()
  /** Books that it has not come to yet, to compare with. */
  readonly #marks = new Map<number, DepotBooks>()
  /** Events that came while it began. */
  readonly #waiting: Parameters<Auditor['take']>[] = []
  /** What it had when it had to begin anew. */
  #before: Sum | undefined
  readonly #held = new Set<number>()
  /** Delivered, while the receipt is on its way. */
  readonly #receipts = new Set<number>()
  readonly #arrived: number[] = []
  /** Events up to this time may be older than books that were read. */
  #settling = Infinity
  /** How often it had to begin anew, because it came too late for events. */
  rereads = 0
  /** Facts that have been read. */
  facts = 0
  readonly problems: string[] = []

  constructor(districts: number) {
    this.#districts = districts
  }

  get ready(): boolean {
    return this.#pages.size === this.#districts
  }
  /** While it begins anew, what it had before that. */
  get sum(): Sum {
    if (!this.ready && this.#before !== undefined) return this.#before
    const total = { sent: 0, delivered: 0, returned: 0 }
    for (const { sent, delivered, returned } of this.#pages.values()) {
      total.sent += sent
      total.delivered += delivered
      total.returned += returned
    }
    const inFlight = this.#held.size - this.#receipts.size
    return { ...total, inFlight, lost: total.sent - total.delivered - inFlight - total.returned + this.problems.length }
  }

  /** The books of a district: to begin with, and later to compare with. */
  open(read: DepotBooks, now: number): void {
    const { district, seq, books } = read
    if (this.#pages.has(district)) return this.#mark(read)
    const { sent, delivered, returned } = books
    this.#pages.set(district, { seq, sent, delivered, returned })
    for (const parcel of books.held.keys()) this.#held.add(parcel)
    this.#arrived.push(...books.arrived)
    if (!this.ready) return
    for (const parcel of this.#arrived) if (this.#held.has(parcel)) this.#receipts.add(parcel)
    this.#arrived.length = 0
    this.#settling = now + 1000
    for (const event of this.#waiting.splice(0)) this.take(...event)
  }

  /** The next event of a district; those that its books had already are passed over. */
  take(district: number, seq: number, event: DepotEvent, time: number): void {
    if (!this.ready) return this.#wait([district, seq, event, time])
    const page = this.#pages.get(district)!
    // Not each number has an event: what was delivered and timers have theirs.
    if (seq <= page.seq) return
    if (!this.#agrees(page, district, seq)) {
      this.#beginAnew()
      return this.#wait([district, seq, event, time])
    }
    page.seq = seq
    this.facts++
    switch (event.type) {
      case 'sent':
        page.sent++
        if (this.#held.has(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was sent twice`)
        this.#held.add(event.parcel)
        return
      case 'delivered':
        page.delivered++
        if (!this.#held.has(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was delivered, but nobody holds it`)
        else if (this.#receipts.has(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was delivered twice`)
        else this.#receipts.add(event.parcel)
        return
      case 'closed':
        this.#held.delete(event.parcel)
        if (!this.#receipts.delete(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was closed before it was delivered`)
        return
      case 'returned':
        page.returned++
        if (!this.#held.delete(event.parcel)) this.#problem(time, `parcel ${nameOf(event.parcel)} was returned, but nobody held it`)
        return
      default:
    }
  }

  #wait(event: Parameters<Auditor['take']>): void {
    // Where books do not come for minutes it does not keep everything meanwhile; that it missed something it notices by later ones.
    if (this.#waiting.length >= mostWaiting) this.#waiting.length = 0
    this.#waiting.push(event)
  }
  #mark(read: DepotBooks): void {
    // Books that it is past already tell nothing: it has counted more since.
    if (read.seq >= this.#pages.get(read.district)!.seq && !this.#marks.has(read.district)) this.#marks.set(read.district, read)
  }
  /** Whether it counted up to here what the books have that it has come to. */
  #agrees({ sent, delivered, returned }: Page, district: number, seq: number): boolean {
    const mark = this.#marks.get(district)
    if (mark === undefined || seq <= mark.seq) return true
    this.#marks.delete(district)
    const { books } = mark
    return books.sent === sent && books.delivered === delivered && books.returned === returned
  }
  #beginAnew(): void {
    this.#before = this.sum
    this.rereads++
    for (const all of [this.#pages, this.#marks, this.#held, this.#receipts]) all.clear()
    // What seemed wrong cannot be told from what was not seen.
    this.problems.length = 0
    this.#settling = Infinity
  }

  #problem(time: number, text: string): void {
    if (time <= this.#settling) return
    // As many as anybody reads; the first ones are what matters.
    if (this.problems.length < 100) this.problems.push(text)
  }
}
