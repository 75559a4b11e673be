// Watches of this node on actors of one kind that have not found the owner yet, or wait behind messages that were sent to the actor before.

import type { Timing } from '../ports/timing.ts'
import type { WatchItem } from './letter.ts'
import type { Ownership } from './ownership.ts'
import type { EntityWatchers } from './watchers.ts'
import type { EntityWatch } from './watches.ts'

export interface WaitingHost {
  readonly runtime: Pick<Timing, 'timer'>
  /** How long a watch waits for a host of the kind. */
  readonly patience: number
  readonly watchers: EntityWatchers
  /** The owner of a shard, if what is sent to it now waits for nothing. */
  openTo(shard: number): Ownership | undefined
  /** Takes a watch on an actor of a shard that this node owns. */
  deliver(shard: number, item: WatchItem): void
  lookAt(shard: number): void
  /** Undefined while there is a host of the kind, or nothing is known of that. */
  notHosted(): Error | undefined
}

export class WaitingWatches {
  readonly #host: WaitingHost
  readonly #byShard = new Map<number, Set<EntityWatch>>()
  #closed: { readonly cause: unknown } | undefined

  constructor(host: WaitingHost) {
    this.#host = host
  }

  has(watch: EntityWatch): boolean {
    return this.#byShard.get(watch.shard)?.has(watch) === true
  }

  add(watch: EntityWatch): void {
    if (this.#closed !== undefined) return watch.onEnd({ reason: 'failure', cause: this.#closed.cause })
    const { shard } = watch
    const waiting = this.#byShard.get(shard)
    if (waiting === undefined) this.#byShard.set(shard, new Set([watch]))
    else waiting.add(watch)
    this.flush(shard)
    if (!this.has(watch)) return
    this.#host.lookAt(shard)
    this.#mayEnd(watch)
  }
  /** Where there is no host a watch ends when a question would, too. */
  #mayEnd(watch: EntityWatch): void {
    const { runtime, patience } = this.#host
    runtime.timer(patience, () => {
      if (!this.has(watch)) return
      const cause = this.#host.notHosted()
      if (cause === undefined) return this.#mayEnd(watch)
      this.#take(watch)
      watch.onEnd({ reason: 'failure', cause })
    })
  }

  /** A watch is given up, here or where it is. */
  remove(watch: EntityWatch): void {
    if (!this.#take(watch)) this.#host.watchers.own.close(watch)
  }
  #take(watch: EntityWatch): boolean {
    const waiting = this.#byShard.get(watch.shard)
    if (waiting?.delete(watch) !== true) return false
    if (waiting.size === 0) this.#byShard.delete(watch.shard)
    return true
  }

  /** Sends what can go to a shard. */
  flush(shard: number): void {
    const owner = this.#byShard.has(shard) ? this.#host.openTo(shard) : undefined
    if (owner === undefined) return
    const { watchers } = this.#host
    const watches = watchers.own
    const ready = Array.from(this.#byShard.get(shard)!).filter(({ after }) => after <= owner.epoch)
    for (const watch of ready) {
      // What became of one before it may have ended this one.
      if (!this.has(watch) || !watches.send(watch, owner.session, owner.epoch)) continue
      this.#take(watch)
      if (!watches.isSelf(owner.session)) continue
      const item = watches.itemOf(watch)
      if (watchers.came(item)) this.#host.deliver(shard, item)
    }
  }

  /** This node is no member any more: its refs say so themselves. */
  drop(): void {
    this.#byShard.clear()
  }

  /** The kind cannot be had on this node. */
  close(cause: unknown): void {
    this.#closed = { cause }
    const all = [...this.#byShard.values()]
    this.#byShard.clear()
    for (const waiting of all) for (const watch of waiting) watch.onEnd({ reason: 'failure', cause })
  }
}
