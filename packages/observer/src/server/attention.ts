// Who of a system is looked at closely because a page shows it: for as long as the page asks about it, and a few seconds more.

import type { Closeness, Given } from '../sampling/closeness.ts'
import type { ObservationSource } from '../source/source.ts'
import type { CloseNews, GivenNews, HistogramNews } from '../feed/news.ts'
import { payloadText, type Redact } from './payload.ts'

/** Milliseconds after the last question about it, and how many at once. */
const linger = 5000
const closeMost = 8

interface Watched {
  readonly seen: Closeness
  readonly since: number
  end(): void
  timer: ReturnType<typeof setTimeout>
}

export class Attention {
  readonly #source: ObservationSource
  readonly #watched = new Map<number, Watched>()
  readonly #payloads: { readonly redact: Redact | undefined } | undefined

  constructor(source: ObservationSource, payloads: { readonly redact: Redact | undefined } | undefined) {
    this.#source = source
    this.#payloads = payloads
  }

  /** What was seen of it so far; looks on from now on. Undefined where too many are looked at, or it is not there. */
  async of(uid: number, path: string, now: number): Promise<CloseNews | undefined> {
    let watched = this.#watched.get(uid)
    if (watched === undefined) {
      if (this.#watched.size >= closeMost) return undefined
      const begun = path === '/user' ? undefined : this.#source.lookClosely(path)
      if (begun === undefined) return undefined
      const timer = setTimeout(() => {}, 0)
      watched = { seen: begun.seen, since: now, timer, end: () => begun.end() }
      this.#watched.set(uid, watched)
    }
    clearTimeout(watched.timer)
    watched.timer = setTimeout(() => this.#leave(uid), linger)
    watched.timer.unref()
    return this.#news(watched, now)
  }

  #leave(uid: number): void {
    const watched = this.#watched.get(uid)
    if (watched === undefined) return
    clearTimeout(watched.timer)
    this.#watched.delete(uid)
    watched.end()
  }
  rest(): void {
    for (const uid of this.#watched.keys()) this.#leave(uid)
  }

  async #news({ seen, since }: Watched, now: number): Promise<CloseNews> {
    const { senders, receivers } = seen
    const uids = [...senders, ...receivers].map(({ who }) => who).filter((who): who is number => typeof who === 'number' && who !== 0)
    const names = await this.#source.names(new Set(uids))
    const named = ({ who, type, rate }: (typeof senders)[number]): CloseNews['senders'][number] => ({
      who: typeof who === 'string' ? who : who === 0 ? 'outside' : (names.get(who)?.path ?? `actor ${who}`),
      uid: typeof who === 'number' && who !== 0 ? who : undefined,
      type,
      rate,
    })
    return {
      since: now - since,
      senders: senders.map(named),
      receivers: receivers.map(named),
      queueTime: barsOf(seen.queueTime),
      handlerTime: barsOf(seen.handlerTime),
      last: seen.last.map((given) => this.#given(given)),
      payloads: this.#payloads !== undefined,
    }
  }

  #given({ what, at, type, sender, value }: Given): GivenNews {
    const text = this.#payloads === undefined || what === 'phase' ? undefined : payloadText(value, this.#payloads.redact)
    return { what, at, type, sender, text }
  }
}

/** Eight buckets of a histogram are one bar: it is twice as long as the one before. */
const perBar = 8
const least = 1e-4

function barsOf(histogram: Closeness['queueTime']): HistogramNews {
  const { count, p50, p99, max } = histogram.report()
  const { counts } = histogram
  const bars: number[] = []
  if (counts !== undefined)
    for (let i = 0; i < counts.length; i += perBar) {
      let sum = 0
      for (let j = i; j < i + perBar; j++) sum += counts[j] ?? 0
      bars.push(sum)
    }
  const first = bars.findIndex((n) => n > 0)
  const last = bars.findLastIndex((n) => n > 0)
  return { count, p50, p99, max, from: first < 0 ? 0 : least * 2 ** first, bars: first < 0 ? [] : bars.slice(first, last + 1) }
}
