// Where every message is, on all threads at one moment. Nobody is stopped for it: each thread writes down its own ledger
// when the first mark reaches it, passes the mark on by every way it has, and then counts what still arrives on a way
// before that way's mark. Marks travel in order with messages, so that the sum is of one consistent cut.

import type { LedgerReport } from 'troupe'
import type { Channel } from './channel.ts'
import type { Exchange } from './exchange.ts'

/** One thread's part of a census. */
export interface Part {
  readonly ledger: LedgerReport
  /** Messages that were on their way to it. */
  readonly underWay: number
  /** Handlers that wait for a promise. */
  readonly pending: number
}

interface Count {
  readonly ledger: LedgerReport
  readonly pending: number
  underWay: number
  readonly open: Map<Channel, number>
  readonly report: (part: Part) => void
}

export class Census {
  readonly #exchange: Exchange
  /** The count that is open here, of the census `#last`. */
  #count: Count | undefined
  #last = 0

  constructor(exchange: Exchange, report: (id: number, part: Part) => void) {
    this.#exchange = exchange
    exchange.on('census', ({ id }, channel) => {
      if (id > this.#last) this.begin(id, (part) => report(id, part))
      this.#marked(id, channel)
    })
    exchange.followWays({
      added: (channel) => {
        // The first record of a new way is a mark: whatever goes by it comes after what was written down here. A peer that has
        // not written its part down does so on meeting it, and marks the way in turn; one that has did so by this same rule.
        if (this.#last > 0) channel.control({ op: 'census', id: this.#last })
        this.#count?.open.set(channel, channel.received)
      },
      closed: (channel) => this.#marked(this.#last, channel),
    })
  }

  /** Writes this thread's part down. A count that was open is given up: who began this one does not wait for it any more. */
  begin(id: number, report: (part: Part) => void): void {
    this.#last = id
    const { core, channels } = this.#exchange
    const count: Count = { ledger: this.#exchange.ledger(), pending: core.pending, underWay: 0, open: new Map(), report }
    this.#count = count
    for (const channel of channels) {
      if (channel.state === 'closed') continue
      count.open.set(channel, channel.received)
      channel.control({ op: 'census', id })
    }
    this.#close(count)
  }

  #marked(id: number, channel: Channel): void {
    const count = this.#count
    const before = count?.open.get(channel)
    if (id !== this.#last || count === undefined || before === undefined) return
    count.underWay += channel.received - before
    count.open.delete(channel)
    this.#close(count)
  }
  #close(count: Count): void {
    if (count.open.size > 0) return
    this.#count = undefined
    count.report({ ledger: count.ledger, underWay: count.underWay, pending: count.pending })
  }
}

/** Takes part in the counts that another thread begins. */
export function answerCensus(exchange: Exchange, report: (id: number, part: Part) => void): Census {
  return new Census(exchange, report)
}

export function addLedgers(parts: readonly Part[]): LedgerReport {
  const sum = { sent: 0, handled: 0, failed: 0, unhandled: 0, dropped: 0, deadLettered: 0, queued: 0, stashed: 0, inProgress: 0, unknown: 0 }
  for (const { ledger, underWay } of parts) {
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += ledger[key]
    // On the wire is in a queue, as the sender sees it.
    sum.queued += underWay
  }
  return sum
}
