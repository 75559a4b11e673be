// What is counted of turns while somebody looks: messages, turns and time of each actor, and who had a turn since the last look. A turn
// costs two stores; whose it was is settled when the dispatcher reads the clock, which it does anyway, for all turns since the last time at
// once: then what each took is known, too, as its share of the messages. Of those without an account (see stirred) only messages are counted.
//
// Where actors keep a thread busy for whole slices with messages that take next to nothing, even that is much: then not every slice is looked at, of few
// actors one of seven, of a crowd every second one, and what was handled in the others is shared among those that are seen in it. Sums are exact, and who did how
// much of them is about right.

import type { Cell } from './cell.ts'
import type { Dispatcher } from './dispatcher.ts'
import { dear, type Stirred } from './stirred.ts'
import type { Witness } from './witness.ts'
import { addWitness, removeWitness } from './witnesses.ts'

/** Turns between two reads of the clock, at most: each takes one of the messages that it is read after. One goes on from before. */
const turnsMost = 128
/** Where few actors have turns, and in a crowd: which slice after one that is looked at is looked at again, and messages in a slice from which on that is so. */
const ofFew = { next: 7, many: 8192 } as const
const ofCrowd = { next: 2, many: 2048 } as const
/** Actors that are few. */
const few = 1024

/** Looks on at one dispatcher, from `begin` to `end`. */
export class TurnWatch implements Witness {
  readonly #dispatcher: Dispatcher
  readonly #stirred: Stirred
  /** Whose turns there were since the clock was read last, and messages until it was to be read when each began. */
  readonly #cells: (Cell | undefined)[] = new Array<Cell | undefined>(turnsMost).fill(undefined)
  readonly #left: Uint8Array = new Uint8Array(turnsMost)
  #turns = 0
  /** Messages of the dispatcher then. */
  #messages = 0
  /** The first of them began before that, and was counted. */
  #goesOn = false
  /** When the clock was read last. */
  #at = 0
  /** Messages of the dispatcher, and the time, when the drain began. */
  #drainMessages = 0
  #drainAt = 0
  /** Messages that nobody looked at, and that are nobody's yet. */
  #unseen = 0
  /** Slices until it looks again; 0 while it does. */
  #skips = 0
  #ended = false

  constructor(dispatcher: Dispatcher, stirred: Stirred) {
    this.#dispatcher = dispatcher
    this.#stirred = stirred
  }

  begin(): void {
    const dispatcher = this.#dispatcher
    addWitness(dispatcher, this)
    this.#messages = this.#drainMessages = dispatcher.messages
    this.#at = this.#drainAt = dispatcher.now
  }
  end(): void {
    this.#ended = true
    removeWitness(this.#dispatcher, this)
  }

  // As short as it can be: a compiler takes it into the loop of the dispatcher, and what it finds too much for that it leaves out elsewhere.
  turn(cell: Cell): void {
    this.#cells[this.#turns] = cell
    this.#left[this.#turns++] = this.#dispatcher.untilClock
  }

  clockRead(now: number, fired: boolean): void {
    const seen = this.#turns > 0
    this.#settle(now)
    const dispatcher = this.#dispatcher
    const { current } = dispatcher
    if (current === undefined) {
      if (dispatcher.messages === this.#drainMessages) this.#drainAt = now
    } else if (seen) {
      this.#cells[0] = current
      this.#left[0] = dispatcher.untilClock
      this.#turns = 1
      this.#goesOn = true
    }
    this.#at = fired ? dispatcher.host.runtime.now() : now
  }

  /** The end of a drain: what comes until the next one is nobody's time. */
  rest(): void {
    const dispatcher = this.#dispatcher
    const now = dispatcher.host.runtime.now()
    this.#settle(now)
    const handled = dispatcher.messages - this.#drainMessages
    this.#drainMessages += handled
    const whole = now - this.#drainAt >= dispatcher.slice / 2
    // Nobody is asked in between: a place in the loop of a dispatcher that is empty costs nothing.
    const { crowded, list } = this.#stirred
    const { next, many } = crowded ? ofCrowd : ofFew
    if (handled < many || !whole || dispatcher.depth === 0 || (!crowded && list.length > few)) return
    this.#skips = next
    this.#stirred.overlooked = true
    removeWitness(dispatcher, this)
    dispatcher.host.runtime.yield(this.#pass)
  }

  /** Before the next slice: whether to look at it. Where there is nothing more to do whatever comes next is looked at. */
  readonly #pass = (): void => {
    if (this.#ended) return
    const dispatcher = this.#dispatcher
    if (--this.#skips > 0 && dispatcher.depth > 0) return dispatcher.host.runtime.yield(this.#pass)
    this.#skips = 0
    this.#unseen += dispatcher.messages - this.#drainMessages
    this.#stirred.overlooked = true
    this.begin()
  }

  /** Shares the time since the clock was read last among those that had turns. */
  #settle(now: number): void {
    const turns = this.#turns
    const { messages } = this.#dispatcher
    const total = messages - this.#messages
    this.#messages = messages
    if (turns === 0) return
    const cells = this.#cells
    const left = this.#left
    const each = total > 0 ? (now - this.#at) / total : 0
    const stirred = this.#stirred
    const { crowded } = stirred
    // In a crowd evenly: most are met once in a slice, and nobody's messages are to count eight times.
    const more = Math.min(this.#unseen, total * (crowded ? ofCrowd.next - 1 : ofFew.next))
    this.#unseen -= more
    const extra = more > 0 ? more / total : 0
    const goesOn = this.#goesOn
    this.#turns = 0
    this.#goesOn = false
    let others = 0
    let counted = 0
    let last: Cell | undefined
    for (let i = 0; i < turns; i++) {
      const cell = cells[i]!
      cells[i] = undefined
      const again = goesOn && i === 0
      const handled = i + 1 < turns ? left[i]! - left[i + 1]! : total - counted
      // The read of the clock that the turn went on after was its end; then the next one may have begun with fewer messages until the next read.
      if (again && (handled === 0 || (turns > 1 && handled >= total))) continue
      const before = counted
      counted += handled
      // Whole messages, and all of them together as many as there are.
      const count = extra === 0 ? handled : handled + Math.round(counted * extra) - Math.round(before * extra)
      if (crowded && stirred.count(cell, count)) {
        others += count
        last = cell
      } else this.#stirs(cell, again ? 0 : 1 + extra, count, count * each)
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
