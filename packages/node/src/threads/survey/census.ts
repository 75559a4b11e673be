// Where every message is, on all threads at one moment. Nobody is stopped for it: each thread writes down its own ledger, and
// what it has sent and received by each of its ways, when the first mark reaches it, and passes the mark on by every way it
// has. Marks travel in order with messages: whoever gets what was sent after one has met it before, so that all that was
// written down is of one consistent cut, and what one has sent and the other not received was under way in it.

import type { LedgerReport } from '@troupe/core'
import { ledgerOf } from '@troupe/core/internal'
import type { Exchange, Part } from '@troupe/border'

export class Census {
  readonly #exchange: Exchange
  readonly #report: (id: number, part: Part) => void
  #last = 0

  constructor(exchange: Exchange, report: (id: number, part: Part) => void) {
    this.#exchange = exchange
    this.#report = report
    exchange.on('census', ({ id }) => {
      if (id > this.#last) this.begin(id)
    })
    // The first record of a new way is a mark: whatever goes by it comes after what was written down here.
    exchange.onWay = (crossing) => {
      if (this.#last > 0) crossing.control({ op: 'census', id: this.#last })
    }
  }

  /** Writes this thread's part down; with `own`, which is asked at the same moment, what that says more than the thread's own counts. */
  begin(id: number, own?: () => LedgerReport): void {
    this.#last = id
    const { core, crossings, epoch } = this.#exchange
    const ways = crossings.map(({ peer, sent, received }) => ({ peer, sent, received }))
    const unsent = crossings.reduce((sum, crossing) => sum + crossing.standing.unsent, 0)
    const part = { epoch, ledger: this.#ledger(own), ways, unsent, pending: core.pending }
    for (const crossing of crossings) if (crossing.state !== 'closed') crossing.control({ op: 'census', id })
    this.#report(id, part)
  }

  #ledger(own: (() => LedgerReport) | undefined): LedgerReport {
    const here = this.#exchange.ledger()
    if (own === undefined) return here
    const { core } = this.#exchange
    const plain = ledgerOf(core.ledger, core.guardian)
    const given = own()
    // A node of a cluster counts what came to it as sent here, and what it sent to others not at all.
    const keys = Object.keys(here) as (keyof LedgerReport)[]
    return Object.fromEntries(keys.map((key) => [key, here[key] + given[key] - plain[key]])) as unknown as LedgerReport
  }
}

/** Takes part in the counts that another thread begins. */
export function answerCensus(exchange: Exchange, report: (id: number, part: Part) => void): Census {
  return new Census(exchange, report)
}

/** The ledger of all threads. What is on the wire is in a queue, as its sender sees it. */
export function addLedgers(parts: readonly Part[]): LedgerReport {
  const sum = { sent: 0, handled: 0, failed: 0, unhandled: 0, dropped: 0, deadLettered: 0, queued: 0, stashed: 0, inProgress: 0, unknown: 0 }
  const received = new Map<string, number>()
  for (const { epoch, ways } of parts) for (const way of ways) received.set(`${way.peer} ${epoch}`, way.received)
  const counted = new Set(parts.map((part) => part.epoch))
  for (const { epoch, ledger, ways } of parts) {
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += ledger[key]
    // Of a thread that is gone this end knows both: what it had from it, and what it sent in vain.
    for (const way of ways) sum.queued += way.sent - (counted.has(way.peer) ? (received.get(`${epoch} ${way.peer}`) ?? 0) : way.received)
  }
  return sum
}
