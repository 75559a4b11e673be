// The other end of a link: messages that come for one actor of this thread. Every so many of them one carries the credit back as it is
// taken. A message for an actor that is not here yet waits; its home is asked what became of it.

import { type Cell, Envelope, MessageRing, type Meta } from '@troupe/core/internal'
import { Credit, giveCredit } from './credit.ts'
import type { Crossing } from './crossing.ts'
import { mostBytes } from './link.ts'

export class Arrivals {
  readonly crossing: Crossing
  readonly id: number
  readonly uid: number
  cell: Cell | undefined
  /** Messages for an actor that has not come yet. */
  early: MessageRing | undefined = undefined
  readonly #step: number
  #messages = 0
  #bytes = 0

  constructor(crossing: Crossing, id: number, uid: number, window: number, cell: Cell | undefined) {
    this.crossing = crossing
    this.id = id
    this.uid = uid
    this.cell = cell
    this.#step = Math.max(1, window >> 2)
  }

  /** Takes a message that has come; it was counted as sent where it was sent. */
  take(message: unknown, meta: Meta, size: number): void {
    this.crossing.received++
    this.#messages++
    this.#bytes += size
    let marked = meta
    if (this.#messages >= this.#step || this.#bytes >= mostBytes / 4) {
      marked = new Credit(this, meta, this.#messages, this.#bytes)
      this.#messages = 0
      this.#bytes = 0
    }
    if (this.cell !== undefined) this.cell.accept(message, marked)
    else (this.early ??= new MessageRing()).push(message, marked)
  }

  /**
   * No more comes by this link. What came since the last message that carries credit is given back now, taken or not: less than a quarter of
   * what may be under way. The messages that carry credit give it back when they are taken.
   */
  end(): void {
    if (this.#messages === 0) return
    giveCredit(this, this.#messages, this.#bytes)
    this.#messages = 0
    this.#bytes = 0
  }

  /** The actor has come: it gets what waited. */
  arrived(cell: Cell): void {
    this.cell = cell
    const { early } = this
    this.early = undefined
    for (let message = early?.shift(); message !== undefined; message = early!.shift()) {
      const meta = early!.meta as Meta
      if (meta instanceof Envelope) meta.moved(cell)
      cell.accept(message, meta)
    }
  }
}
