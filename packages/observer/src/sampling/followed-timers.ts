// Timers that were set by a handler that is followed: what one of them sends is a trace of its own, with a link to the message whose handler set it.
// The first tick of each is looked at, as long as these are not too many; later ones where they are sampled anyway.

import type { Cell, Meta } from '@troupe/core/internal'
import type { Span } from './span.ts'
import { sharedFuse } from './shared-fuse.ts'

/** Milliseconds between two ticks that are looked at because of this. */
const every = 100

interface Ticking {
  fire(now: number): void
}

export class FollowedTimers {
  readonly #now: () => number
  readonly #setters = new WeakMap<object, Span>()
  /** Whose timer fires now, and is to be looked at. */
  #firing: Span | undefined
  #lookedAt = -Infinity
  #over = false

  constructor(now: () => number) {
    this.#now = now
  }
  end(): void {
    this.#over = true
  }

  /** Whether what is sent now is the tick that is to be looked at. */
  get follows(): boolean {
    return this.#firing !== undefined
  }
  /** The message whose handler set the timer that fires now: the timer goes along with its tick, unless that is for somebody else. */
  setterOf(meta: Meta): Span | undefined {
    return (meta === undefined ? undefined : this.#setters.get(meta)) ?? this.#firing
  }

  /** A handler begins; what is returned is called when it has done something, and notes the timers that it has set. */
  note(span: Span, cell: Cell): () => void {
    const before = new Set<Ticking>(timersOf(cell))
    return () => {
      for (const timer of timersOf(cell)) {
        if (before.has(timer)) continue
        before.add(timer)
        this.#setters.set(timer, span)
        this.#follow(timer, span)
      }
    }
  }

  #follow(timer: Ticking, span: Span): void {
    const fire = (now: number): void => {
      Reflect.deleteProperty(timer, 'fire')
      if (this.#over || this.#now() - this.#lookedAt < every) return timer.fire(now)
      this.#lookedAt = this.#now()
      this.#firing = span
      sharedFuse.hurry()
      try {
        timer.fire(now)
      } finally {
        this.#firing = undefined
        sharedFuse.goOn()
      }
    }
    Object.defineProperty(timer, 'fire', { configurable: true, value: fire })
  }
}

function timersOf(cell: Cell): Iterable<Ticking & object> {
  return cell.extras?.timers?.timers.values() ?? []
}
