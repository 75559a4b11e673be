// Where every message is, counted over all places at one instant: what left one and has not reached another is on its way
// between them, and nowhere else. T2's sum, and T3's bounds of what is under way.

import type { LedgerReport } from '@troupe/core'
import type { Exchange } from '@troupe/border'
import type { Simulation } from '@troupe/testkit/internal'
import type { SimThreads } from './simulated-threads.ts'

export class Sums {
  readonly #sim: Simulation
  readonly #threads: SimThreads
  #lossFree = true
  constructor(sim: Simulation, threads: SimThreads) {
    this.#sim = sim
    this.#threads = threads
  }

  /** After every step. While a loss is being told the sum is known to nobody; before the first, at every instant. */
  check(): void {
    if (this.#threads.living.length < this.#threads.all.size) this.#lossFree = false
    if (this.#lossFree) this.#compare('after a step')
    const held = new Set<string>()
    for (const exchange of this.#exchanges) {
      for (const { origin, id } of exchange.questions.mirrors) {
        if (held.has(`${origin} ${id}`)) this.#sim.violate('C9', `two threads have question ${id} of thread ${origin}`)
        held.add(`${origin} ${id}`)
      }
      for (const channel of exchange.channels) {
        const { unread, incoming } = channel.standing
        const most = this.#threads.setup.ringBytes
        if (unread > most || incoming > most) this.#sim.violate('T3', `${Math.max(unread, incoming)} bytes are under way in a ring of ${most}`)
        for (const link of channel.links.values())
          if (link.underWay < 0 || link.underWay > link.window)
            this.#sim.violate('T3', `${link.underWay} messages are under way to #${link.uid} with a window of ${link.window}`)
      }
    }
  }
  /** Once nothing is under way. */
  checkAtRest(): void {
    if (!this.#threads.settled) return this.#sim.violate('T2', 'the loss of a thread was never settled')
    this.#compare('at rest')
  }

  get #exchanges(): readonly Exchange[] {
    const epochs = [0, ...this.#threads.living.map((t) => t.epoch)]
    return epochs.map((epoch) => this.#threads.exchangeOf(epoch)).filter((e) => e !== undefined)
  }
  #compare(when: string): void {
    let open = 0
    let underWay = 0
    for (const exchange of this.#exchanges) {
      open += restOf(exchange.ledger())
      for (const channel of exchange.channels) {
        const peer = this.#threads.exchangeOf(channel.peer)
        // What a thread that is gone had from this one, and told it, is settled with its loss.
        underWay += channel.sent - (peer === undefined ? channel.received : (peer.knownChannel(exchange.epoch)?.received ?? 0))
      }
    }
    if (open !== underWay)
      this.#sim.violate('T2', `the ledger of all threads does not add up ${when}: ${open} messages are nowhere, and ${underWay} are under way`)
  }
}

/** What was sent here and is not accounted for here. */
function restOf(l: LedgerReport): number {
  return l.sent - (l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.unknown + l.queued + l.stashed + l.inProgress)
}
