// What a journal was asked for and how long that took: counted once per group and once per recovery, never per event. One for a system,
// whoever writes for which part of the journal.

import { show } from '@troupe/core/internal'

/** So many of the latest groups are remembered by their time. */
const remembered = 256

/** How long commits took lately, in milliseconds; all 0 before the first one. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly last: number
}

export class Tally {
  /** Groups that the journal was given, with what they held. */
  groups = 0
  records = 0
  events = 0
  /** Groups of which nothing was stored, because the journal refused or did not say. */
  failedGroups = 0
  /** Recoveries that ended, well or not. */
  recovered = 0
  unrecovered = 0
  /** What the journal last said against opening, or against a whole group; undefined since it last did what it was asked for. */
  trouble: string | undefined
  readonly #times = new Float64Array(remembered)

  /** A group is over, after so many milliseconds. */
  committed(ms: number, records: number, events: number, trouble: unknown): void {
    this.#times[this.groups++ % remembered] = ms
    this.records += records
    this.events += events
    this.heard(trouble)
    if (trouble !== undefined) this.failedGroups++
  }
  heard(trouble: unknown): void {
    this.trouble = trouble === undefined ? undefined : trouble instanceof Error ? trouble.message : show(trouble)
  }

  get latency(): Latency {
    const { groups } = this
    if (groups === 0) return { p50: 0, p99: 0, max: 0, last: 0 }
    const sorted = this.#times.slice(0, Math.min(groups, remembered)).sort()
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
    return { p50: at(0.5), p99: at(0.99), max: at(1), last: this.#times[(groups - 1) % remembered]! }
  }
}
