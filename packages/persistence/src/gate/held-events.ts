// Events that would have been deleted, and that a projection has not handled: which projection holds them back, how many, and since when. It is
// tried again now and then, so that they go once it has caught up, though their actor sleeps by then.

import type { JournalSurvey } from '../values/survey.ts'

/** What this asks of its system. */
interface HeldEventsHost {
  readonly closing: boolean
  now(): number
  after(ms: number, task: () => void): () => void
}

interface Held {
  readonly projection: string
  readonly events: number
  readonly since: number
  readonly retry: () => Promise<unknown>
}

const retryMs = 30_000
/** Of how many actors it is known at a time; the others try again after their next snapshot. */
const maxActors = 1000

export class HeldEvents {
  readonly #host: HeldEventsHost
  readonly #byId = new Map<string, Held>()
  #cancel: (() => void) | undefined

  constructor(host: HeldEventsHost) {
    this.#host = host
  }

  hold(id: string, projection: string, events: number, retry: () => Promise<unknown>): void {
    const before = this.#byId.get(id)
    if (before === undefined && this.#byId.size >= maxActors) return
    const since = before?.projection === projection ? before.since : this.#host.now()
    this.#byId.set(id, { projection, events, since, retry })
    this.#plan()
  }
  release(id: string): void {
    this.#byId.delete(id)
  }
  #plan(): void {
    this.#cancel ??= this.#host.after(retryMs, () => {
      this.#cancel = undefined
      if (!this.#host.closing) void this.#retry()
    })
  }
  async #retry(): Promise<void> {
    for (const [id, { retry }] of this.#byId)
      try {
        await retry()
      } catch {
        // Its actor says why after its next snapshot.
        this.#byId.delete(id)
      }
    if (this.#byId.size > 0 && !this.#host.closing) this.#plan()
  }
  end(): void {
    this.#cancel?.()
    this.#byId.clear()
  }

  /** By projection, the one that holds back most first. */
  get survey(): JournalSurvey['retention'] {
    const now = this.#host.now()
    const sums = new Map<string, { projection: string; actors: number; events: number; heldFor: number }>()
    for (const { projection, events, since } of this.#byId.values()) {
      const sum = sums.get(projection) ?? { projection, actors: 0, events: 0, heldFor: 0 }
      sums.set(projection, { projection, actors: sum.actors + 1, events: sum.events + events, heldFor: Math.max(sum.heldFor, now - since) })
    }
    return [...sums.values()].sort((one, other) => other.events - one.events)
  }
}
