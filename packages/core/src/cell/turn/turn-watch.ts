// What is counted of turns while somebody looks: messages, turns and time of each actor, and who had a turn since the last look. It
// costs a few loads a turn and nothing a message. Time is measured between two reads of the clock, which the dispatcher makes anyway,
// and shared among those that ran by the messages they handled. Of those without an account (see stirred) only messages are counted.

import type { Cell } from './cell.ts'
import type { Dispatcher } from './dispatcher.ts'
import { dear, followedMost, type Stirred, type TurnCount } from './stirred.ts'
import type { Witness } from './witness.ts'

/** Looks on at one dispatcher. An account is closed when the next turn begins, or with the drain: nothing need be called after a turn. */
export class TurnWatch implements Witness {
  readonly #dispatcher: Dispatcher
  readonly #stirred: Stirred
  /** Who looked on before, and is told all the same. */
  outer: Witness | undefined
  #current: TurnCount | undefined
  /** Whose turn it is, where that one has no account; and who of those was the last before the clock is read again. */
  #other: Cell | undefined
  #last: Cell | undefined
  /** Messages of the dispatcher when the present turn began. */
  #messages: number
  /** When the clock was read last. */
  #at: number
  /** Those that ran since. */
  readonly #ran: TurnCount[] = []
  /** Messages since then; and those of them that were handled by others than those. */
  #unpriced = 0
  #others = 0

  constructor(dispatcher: Dispatcher, stirred: Stirred) {
    this.#dispatcher = dispatcher
    this.#stirred = stirred
    this.outer = dispatcher.witness
    this.#messages = dispatcher.messages
    this.#at = dispatcher.now
  }

  turn(cell: Cell): void {
    if (this.outer !== undefined) this.outer.turn(cell)
    this.#close()
    // Whether it has an account is looked up once, when something is to be counted.
    if (this.#stirred.list.length >= followedMost) {
      this.#current = undefined
      this.#other = cell
      return
    }
    this.#other = undefined
    this.#current = this.#stirs(cell)
  }

  #stirs(cell: Cell): TurnCount {
    const stirred = this.#stirred
    const count = stirred.of(cell)
    count.turns++
    if (count.epoch !== stirred.epoch) {
      count.epoch = stirred.epoch
      stirred.list.push(count)
    }
    return count
  }

  /** What the dispatcher counted since the turn began is the present actor's. */
  #close(): void {
    const { messages } = this.#dispatcher
    const handled = messages - this.#messages
    if (handled === 0) return
    this.#messages = messages
    // The turn may go on after this, where the clock is read in the middle of it: whose it is stays known.
    const other = this.#other
    if (other !== undefined && this.#stirred.plain.add(other.ref.uid, handled)) {
      this.#unpriced += handled
      this.#others += handled
      this.#last = other
      return
    }
    this.#other = undefined
    const count = other === undefined ? this.#current : (this.#current = this.#stirs(other))
    if (count === undefined) return
    count.processed += handled
    if (count.unpriced === 0) this.#ran.push(count)
    count.unpriced += handled
    this.#unpriced += handled
  }

  clockRead(now: number, fired: boolean): void {
    this.#close()
    this.#price(now)
    if (fired) this.#at = this.#dispatcher.host.runtime.now()
    this.outer?.clockRead?.(now, fired)
  }

  #price(now: number): void {
    const ran = this.#ran
    if (this.#unpriced > 0) {
      const each = (now - this.#at) / this.#unpriced
      for (const count of ran) {
        count.busy += each * count.unpriced
        count.unpriced = 0
      }
      ran.length = 0
      if (this.#last !== undefined) this.#priceOthers(this.#last, each)
      this.#unpriced = this.#others = 0
    }
    this.#at = now
  }

  /** Where one of them took long it was probably the last: those that are suspected the dispatcher times alone. */
  #priceOthers(last: Cell, each: number): void {
    this.#last = undefined
    const stirred = this.#stirred
    stirred.ms += each * this.#others
    stirred.messages += this.#others
    if (each > dear) stirred.of(last)
  }

  /** The end of a drain: what comes until the next one is nobody's time. */
  rest(): void {
    this.#close()
    this.#current = this.#other = undefined
    if (this.#unpriced > 0) this.#price(this.#dispatcher.host.runtime.now())
    this.outer?.rest()
  }
}
