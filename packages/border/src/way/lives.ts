// The lives of an actor whose ref outlives each of them, as that of a sharded actor does: who watches it waits for the end of the present life, and the
// ref is as good as before. A watch is wanted from the first watcher until the last, and begins when the turn is over: behind what the actor was sent
// in that turn, whichever was said first.

import type { TerminationReason } from '@troupe/core'
import { Cell, Extras, tellWatchers } from '@troupe/core/internal'

/** The outcome of one life. */
export interface LifeEnd {
  readonly reason: TerminationReason
  readonly cause: unknown
}

/** Those who watch an actor; says when one comes or goes. */
class Watchers extends Set<Cell> {
  readonly #changed: () => void
  constructor(changed: () => void) {
    super()
    this.#changed = changed
  }
  override add(cell: Cell): this {
    this.#changed()
    return super.add(cell)
  }
  override delete(cell: Cell): boolean {
    this.#changed()
    return super.delete(cell)
  }
}

/** Those who wait for the end of an actor without being one. */
class EndWaiters extends Array<(end: LifeEnd) => void> {
  readonly #changed: () => void
  constructor(changed: () => void) {
    super()
    this.#changed = changed
  }
  override push(waiter: (end: LifeEnd) => void): number {
    this.#changed()
    return super.push(waiter)
  }
}

export interface LivesHost {
  /** Does something when the turn that is on is over. */
  soon(task: () => void): void
  /** Begins to watch the present life; returns what ends that. */
  watch(onEnd: (end: LifeEnd) => void): () => void
}

/**
 * Counts the watchers of an actor whose ref outlives it, and watches each of its lives while there are any.
 *
 * Guarantees: each watcher hears of one end, once.
 *
 * @example
 * readonly lives = new Lives(this, { soon: (task) => runtime.wake(task), watch: (onEnd) => region.watch(id, onEnd) })
 */
export class Lives {
  readonly #cell: Cell
  readonly #host: LivesHost
  /** Watchers on other threads of this system. */
  readonly #elsewhere = new Set<(end: LifeEnd) => void>()
  #unwatch: (() => void) | undefined
  #looks = false

  constructor(cell: Cell, host: LivesHost) {
    this.#cell = cell
    this.#host = host
  }

  /** The extras of the cell, in which watchers are noticed. */
  extras(): Extras {
    if (this.#cell.extras !== undefined) return this.#cell.extras
    const extras = (this.#cell.extras = new Extras())
    extras.watchers = new Watchers(this.#changed)
    extras.endWaiters = new EndWaiters(this.#changed)
    return extras
  }

  /** Waits for the end of the present life; returns what ends that. */
  watch(onEnd: (end: LifeEnd) => void): () => void {
    this.extras()
    const { phase, end } = this.#cell
    if (phase === 'terminated') onEnd({ reason: end!.reason, cause: end!.cause })
    else this.#elsewhere.add(onEnd)
    this.#changed()
    return () => {
      if (this.#elsewhere.delete(onEnd)) this.#changed()
    }
  }

  /** A life has ended. */
  ended({ reason, cause }: LifeEnd): void {
    const end = { reason, cause }
    this.#unwatch = undefined
    const extras = this.extras()
    const waiters = extras.endWaiters ?? []
    extras.endWaiters = new EndWaiters(this.#changed)
    const elsewhere = [...this.#elsewhere]
    this.#elsewhere.clear()
    tellWatchers(this.#cell, extras, reason, cause, Infinity)
    extras.watchers = new Watchers(this.#changed)
    for (const waiter of [...waiters, ...elsewhere]) waiter(end)
  }

  get #isAwaited(): boolean {
    const { watchers, endWaiters } = this.#cell.extras ?? {}
    return (watchers?.size ?? 0) > 0 || (endWaiters?.length ?? 0) > 0 || this.#elsewhere.size > 0
  }
  readonly #changed = (): void => {
    if (this.#looks) return
    this.#looks = true
    this.#host.soon(() => {
      this.#looks = false
      if (this.#cell.phase === 'terminated' || this.#isAwaited === (this.#unwatch !== undefined)) return
      if (this.#unwatch === undefined) this.#watch()
      else {
        this.#unwatch()
        this.#unwatch = undefined
      }
    })
  }
  #watch(): void {
    let isOver = false
    const unwatch = this.#host.watch((end) => {
      isOver = true
      this.ended(end)
    })
    if (!isOver) this.#unwatch = unwatch
  }
}

/** What stands for an actor at the place that makes its lives. */
export abstract class LastingCell extends Cell {
  abstract readonly lives: Lives
  override ensureExtras(): Extras {
    return this.lives.extras()
  }
}
