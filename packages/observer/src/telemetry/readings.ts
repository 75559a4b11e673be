// What is read of a system when somebody collects: counts that it has anyway, and one look at its actors, put together by kind. Nothing is counted between two
// collections but what the event loop is late. Kinds, and never paths: what is collected must not grow with the number of actors.

import type { SystemMetrics } from '@troupe/core'
import { phaseNames } from '@troupe/core/internal'
import { HostGauge } from '../server/host-gauge.ts'
import type { ObservationSource } from '../source/source.ts'
import type { Kinds } from './naming.ts'

/** Restarts of actors that had ended when they were next looked at. */
const endedKind = 'ended'

/** What is known of all actors of one kind. */
export interface KindReading {
  actors: number
  /** Messages in their mailboxes. */
  depth: number
  /** Since the system began. */
  restarts: number
}

export interface Reading {
  readonly metrics: SystemMetrics
  readonly kinds: ReadonlyMap<string, Readonly<KindReading>>
  /** How late the event loop was since the last reading, in seconds. */
  readonly loopDelay: { readonly p99: number; readonly max: number }
}

interface Row {
  readonly uid: number
  readonly depth: number
  readonly incarnation: number
  /** A restart was decided and has not happened yet. */
  readonly restarting: boolean
}

const beforeRestart: ReadonlySet<string> = new Set(['failed', 'restarting'])

export class Readings {
  readonly #source: ObservationSource
  readonly #gauge = new HostGauge()
  readonly #known = new Map<number, { readonly kind: string; incarnation: number }>()
  readonly #restarts = new Map<string, number>()
  readonly #kinds: Kinds
  #ended = 0
  #under: Promise<Reading> | undefined

  constructor(source: ObservationSource, kinds: Kinds) {
    this.#source = source
    this.#kinds = kinds
    this.#gauge.start()
  }

  /** One reading; those who ask while it is made get the same. */
  read(): Promise<Reading> {
    return (this.#under ??= this.#read().finally(() => (this.#under = undefined)))
  }
  close(): void {
    this.#gauge.stop()
    this.#known.clear()
  }

  async #read(): Promise<Reading> {
    const { rows, decided } = await this.#look()
    const unknown = rows.filter(({ uid }) => !this.#known.has(uid)).map(({ uid }) => uid)
    const named = unknown.length === 0 ? new Map<number, { readonly kind: string }>() : await this.#source.names(unknown)
    const kinds = new Map<string, KindReading>()
    const entry = (kind: string): KindReading => {
      const there = kinds.get(kind)
      if (there !== undefined) return there
      const made = { actors: 0, depth: 0, restarts: this.#restarts.get(kind) ?? 0 }
      kinds.set(kind, made)
      return made
    }
    const seen = new Set<number>()
    let pending = 0
    for (const { uid, depth, incarnation, restarting } of rows) {
      if (restarting) pending++
      let known = this.#known.get(uid)
      if (known === undefined) {
        const name = named.get(uid)
        // It has ended since it was looked at.
        if (name === undefined) continue
        this.#known.set(uid, (known = { kind: this.#kinds.name(name.kind), incarnation: 0 }))
      }
      seen.add(uid)
      const { kind } = known
      const reading = entry(kind)
      reading.actors++
      reading.depth += depth
      const restarted = Math.max(0, incarnation - known.incarnation)
      known.incarnation = incarnation
      if (restarted > 0) this.#restarts.set(kind, (reading.restarts += restarted))
    }
    for (const uid of this.#known.keys()) if (!seen.has(uid)) this.#known.delete(uid)
    // Kinds that nobody is of now have been restarted all the same: what was counted is not taken back.
    for (const kind of this.#restarts.keys()) entry(kind)
    const metrics = this.#source.system.metrics()
    this.#countEnded(decided, pending, kinds)
    const { delayP99, delayMax } = this.#gauge.read()
    return { metrics, kinds, loopDelay: { p99: delayP99 / 1000, max: delayMax / 1000 } }
  }

  /**
   * Counts restarts of actors that ended unseen: those that were decided before the survey began, less those that it found done or about to be done. What
   * was decided since then is left to the next reading, which finds it at its actor: counted here it would be counted twice.
   */
  #countEnded(decided: number, pending: number, kinds: Map<string, KindReading>): void {
    let told = pending
    for (const restarts of this.#restarts.values()) told += restarts
    this.#ended = Math.max(this.#ended, decided - told)
    if (this.#ended > 0) kinds.set(endedKind, { actors: 0, depth: 0, restarts: this.#ended })
  }

  /** The last round where somebody looks on anyway, else one of our own. */
  #look(): Promise<{ readonly rows: readonly Row[]; readonly decided: number }> {
    const { picture, onlookers } = this.#source
    const seen = (): { rows: Row[]; decided: number } => ({
      rows: Array.from(this.#source.picture.uids, (uid) => this.#row(uid)),
      decided: this.#source.restartsBefore,
    })
    const { system } = this.#source
    const none = { rows: [], decided: system.metrics().supervision.restarts }
    if (system.phase === 'closed') return Promise.resolve(none)
    if (onlookers > 0 && picture.size > 0) return Promise.resolve(seen())
    return new Promise((resolve) => {
      // A system that ends before the survey is done has no actors left.
      void system.terminated.then(() => resolve(none))
      const stop = this.#source.subscribe(() => {
        resolve(seen())
        stop()
      })
    })
  }
  #row(uid: number): Row {
    const { picture } = this.#source
    return {
      uid,
      depth: picture.get(uid, 'queued') + picture.get(uid, 'waiting'),
      incarnation: picture.get(uid, 'incarnation'),
      restarting: beforeRestart.has(phaseNames[picture.get(uid, 'phase')]!),
    }
  }
}
