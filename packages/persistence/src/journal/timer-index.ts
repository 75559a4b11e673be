// Timers in the order of their time, for the journal in memory: sorted blocks of bounded size, so that setting, removing and finding one costs
// the same whether there are a thousand or a million.

import type { DueTimer } from '../values/stored.ts'

const maxBlock = 256

/** By time, then by id and key. */
export function inTimerOrder(a: DueTimer, b: DueTimer): number {
  if (a.due !== b.due) return a.due - b.due
  if (a.id !== b.id) return a.id < b.id ? -1 : 1
  return a.key === b.key ? 0 : a.key < b.key ? -1 : 1
}

export class TimerIndex {
  readonly #order: typeof inTimerOrder
  /** None is empty. */
  readonly #blocks: DueTimer[][] = []

  constructor(order: typeof inTimerOrder = inTimerOrder) {
    this.#order = order
  }

  add(timer: DueTimer): void {
    const at = Math.min(this.#blockOf(timer), this.#blocks.length - 1)
    if (at < 0) return void this.#blocks.push([timer])
    const block = this.#blocks[at]!
    block.splice(this.#placeIn(block, timer), 0, timer)
    if (block.length > maxBlock) this.#blocks.splice(at + 1, 0, block.splice(maxBlock >> 1))
  }
  remove(timer: DueTimer): void {
    const at = this.#blockOf(timer)
    const block = this.#blocks[at]
    if (block === undefined) return
    const place = this.#placeIn(block, timer)
    if (block[place] === undefined || this.#order(block[place], timer) !== 0) return
    block.splice(place, 1)
    if (block.length === 0) this.#blocks.splice(at, 1)
  }
  /** Those up to a time, after one if it is given, at most so many. */
  upTo(until: number, most: number, after: DueTimer | undefined): DueTimer[] {
    const found: DueTimer[] = []
    let at = after === undefined ? 0 : this.#blockOf(after)
    let place = after === undefined || this.#blocks[at] === undefined ? 0 : this.#placeIn(this.#blocks[at]!, after)
    for (; at < this.#blocks.length; at++, place = 0)
      for (const timer of this.#blocks[at]!.slice(place)) {
        if (timer.due > until || found.length >= most) return found
        if (after === undefined || this.#order(timer, after) > 0) found.push(timer)
      }
    return found
  }

  /** The first block whose last timer is not before this one; behind all blocks if there is none. */
  #blockOf(timer: DueTimer): number {
    return lowest(this.#blocks.length, (i) => this.#order(this.#blocks[i]!.at(-1)!, timer) >= 0)
  }
  #placeIn(block: readonly DueTimer[], timer: DueTimer): number {
    return lowest(block.length, (i) => this.#order(block[i]!, timer) >= 0)
  }
}

/** The first number for which a test holds that holds for all after it. */
function lowest(count: number, holds: (i: number) => boolean): number {
  let low = 0
  for (let high = count; low < high;) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
