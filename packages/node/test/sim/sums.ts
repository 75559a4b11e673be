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
  /** Messages sent, come and ended, when last looked at. */
  #moves = 0
  /** Messages that nobody knows the end of, when last looked at. */
  #unknown = 0
  constructor(sim: Simulation, threads: SimThreads) {
    this.#sim = sim
    this.#threads = threads
  }

  /** After every step. While a loss is being told the sum is known to nobody; before the first, at every instant. */
  check(): void {
    if (this.#threads.living.length < this.#threads.all.size) this.#lossFree = false
    if (this.#lossFree && this.#hasMoved()) this.#compare('after a step')
    this.#checkUnknown()
    const held = new Set<string>()
    for (const exchange of this.#exchanges) {
      for (const { origin, id } of exchange.questions.mirrors) {
        if (held.has(`${origin} ${id}`)) this.#sim.violate('C9', `two threads have question ${id} of thread ${origin}`)
        held.add(`${origin} ${id}`)
      }
      for (const crossing of exchange.crossings) {
        const { unread, incoming } = crossing.standing
        const most = this.#threads.setup.ringBytes
        if (unread > most || incoming > most) this.#sim.violate('T3', `${Math.max(unread, incoming)} bytes are under way in a ring of ${most}`)
        for (const link of crossing.links)
          if (link.underWay < 0 || link.underWay > link.window)
            this.#sim.violate('T3', `${link.underWay} messages are under way to #${link.uid} with a window of ${link.window}`)
      }
    }
  }
  /** While nobody does anything: what is written has gone, also where room was made for it in the very moment in which its thread fell asleep. */
  checkGone(): void {
    for (const { epoch, crossings } of this.#exchanges) {
      for (const { peer, state, standing } of crossings)
        if (state === 'open' && standing.unsent > 0)
          this.#sim.violate('T3', `thread ${epoch} sleeps, and has ${standing.unsent} bytes for thread ${peer} that nobody sends`)
    }
  }
  /** Once nothing is under way. */
  checkAtRest(): void {
    if (!this.#threads.settled) return this.#sim.violate('T2', 'the loss of a thread was never settled')
    this.#compare('at rest')
  }

  /** Whether anything was sent, came or ended since the last look; a step without that is most often a thread that shows that it is alive. */
  #hasMoved(): boolean {
    let moves = 0
    for (const { core, crossings } of this.#exchanges) {
      const { sent, handled, failed, unhandled, dropped, deadLettered } = core.ledger
      moves += sent + handled + failed + unhandled + dropped + deadLettered
      for (const crossing of crossings) moves += crossing.sent + crossing.received
    }
    const moved = moves !== this.#moves
    this.#moves = moves
    return moved
  }

  /** What a lost thread had not told counts once and for good: less than before means that something counted twice. */
  #checkUnknown(): void {
    const { unknown } = this.#threads.pool.core.ledger
    if (unknown < this.#unknown) this.#sim.violate('T2', `${unknown} messages have an unknown end, and there were ${this.#unknown}`)
    this.#unknown = unknown
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
      for (const crossing of exchange.crossings) {
        const peer = this.#threads.exchangeOf(crossing.peer)
        // What a thread that is gone had from this one, and told it, is settled with its loss.
        underWay += crossing.sent - (peer === undefined ? crossing.received : (peer.knownCrossing(exchange.epoch)?.received ?? 0))
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
