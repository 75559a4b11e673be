// One direction of a channel, the far end: which frames have arrived, and those that wait for one before them. What it holds is bounded by
// the same window as what a sender has under way, so that an honest sender is never refused and a hostile one gets no further.

import { costOf } from './limits.ts'

export type Arrival =
  /** It is the next: these bodies are to be taken now, in this order. */
  | readonly Uint8Array[]
  /** It waits for others. */
  | 'early'
  /** It was here before. */
  | 'again'
  /** There is no room for it; it will come again. */
  | 'refused'

export class Receiver {
  readonly #window: number
  readonly #held = new Map<number, { readonly body: Uint8Array; readonly cost: number }>()
  #cost = 0
  #ack = 0

  constructor(window: number) {
    this.#window = window
  }

  /** The last number that has arrived with all before it. */
  get ack(): number {
    return this.#ack
  }

  /** Bytes that wait for one before them, as they count against the window. */
  get cost(): number {
    return this.#cost
  }

  get hasGaps(): boolean {
    return this.#held.size > 0
  }

  arrived(number: number, body: Uint8Array, size: number): Arrival {
    if (number <= this.#ack || this.#held.has(number)) return 'again'
    if (number > this.#ack + 1) return this.#hold(number, body, size)
    const bodies = [body]
    this.#ack = number
    for (;;) {
      const next = this.#held.get(this.#ack + 1)
      if (next === undefined) return bodies
      this.#held.delete(++this.#ack)
      bodies.push(next.body)
      this.#cost -= next.cost
    }
  }

  /** First and last number of what has arrived beyond `ack`, ascending. */
  ranges(): [first: number, last: number][] {
    const ranges: [number, number][] = []
    for (const number of [...this.#held.keys()].sort((a, b) => a - b)) {
      const range = ranges.at(-1)
      if (range !== undefined && range[1] === number - 1) range[1] = number
      else ranges.push([number, number])
    }
    return ranges
  }

  clear(): void {
    this.#held.clear()
    this.#cost = 0
  }

  #hold(number: number, body: Uint8Array, size: number): Arrival {
    const cost = costOf(size)
    if (this.#cost + cost > this.#window) return 'refused'
    // The wire may write into its bytes again, and a small view would keep all of them.
    this.#held.set(number, { body: body.slice(), cost })
    this.#cost += cost
    return 'early'
  }
}
