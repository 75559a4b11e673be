// What a thread has done, as numbers in a fixed order, so that they can be put where others read them without asking it.
// `counts` are shown before anything leaves the thread, so that they are never older than what was heard from it; `work`
// costs more to gather, and is shown at every beat and with every census.

import type { DeadLetterReason, DropReason } from '@troupe/core'
import { Histogram, type SystemCore } from '@troupe/core/internal'

const drops: Readonly<Record<DropReason, true>> = {
  drain: true,
  restart: true,
  expired: true,
  'stale-timer': true,
  'stash-overflow': true,
  'stash-cleared': true,
  unwatched: true,
  'mailbox-overflow': true,
  middleware: true,
}
const burials: Readonly<Record<DeadLetterReason, true>> = {
  stopped: true,
  'system-closed': true,
  'undefined-message': true,
  'not-accepted': true,
  'late-reply': true,
  'stale-adapter': true,
  'mailbox-full': true,
  'mailbox-failed': true,
  'redirect-cycle': true,
  'no-recipient': true,
  'no-routees': true,
  'not-transferable': true,
  'thread-lost': true,
  'node-lost': true,
  'node-behind': true,
  'no-owner': true,
  'unknown-kind': true,
}
export const dropReasons = Object.keys(drops) as readonly DropReason[]
export const burialReasons = Object.keys(burials) as readonly DeadLetterReason[]

/** What is counted, in this order; then come the reasons. */
export const count = { active: 0, terminated: 1, restarts: 2, limitsHit: 3, fatalStops: 4, failedEndSignals: 5 } as const
export const dropsAt = 6
export const burialsAt: number = dropsAt + dropReasons.length
export const countsLength: number = burialsAt + burialReasons.length

/** What work is told of, in this order; then come the buckets of `loopLatency`. */
export const work = {
  population: 0,
  depth: 1,
  turns: 2,
  messages: 3,
  unfinished: 4,
  fairActors: 5,
  fairSum: 6,
  fairSquares: 7,
  pending: 8,
  timers: 9,
  unheard: 10,
  subscriptions: 11,
  published: 12,
  delivered: 13,
  eventsDropped: 14,
  eventsWaiting: 15,
  latencyCount: 16,
  latencySum: 17,
  latencyMax: 18,
} as const
const bucketsAt = 19
export const workLength: number = bucketsAt + Histogram.buckets

/** Who is here for a parent elsewhere: those are counted there. */
interface Guests {
  readonly hostedCount: number
  readonly hostedGone: number
}

export class Tally {
  readonly #core: SystemCore
  readonly #guests: Guests
  readonly #counts: number[] = new Array<number>(countsLength).fill(0)
  #reasons = 0
  constructor(core: SystemCore, guests: Guests) {
    this.#core = core
    this.#guests = guests
  }

  /** The same array each time. */
  get counts(): readonly number[] {
    const core = this.#core
    const counts = this.#counts
    counts[count.active] = core.active - this.#guests.hostedCount
    counts[count.terminated] = core.terminated - this.#guests.hostedGone
    counts[count.restarts] = core.restarts
    counts[count.limitsHit] = core.limitsHit
    counts[count.fatalStops] = core.fatalStops
    counts[count.failedEndSignals] = core.failedEndSignals
    const { dropped, deadLettered } = core.ledger
    // Either only grows, and each of them with its reason.
    if (dropped + deadLettered !== this.#reasons) {
      this.#reasons = dropped + deadLettered
      for (const [i, reason] of dropReasons.entries()) counts[dropsAt + i] = core.drops[reason] ?? 0
      for (const [i, reason] of burialReasons.entries()) counts[burialsAt + i] = core.burials[reason] ?? 0
    }
    return counts
  }

  get work(): readonly number[] {
    const core = this.#core
    const { population, depth, turns, messages, unfinished, shares, loopLatency } = core.dispatchers.fallback
    const { published, delivered, dropped, waiting } = core.events.totals
    const { pending, timers, unheard, events } = core
    const { count: samples, sum, max, counts } = loopLatency
    // In the order of `work`.
    const { actors, sum: shared, squares } = shares
    const numbers = [population, depth, turns, messages, unfinished, actors, shared, squares, pending, timers.size, unheard, events.size]
    numbers.push(published, delivered, dropped, waiting, samples, sum, max)
    for (let i = 0; i < Histogram.buckets; i++) numbers.push(counts?.[i] ?? 0)
    return numbers
  }
}

/** Adds what a thread showed of its latencies. */
export function addLatency(to: Histogram, shown: ArrayLike<number>): void {
  to.count += shown[work.latencyCount]!
  to.sum += shown[work.latencySum]!
  to.max = Math.max(to.max, shown[work.latencyMax]!)
  const counts = (to.counts ??= new Uint32Array(Histogram.buckets))
  for (let i = 0; i < Histogram.buckets; i++) counts[i]! += shown[bucketsAt + i]!
}
