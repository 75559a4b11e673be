// Every choice of a simulated run, from one source: which actor is next (`pick`, asked by core's dispatcher), and all that runtime, places and
// the simulation itself leave open. What was chosen is the run: replaying it gives the same trace, and
// since 0 always means "the plain thing" (first in line, full turn, no fault), runs with more zeros are simpler. Choices are
// kept by who made them (the scheduler, an action from outside, an actor's turn), so that leaving out an action does not
// give everybody else the choices of others.

import type { SchedulerChoices } from '@troupe/core'

/** How ready actors are picked: uniformly, or by PCT with this depth. */
export type Strategy = 'random' | { readonly pct: number }

/** Lets a strategy look at who is ready. */
interface Ready {
  at(index: number): unknown
}

/** Who makes choices: a number for each maker. */
export const makers = {
  scheduler: 0,
  scenario: 1,
  agenda: 5,
  action: (index: number): number => 4 * index + 2,
  actor: (uid: number): number => 4 * uid + 3,
} as const

/** The choices of a run by maker, and the actions from outside that it goes without. */
export interface Recording {
  readonly of: ReadonlyMap<number, readonly number[]>
  readonly without: ReadonlySet<number>
  /** Which of the scheduler's choices were made for the step of an action: from, and up to. */
  readonly spans: ReadonlyMap<number, readonly [from: number, to: number]>
}

export class Choices implements SchedulerChoices {
  /** Who chooses now. */
  maker: number = makers.scheduler
  /** What was chosen so far; and where another maker took over: an index and a maker in turn. */
  readonly #taken: number[] = []
  readonly #changes: number[] = []
  #last = -1
  #scheduled = 0
  readonly #spans = new Map<number, readonly [number, number]>()
  /** Where the present step began, and which action it is; -1 where it is a turn. */
  #stepFrom = 0
  #stepAction = -1
  #state: number
  readonly #replay: Recording | undefined
  /** How many of each maker's choices were replayed. */
  readonly #at: Map<number, number> | undefined
  readonly #pct: Priorities | undefined

  private constructor(seed: number, replay: Recording | undefined, pct: Priorities | undefined) {
    this.#state = seed | 0
    this.#replay = replay
    this.#at = replay === undefined ? undefined : new Map()
    this.#pct = pct
  }

  /** All that was chosen so far. */
  get recording(): Recording {
    const of = new Map<number, number[]>()
    const changes = this.#changes
    for (let i = 0; i < changes.length; i += 2) {
      const list = of.get(changes[i + 1]!) ?? []
      of.set(changes[i + 1]!, list)
      // One by one: a run without end has more of them than a call takes arguments.
      for (let k = changes[i]!, end = changes[i + 2] ?? this.#taken.length; k < end; k++) list.push(this.#taken[k]!)
    }
    return { of, without: this.#replay?.without ?? new Set(), spans: this.#spans }
  }
  /** A step begins: what the scheduler chose since the last one began belongs to that. */
  stepBegins(): void {
    if (this.#stepAction >= 0) this.#spans.set(this.#stepAction, [this.#stepFrom, this.#scheduled])
    this.#stepFrom = this.#scheduled
    this.#stepAction = -1
  }
  /** The step is that of an action from outside. */
  actionBegins(action: number): void {
    this.maker = makers.action(action)
    this.#stepAction = action
  }
  /** Whether an action from outside is left out. */
  isWithout(action: number): boolean {
    return this.#replay !== undefined && this.#replay.without.has(action)
  }
  #took(value: number): number {
    if (this.maker !== this.#last) {
      this.#last = this.maker
      this.#changes.push(this.#taken.length, this.maker)
    }
    if (this.maker === makers.scheduler) this.#scheduled++
    this.#taken.push(value)
    return value
  }
  #next(): number {
    const at = this.#at!.get(this.maker) ?? 0
    this.#at!.set(this.maker, at + 1)
    return this.#replay!.of.get(this.maker)?.[at] ?? 0
  }

  /** Choices from a seed, and from nothing else: the run of a seed is the same alone as among others. */
  static seeded(seed: number, strategy: Strategy): Choices {
    // Neighbouring seeds must not give neighbouring runs.
    const mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    const choices = new Choices(mixed, undefined, strategy === 'random' ? undefined : new Priorities(strategy.pct))
    choices.#pct?.begin((n) => (choices.#draw() >>> 1) % n)
    return choices
  }

  /** The choices of an earlier run, or simpler ones; what lies beyond them is plain. */
  static replay(recording: Recording): Choices {
    return new Choices(0, recording, undefined)
  }

  /** One of n, 0 being the plain one. */
  choose(n: number): number {
    if (n <= 1) return 0
    return this.#took(this.#replay === undefined ? (this.#draw() >>> 1) % n : this.#next() % n)
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    if (probability <= 0) return false
    return this.#took(this.#replay === undefined ? (this.#draw() >>> 1 < probability * 2147483648 ? 1 : 0) : this.#next() & 1) === 1
  }

  pick(n: number, ready: Ready): number {
    if (n <= 1 || this.#pct === undefined || this.#replay !== undefined) return this.choose(n)
    return this.#took(this.#pct.pick(n, ready, (m) => (this.#draw() >>> 1) % m))
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

/** How many steps a run may have, for where PCT changes its mind: nobody knows beforehand, so the seed guesses. */
const runLengths: readonly number[] = [50, 100, 25, 200, 400]

/**
 * Probabilistic concurrency testing: every actor has a random priority, the highest that is ready runs, and at depth − 1
 * random moments whoever would run is put behind all others. Finds a bug that needs d ordered events with a known
 * probability, where uniform picking rarely strays far from fairness.
 */
class Priorities {
  readonly #depth: number
  readonly #of = new Map<unknown, number>()
  #changes: number[] = []
  #step = 0
  constructor(depth: number) {
    this.#depth = depth
  }
  begin(draw: (n: number) => number): void {
    const steps = runLengths[draw(runLengths.length)]!
    for (let i = 1; i < this.#depth; i++) this.#changes.push(draw(steps))
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
