// The numbers of all threads, as far as they were shown: read off what each shows, without asking it. What a thread that is
// gone had done is kept, so that no total ever goes down; whoever lived there has ended with it.

import type { SystemCounts, SystemMetrics } from '@troupe/core'
import { type Elsewhere, Histogram, type RemoteWork } from '@troupe/core/internal'
import type { LedgerCounts } from '../wire/ledger-shape.ts'
import { addLatency, burialReasons, burialsAt, count, countsLength, dropReasons, dropsAt, work, workLength } from '../wire/tally.ts'
import type { Thread } from '../pool/thread.ts'

interface Watched {
  readonly threads: Iterable<Thread>
  isPinned(thread: Thread): boolean
  /** What threads that are gone have shown of their ledgers, and what of that is not settled yet. */
  readonly unsettled: Iterable<LedgerCounts>
}

/** What is of the moment, and ends with its thread. */
const passing: readonly number[] = [
  work.population,
  work.depth,
  work.pending,
  work.timers,
  work.subscriptions,
  work.eventsWaiting,
  work.fairActors,
  work.fairSum,
  work.fairSquares,
]

export class Figures implements Elsewhere {
  readonly #pool: Watched
  readonly #pastCounts = new Array<number>(countsLength).fill(0)
  /** Of threads of the pool, and of pinned ones. */
  readonly #pastWork = [new Array<number>(workLength).fill(0), new Array<number>(workLength).fill(0)] as const
  constructor(pool: Watched) {
    this.#pool = pool
  }

  /** A thread is gone. */
  gone(thread: Thread): void {
    const { lastCounts, lastWork } = thread.signs
    add(this.#pastCounts, lastCounts)
    this.#pastCounts[count.terminated]! += lastCounts[count.active]!
    this.#pastCounts[count.active] = 0
    const past = this.#pastWork[this.#pool.isPinned(thread) ? 1 : 0]
    const max = Math.max(past[work.latencyMax]!, lastWork[work.latencyMax]!)
    add(past, lastWork)
    past[work.latencyMax] = max
    for (const field of passing) past[field] = 0
  }

  counts(own: SystemCounts): SystemCounts {
    return counted(own, this.#counts())
  }

  metrics(own: SystemMetrics): SystemMetrics {
    const counts = this.#counts()
    const sum = [...this.#pastWork[0]]
    add(sum, this.#pastWork[1])
    const messages = { ...own.messages }
    const addLedger = (ledger: LedgerCounts): void => {
      for (const key of Object.keys(messages) as (keyof typeof messages)[]) messages[key] += ledger[key]
    }
    for (const { signs } of this.#pool.threads) {
      add(sum, signs.lastWork)
      addLedger(signs.lastLedger)
    }
    for (const ledger of this.#pool.unsettled) addLedger(ledger)
    const { published, delivered, dropped, waiting } = own.events
    return {
      ...own,
      ...counted(own, counts),
      messages,
      dropReasons: withReasons(own.dropReasons, dropReasons, counts, dropsAt),
      deadLetterReasons: withReasons(own.deadLetterReasons, burialReasons, counts, burialsAt),
      pending: own.pending + sum[work.pending]!,
      timers: own.timers + sum[work.timers]!,
      unheard: own.unheard + sum[work.unheard]!,
      subscriptions: own.subscriptions + sum[work.subscriptions]!,
      events: {
        published: published + sum[work.published]!,
        delivered: delivered + sum[work.delivered]!,
        dropped: dropped + sum[work.eventsDropped]!,
        waiting: waiting + sum[work.eventsWaiting]!,
      },
    }
  }

  /** What the threads behind a dispatcher have done together. */
  work(pinned: boolean): RemoteWork {
    const past = this.#pastWork[pinned ? 1 : 0]
    const sum = [...past]
    const loopLatency = new Histogram()
    addLatency(loopLatency, past)
    let workers = 0
    for (const thread of this.#pool.threads) {
      if (this.#pool.isPinned(thread) !== pinned) continue
      const { lastWork, atWork } = thread.signs
      add(sum, lastWork)
      addLatency(loopLatency, lastWork)
      if (atWork) workers++
    }
    return {
      population: sum[work.population]!,
      depth: sum[work.depth]!,
      turns: sum[work.turns]!,
      messages: sum[work.messages]!,
      unfinished: sum[work.unfinished]!,
      shares: { actors: sum[work.fairActors]!, sum: sum[work.fairSum]!, squares: sum[work.fairSquares]! },
      loopLatency,
      workers,
    }
  }

  #counts(): number[] {
    const counts = [...this.#pastCounts]
    for (const { signs } of this.#pool.threads) add(counts, signs.lastCounts)
    return counts
  }
}

function add(to: number[], more: ArrayLike<number>): void {
  for (let i = 0; i < to.length; i++) to[i]! += more[i]!
}

function counted(own: SystemCounts, counts: readonly number[]): SystemCounts {
  const { restarts, limitsHit, fatalStops, failedEndSignals } = own.supervision
  return {
    active: own.active + counts[count.active]!,
    terminated: own.terminated + counts[count.terminated]!,
    supervision: {
      restarts: restarts + counts[count.restarts]!,
      limitsHit: limitsHit + counts[count.limitsHit]!,
      fatalStops: fatalStops + counts[count.fatalStops]!,
      failedEndSignals: failedEndSignals + counts[count.failedEndSignals]!,
    },
  }
}

function withReasons<R extends string>(
  own: Readonly<Partial<Record<R, number>>>,
  reasons: readonly R[],
  counts: readonly number[],
  at: number,
): Partial<Record<R, number>> {
  const all: Partial<Record<R, number>> = { ...own }
  for (const [i, reason] of reasons.entries()) if (counts[at + i]! > 0) all[reason] = (all[reason] ?? 0) + counts[at + i]!
  return all
}
