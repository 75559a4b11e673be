// Counts where every message is, on all threads: begins a census, gathers the parts, and begins anew when a thread was lost
// meanwhile. One at a time, so that a mark always means the count that is open.

import type { LedgerReport } from '@troupe/core'
import { addLedgers, Census } from './census.ts'
import type { Exchange, Part } from '@troupe/border'
import { Poll } from './poll.ts'

export class Counting {
  readonly #census: Census
  readonly #epochs: () => Iterable<number>
  readonly #ready: () => Promise<void>
  readonly #poll = new Poll<Part>()
  #last: Promise<unknown> = Promise.resolve()

  /** `epochs` are the threads there are; `ready` resolves when nothing that is gone is still to be settled. */
  constructor(exchange: Exchange, epochs: () => Iterable<number>, ready: () => Promise<void>) {
    this.#epochs = epochs
    this.#ready = ready
    this.#census = new Census(exchange, (id, part) => void this.#poll.answered(id, 0, part))
    exchange.on('census.part', ({ id, part }, crossing) => void this.#poll.answered(id, crossing.peer, part))
  }

  /** `own` is the ledger of this thread as whoever connects the system with others has it. */
  async ledger(own?: () => LedgerReport): Promise<LedgerReport> {
    return addLedgers(await this.parts(own))
  }

  /** The parts of all threads, of one consistent cut. */
  parts(own?: () => LedgerReport): Promise<readonly Part[]> {
    const counted = this.#last.then(() => this.#gather(own))
    this.#last = counted
    return counted
  }
  /** Whether nothing was queued, under way or in progress anywhere. */
  async quiet(): Promise<boolean> {
    const parts = await this.parts()
    const { queued, inProgress } = addLedgers(parts)
    return queued === 0 && inProgress === 0 && parts.every((p) => p.pending === 0)
  }

  async #gather(own: (() => LedgerReport) | undefined): Promise<readonly Part[]> {
    for (;;) {
      await this.#ready()
      const parts = await this.#once(own)
      // A thread that was lost meanwhile took its part with it; its messages are settled, then everything is counted anew.
      if (parts !== undefined) return parts
    }
  }
  #once(own: (() => LedgerReport) | undefined): Promise<readonly Part[] | undefined> {
    return new Promise((resolve) => {
      // Threads that are started meanwhile have nothing to tell: the mark is the first that they hear of anybody.
      const id = this.#poll.begin([0, ...this.#epochs()], (parts) => resolve(parts && [...parts.values()]))
      this.#census.begin(id, own)
    })
  }

  /** A thread is gone, and with it the count that is open. */
  gone(): void {
    this.#poll.drop()
  }

  /** What is waited for, in words. */
  get waits(): readonly string[] {
    return this.#poll.awaited.map((awaited) => `a count has no part yet of ${awaited.join(', ')}`)
  }
}
