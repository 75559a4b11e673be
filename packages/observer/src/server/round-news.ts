// A round as a page hears of it: figures, findings, what happened, and what the open view wants besides. Pure.

import type { SeenEvent } from '../findings/frame.ts'
import type { HostNews, RoundNews, RuntimeNews, ThreadNews, View } from '../feed/news.ts'
import type { Update } from '../source/update.ts'
import type { PagePart } from '../feed/parts.ts'
import { here } from '../survey/look.ts'
import type { Standing } from './standing.ts'

const eventsMost = 300
const waitsMost = 500
/** Slow turns are told of for so long. */
const slowSpan = 60_000

export function roundNews(update: Update, host: HostNews, standing: Pick<Standing, 'queued' | 'at'>, view: View): RoundNews {
  const { metrics, events } = update
  const { messages, supervision } = metrics
  return {
    seq: update.seq,
    at: update.at,
    figures: {
      actors: metrics.active,
      sent: messages.sent,
      handled: messages.handled,
      failed: messages.failed,
      dropped: messages.dropped,
      deadLettered: messages.deadLettered,
      restarts: supervision.restarts,
      timers: metrics.timers,
      queued: standing.queued,
      pending: metrics.pending,
    },
    host,
    findings: update.findings,
    // The last ones: what is going on now matters more than what began it, which findings remember.
    events: events.slice(-eventsMost),
    eventsLeftOut: Math.max(0, events.length - eventsMost),
    lost: update.lost,
    skipped: 0,
    spent: update.spent,
    age: standing.at === 0 ? 0 : Math.max(0, update.at - standing.at),
    sampling: update.sampling,
    silent: update.silent ?? [],
    ledger: update.ledger,
    ...(view === 'waits' ? { waits: mattering(update.waits), waitsLeftOut: update.waitsLeftOut + Math.max(0, update.waits.length - waitsMost) } : {}),
  }
}

/** Those that hold up their askers first, for among those are the circles; then the oldest. */
function mattering(waits: Update['waits']): Update['waits'] {
  return waits.length <= waitsMost ? waits : waits.toSorted((a, b) => Number(b.binds) - Number(a.binds) || b.ms - a.ms).slice(0, waitsMost)
}

export function runtimeNews({ metrics, silent = [] }: Update, standing: Standing, slow: SlowTurns, others: readonly PagePart[]): RuntimeNews {
  const threads = new Map<number, { -readonly [K in keyof ThreadNews]: ThreadNews[K] }>()
  const of = (thread: number): { -readonly [K in keyof ThreadNews]: ThreadNews[K] } => {
    let news = threads.get(thread)
    if (news === undefined) threads.set(thread, (news = { thread, actors: 0, queued: 0, load: 0, rate: 0, silent: silent.includes(thread) }))
    return news
  }
  for (const thread of standing.picture.threads) of(thread)
  for (const thread of silent) of(thread)
  const { picture, records } = standing
  const { uid, parent, queued, waiting, place } = picture.columns
  let last = NaN
  let news = of(here)
  for (let row = 0; row < picture.used; row++) {
    if (uid[row] === 0) continue
    if (place[row] !== last) {
      last = place[row]!
      news = of(picture.threadOf(row))
    }
    if (parent[row] !== 0) news.actors++
    news.queued += queued[row]! + waiting[row]!
    news.load += records.load[row]!
    news.rate += records.rate[row]!
  }
  return {
    threads: [...threads.values()].sort((a, b) => a.thread - b.thread),
    dispatchers: metrics.dispatchers.map(({ name, turns, messages, messagesPerTurn, fairness, pressure, loopLatency }) => ({
      name,
      turns,
      messages,
      messagesPerTurn,
      fairness,
      pressure,
      latencyP99: loopLatency.p99,
    })),
    slow: slow.worst,
    others,
  }
}

/** Turns that held their thread, lately, by actor. */
export class SlowTurns {
  #turns: SeenEvent[] = []

  take(events: readonly SeenEvent[], now: number): void {
    this.#turns = [...this.#turns, ...events.filter(({ type }) => type === 'turn.slow')].filter(({ at }) => at > now - slowSpan).slice(-1000)
  }
  clear(): void {
    this.#turns = []
  }
  get worst(): RuntimeNews['slow'] {
    const byPath = new Map<string, { path: string; uid: number | undefined; times: number; longest: number; message: string | undefined }>()
    for (const { path = 'somebody', uid, ms = 0, message } of this.#turns) {
      const known = byPath.get(path)
      if (known === undefined) byPath.set(path, { path, uid, times: 1, longest: ms, message })
      else {
        known.times++
        if (ms > known.longest) Object.assign(known, { longest: ms, message })
      }
    }
    return [...byPath.values()].sort((a, b) => b.longest - a.longest).slice(0, 20)
  }
}
