// Time that moves only when told, for everything of a simulated cluster; and the share of it that one node has, which can be paused as a
// whole and whose clock may run at another rate.

import { hostYield } from '@troupe/core/internal'
import type { Timing } from '../ports/timing.ts'

interface Due {
  readonly at: number
  task: (() => void) | undefined
}

export class VirtualTiming implements Timing {
  readonly random: () => number
  #now = 0
  #timers: Due[] = []
  #tasks: (() => void)[] = []

  constructor(random: () => number) {
    this.random = random
  }

  now(): number {
    return this.#now
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.filter((due) => due.task !== undefined).length
  }

  timer(ms: number, task: () => void): () => void {
    const due: Due = { at: this.#now + Math.max(0, ms), task }
    // Sorted, equals in the order they were set. Found from behind: most are set for later than the others.
    let i = this.#timers.length
    while (i > 0 && this.#timers[i - 1]!.at > due.at) i--
    this.#timers.splice(i, 0, due)
    return () => {
      due.task = undefined
    }
  }

  wake(task: () => void): void {
    this.#tasks.push(task)
  }

  /** Moves time by `ms`, stopping at every timer; promises run in between. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    do await macrotask()
    while (this.#step(until))
    this.#now = Math.max(this.#now, until)
  }

  /** The same for what uses no promises. */
  advanceSync(ms: number): void {
    const until = this.#now + ms
    while (this.#step(until));
    this.#now = Math.max(this.#now, until)
  }

  /** Moves time until the condition holds, for at most `ms`; whether it does. */
  async until(condition: () => boolean, ms: number): Promise<boolean> {
    const end = this.#now + ms
    for (;;) {
      await macrotask()
      if (condition()) return true
      if (!this.#step(end)) {
        this.#now = Math.max(this.#now, end)
        return condition()
      }
    }
  }

  /** Runs what is to run now, or the next timer by `until`; whether there was anything. */
  #step(until: number): boolean {
    if (this.#tasks.length > 0) {
      const tasks = this.#tasks
      this.#tasks = []
      for (const task of tasks) task()
      return true
    }
    const due = this.#timers[0]
    if (due === undefined || due.at > until) return false
    this.#timers.shift()
    if (due.task === undefined) return true
    this.#now = Math.max(this.#now, due.at)
    due.task()
    return true
  }
}

/** What one node has of time: its clock may run fast or slow, and while it is paused nothing of it runs. */
export class NodeTiming implements Timing {
  readonly #base: Timing
  readonly #rate: number
  readonly #held: (() => void)[] = []
  #paused = false
  #ended = false
  #suspendedAt: number | undefined
  /** The time for which the monotonic clock stood still. */
  #still = 0

  constructor(base: Timing, rate = 1) {
    this.#base = base
    this.#rate = rate
  }

  now(): number {
    return (this.#suspendedAt ?? this.bootNow()) - this.#still
  }

  /** Goes on while the node is suspended. */
  bootNow(): number {
    return this.#base.now() * this.#rate
  }

  random(): number {
    return this.#base.random()
  }

  timer(ms: number, task: () => void): () => void {
    let cancelled = false
    const due = this.now() + ms
    const set = (left: number): (() => void) =>
      this.#base.timer(left / this.#rate, () =>
        this.#run(() => {
          // It may have been cancelled by a task that ran before it, after the pause.
          if (cancelled) return
          // After a suspension a timer has as much time left as before.
          const more = due - this.now()
          if (this.#still > 0 && more > 1e-6) cancel = set(more)
          else task()
        }),
      )
    let cancel = set(ms)
    return () => {
      cancelled = true
      cancel()
    }
  }

  wake(task: () => void): void {
    this.#base.wake(() => this.#run(task))
  }

  /** As SIGSTOP does: what becomes due waits. */
  pause(): void {
    this.#paused = true
  }

  /** As the lid of a laptop does: what becomes due waits, and the monotonic clock stands still. */
  suspend(): void {
    this.#paused = true
    this.#suspendedAt ??= this.bootNow()
  }

  resume(): void {
    this.#paused = false
    if (this.#suspendedAt !== undefined) this.#still += this.bootNow() - this.#suspendedAt
    this.#suspendedAt = undefined
    for (const task of this.#held.splice(0)) this.#base.wake(() => this.#run(task))
  }

  /** As kill -9 does: nothing of it runs ever again. */
  kill(): void {
    this.#ended = true
    this.#held.length = 0
  }

  #run(task: () => void): void {
    if (this.#ended) return
    if (this.#paused) this.#held.push(task)
    else task()
  }
}

/** One pass of the host's loop, which runs all promise chains that are ready. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => hostYield(resolve))
}
