// What is counted of turns while somebody looks: messages, turns and time of each actor, and who had a turn since the last look. A turn
// costs two stores; whose it was is settled when the dispatcher reads the clock, which it does anyway, for all turns since the last time at
// once: then what each took is known, too, as its share of the messages. Of those without an account (see stirred) only messages are counted.

import type { Cell } from './cell.ts'
import type { Dispatcher } from './dispatcher.ts'
import { dear, followedMost, type Stirred } from './stirred.ts'
import type { Witness } from './witness.ts'

/** Turns between two reads of the clock, at most: each takes one of the messages that it is read after. One goes on from before. */
const turnsMost = 128

/** Looks on at one dispatcher. */
export class TurnWatch implements Witness {
  readonly #dispatcher: Dispatcher
  readonly #stirred: Stirred
  /** Who looked on before, and is told all the same. */
  outer: Witness | undefined
  /** Whose turns there were since the clock was read last, and messages of the dispatcher when each began. */
  readonly #cells: (Cell | undefined)[] = new Array<Cell | undefined>(turnsMost).fill(undefined)
  readonly #began: Float64Array = new Float64Array(turnsMost)
  #turns = 0
  /** The first of them began before that, and was counted. */
  #goesOn = false
  /** When the clock was read last. */
  #at: number

  constructor(dispatcher: Dispatcher, stirred: Stirred) {
    this.#dispatcher = dispatcher
    this.#stirred = stirred
    this.outer = dispatcher.witness
    this.#at = dispatcher.now
  }

  turn(cell: Cell): void {
    if (this.outer !== undefined) this.outer.turn(cell)
    // Never more than that, unless turns break; then the clock is read.
    const at = this.#turns & (turnsMost - 1)
    this.#cells[at] = cell
    this.#began[at] = this.#dispatcher.messages
    this.#turns = at + 1
  }

  clockRead(now: number, fired: boolean): void {
    this.#settle(now)
    const dispatcher = this.#dispatcher
    const { current } = dispatcher
    if (current !== undefined) {
      this.#cells[0] = current
      this.#began[0] = dispatcher.messages
      this.#turns = 1
      this.#goesOn = true
    }
    this.#at = fired ? dispatcher.host.runtime.now() : now
    this.outer?.clockRead?.(now, fired)
  }

  /** The end of a drain: what comes until the next one is nobody's time. */
  rest(): void {
    if (this.#turns > 0) this.#settle(this.#dispatcher.host.runtime.now())
    this.outer?.rest()
  }

  /** Shares the time since the clock was read last among those that had turns. */
  #settle(now: number): void {
    const turns = this.#turns
    if (turns === 0) return
    const cells = this.#cells
    const began = this.#began
    const all = this.#dispatcher.messages
    const each = all > began[0]! ? (now - this.#at) / (all - began[0]!) : 0
    const goesOn = this.#goesOn
    this.#turns = 0
    this.#goesOn = false
    let others = 0
    let last: Cell | undefined
    for (let i = 0; i < turns; i++) {
      const cell = cells[i]!
      cells[i] = undefined
      const handled = (i + 1 < turns ? began[i + 1]! : all) - began[i]!
      const again = goesOn && i === 0
      // The read of the clock that the turn went on after was its end.
      if (again && handled === 0) continue
      if (this.#stirred.list.length >= followedMost && this.#stirred.plain.add(cell.ref.uid, handled)) {
        others += handled
        last = cell
      } else this.#stirs(cell, again ? 0 : 1, handled, handled * each)
    }
    if (last !== undefined) this.#priceOthers(last, others, each)
  }

  #stirs(cell: Cell, turns: number, handled: number, ms: number): void {
    const stirred = this.#stirred
    const count = stirred.of(cell)
    count.turns += turns
    count.processed += handled
    count.busy += ms
    if (count.epoch !== stirred.epoch) {
      count.epoch = stirred.epoch
      stirred.list.push(count)
    }
  }

  /** Where one of them took long it was probably the last: those that are suspected the dispatcher times alone. */
  #priceOthers(last: Cell, messages: number, each: number): void {
    const stirred = this.#stirred
    stirred.ms += each * messages
    stirred.messages += messages
    if (each > dear) stirred.of(last)
  }
}
