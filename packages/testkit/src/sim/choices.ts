// Every choice of a simulated run, from one source, in one list. The list is the run: replaying it gives the same trace,
// and since 0 always means "the plain thing" (first in line, full turn, no fault), lists with more zeros are simpler runs.

import type { SchedulerChoices } from 'troupe'

/** How ready actors are picked: uniformly, or by PCT with this depth. */
export type Strategy = 'random' | { readonly pct: number }

/** Lets a strategy look at who is ready. */
interface Ready {
  at(index: number): unknown
}

export class Choices implements SchedulerChoices {
  /** What was chosen so far. */
  readonly taken: number[] = []
  #state: number
  readonly #replay: readonly number[] | undefined
  readonly #pct: Priorities | undefined

  private constructor(seed: number, replay: readonly number[] | undefined, pct: Priorities | undefined) {
    this.#state = seed | 0
    this.#replay = replay
    this.#pct = pct
  }

  /** Choices from a seed. `steps` is how long runs of this scenario are, for where PCT changes its mind. */
  static seeded(seed: number, strategy: Strategy, steps: number): Choices {
    // Neighbouring seeds must not give neighbouring runs.
    const mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    const choices = new Choices(mixed, undefined, strategy === 'random' ? undefined : new Priorities(strategy.pct, steps))
    choices.#pct?.begin((n) => (choices.#draw() >>> 1) % n)
    return choices
  }

  /** The choices of an earlier run, or a simpler list; what lies beyond it is plain. */
  static replay(list: readonly number[]): Choices {
    return new Choices(0, list, undefined)
  }

  /** One of n, 0 being the plain one. */
  choose(n: number): number {
    if (n <= 1) return 0
    const value = this.#replay === undefined ? (this.#draw() >>> 1) % n : (this.#replay[this.taken.length] ?? 0) % n
    this.taken.push(value)
    return value
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    if (probability <= 0) return false
    const value = this.#replay === undefined ? (this.#draw() >>> 1 < probability * 2147483648 ? 1 : 0) : (this.#replay[this.taken.length] ?? 0) & 1
    this.taken.push(value)
    return value === 1
  }

  pick(n: number, ready: Ready): number {
    if (n <= 1 || this.#pct === undefined || this.#replay !== undefined) return this.choose(n)
    const value = this.#pct.pick(n, ready, (m) => (this.#draw() >>> 1) % m)
    this.taken.push(value)
    return value
  }

  quota(max: number): number {
    const value = this.choose(4)
    return value === 0 ? max : Math.min(value, max)
  }

  tie(): number {
    return this.choose(3)
  }

  /** 32 random bits. Kept within small integers, which cost a fraction of what other numbers do. */
  #draw(): number {
    const state = (this.#state + 0x6d2b79f5) | 0
    this.#state = state
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= (t + Math.imul(t ^ (t >>> 7), t | 61)) | 0
    return t ^ (t >>> 14)
  }
}

/**
 * Probabilistic concurrency testing: every actor has a random priority, the highest that is ready runs, and at depth − 1
 * random moments whoever would run is put behind all others. Finds a bug that needs d ordered events with a known
 * probability, where uniform picking rarely strays far from fairness.
 */
class Priorities {
  readonly #depth: number
  readonly #steps: number
  readonly #of = new Map<unknown, number>()
  #changes: number[] = []
  #step = 0
  constructor(depth: number, steps: number) {
    this.#depth = depth
    this.#steps = Math.max(1, steps)
  }
  begin(draw: (n: number) => number): void {
    for (let i = 1; i < this.#depth; i++) this.#changes.push(draw(this.#steps))
  }
  pick(n: number, ready: Ready, draw: (n: number) => number): number {
    let best = this.#best(n, ready, draw)
    const change = this.#changes.indexOf(this.#step++)
    if (change >= 0) {
      this.#of.set(ready.at(best), change - this.#depth)
      best = this.#best(n, ready, draw)
    }
    return best
  }
  #best(n: number, ready: Ready, draw: (n: number) => number): number {
    let best = 0
    let highest = -Infinity
    for (let i = 0; i < n; i++) {
      const cell = ready.at(i)
      let priority = this.#of.get(cell)
      if (priority === undefined) this.#of.set(cell, (priority = draw(1 << 20)))
      if (priority > highest) {
        highest = priority
        best = i
      }
    }
    return best
  }
}
