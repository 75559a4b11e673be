// What all streams of a page have in common: one subscription to the source, how actors stand, who talks to whom, how the process is. It
// looks only while a stream is open, and a moment longer, so that a page that is loaded again or changes its view does not begin anew.

import type { HostNews, RoundNews, RuntimeNews, View } from '../feed/news.ts'
import type { ObservationSource } from '../source/source.ts'
import type { Update } from '../source/update.ts'
import { coreOf } from '@troupe/core/internal'
import { partsOfOthers } from './doors.ts'
import { Census } from './census.ts'
import { Flows } from './flows.ts'
import { HostGauge } from './host-gauge.ts'
import { roundNews, runtimeNews, SlowTurns } from './round-news.ts'
import { Standing } from './standing.ts'

/** Milliseconds for which it goes on looking after the last stream has ended. */
const linger = 5000

export interface Listener {
  readonly view: View
  /** A round, as far as this view wants it. */
  told(news: RoundNews): void
}

export class Hub {
  readonly source: ObservationSource
  readonly standing: Standing = new Standing()
  readonly #flows = new Flows()
  readonly #census = new Census()
  readonly #gauge = new HostGauge()
  readonly #slow = new SlowTurns()
  readonly #listeners = new Map<Listener, () => void>()
  #end: (() => void) | undefined
  /** Milliseconds since the last round. */
  #spent = 0
  #lingering: ReturnType<typeof setTimeout> | undefined
  readonly #whenResting = new Set<() => void>()
  #last: { readonly update: Update; readonly host: HostNews } | undefined

  constructor(source: ObservationSource) {
    this.source = source
  }

  /** Calls it whenever nobody looks any more. */
  whenResting(task: () => void): void {
    this.#whenResting.add(task)
  }

  get open(): number {
    return this.#listeners.size
  }

  /** Tells of every round from now on; of the last one at once, where there was one. */
  async listen(listener: Listener): Promise<() => void> {
    clearTimeout(this.#lingering)
    this.#lingering = undefined
    // One that only wants samples hears nothing by it.
    const { view } = listener
    const wants =
      view === 'flow' || view === 'traces' ? this.source.subscribe(() => {}, { flow: view === 'flow', traces: view === 'traces' }) : () => {}
    this.#listeners.set(listener, wants)
    if (this.#end === undefined) {
      this.#gauge.start()
      this.#end = this.source.subscribe((update) => void this.#hear(update))
    }
    const last = this.#last
    if (last !== undefined) listener.told(await this.#newsFor(view, { ...last.update, events: [] }, last.host))
    return () => this.#leave(listener)
  }

  #leave(listener: Listener): void {
    this.#listeners.get(listener)?.()
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
    this.#lingering = setTimeout(() => this.rest(), linger)
    this.#lingering.unref()
  }

  /** Looks no more. */
  rest(): void {
    clearTimeout(this.#lingering)
    this.#end?.()
    this.#end = undefined
    this.#gauge.stop()
    this.standing.clear()
    for (const task of this.#whenResting) task()
    this.#flows.clear()
    this.#census.clear()
    this.#slow.clear()
    this.#last = undefined
  }

  async #hear(heard: Update): Promise<void> {
    let began = performance.now()
    const seconds = this.#last === undefined ? 1 : Math.max(0.001, (heard.at - this.#last.update.at) / 1000)
    this.standing.take(heard, this.source.picture)
    this.#slow.take(heard.events, heard.at)
    const host = this.#gauge.read()
    // What was done for pages since the last round is a part of what looking costs.
    const update = { ...heard, spent: heard.spent + this.#spent }
    this.#spent = 0
    this.#last = { update, host }
    // Only what is shown is made; and kinds of all actors only where they are shown.
    const shown = new Set([...this.#listeners.keys()].map(({ view }) => view))
    // That it heard is counted by whoever told it.
    this.#spent += performance.now() - began
    if (shown.has('flow')) this.#flows.take(update.flow, seconds)
    for (const view of shown) {
      const news = await this.#newsFor(view, update, host)
      began = performance.now()
      for (const listener of this.#listeners.keys()) if (listener.view === view) listener.told(news)
      this.spend(began)
    }
  }

  /** Notes that a page was worked for since then. */
  spend(began: number): void {
    this.#spend(performance.now() - began)
  }
  #spend(ms: number): void {
    this.#spent += ms
    this.source.work(ms)
  }

  async #newsFor(view: View, update: Update, host: HostNews): Promise<RoundNews> {
    const { standing } = this
    const census = view === 'flow' ? await this.#census.take(standing, this.source, (ms) => this.#spend(ms)) : undefined
    const began = performance.now()
    const flow = census === undefined ? undefined : this.#flows.news(census)
    const runtime: RuntimeNews | undefined =
      view === 'runtime' ? runtimeNews(update, standing, this.#slow, partsOfOthers(coreOf(this.source.system))) : undefined
    const news = { ...roundNews(update, host, standing, view), flow, runtime }
    this.spend(began)
    return news
  }
}
