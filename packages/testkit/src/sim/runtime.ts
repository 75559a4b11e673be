// The runtime of a simulated system: nothing runs by itself. Each task is one turn (the simulated dispatchers take one
// turn per slice), so that between any two turns the simulator can choose what comes next.

import type { SchedulerChoices } from '@troupe/core'
import type { Tap, TappedRuntime } from '@troupe/core/internal'
import type { VirtualClock } from '../virtual-time.ts'
import type { Choices } from './choices.ts'

export class SimRuntime implements TappedRuntime {
  readonly id: string = 'simulated'
  readonly clock: VirtualClock
  readonly tap: Tap
  readonly choices: SchedulerChoices
  pass: number = 0
  /** Dispatchers that want to run. */
  readonly tasks: (() => void)[] = []
  /** When the next timer is due, of those that were set: a system has one, whoever connects several some more. */
  timerAt: number = Infinity
  readonly #timers: { at: number; readonly task: () => void }[] = []
  /** Its own clock is behind the clock of the run by this much. */
  #behind = 0
  readonly #source: Choices
  constructor(clock: VirtualClock, choices: Choices, tap: Tap) {
    this.clock = clock
    this.choices = choices
    this.#source = choices
    this.tap = tap
  }
  now(): number {
    return this.clock.now - this.#behind
  }
  bootNow(): number {
    return this.clock.now
  }
  /** Its clock stood still for this long, as in a suspension: timers have as much time left as before. */
  stoodStill(ms: number): void {
    this.#behind += ms
    for (const timer of this.#timers) timer.at += ms
    this.#look()
  }
  random(): number {
    return this.#source.choose(16) / 16
  }
  wake(task: () => void): void {
    this.tasks.push(task)
  }
  yield(task: () => void): void {
    this.tasks.push(task)
  }
  timer(ms: number, task: () => void): () => void {
    // Sums of two clocks are rounded: a timer that fired early by the last digit would be set again for no time at all, without end.
    const timer = { at: this.clock.now + ms + (this.#behind > 0 ? 1e-6 : 0), task }
    this.#timers.push(timer)
    this.timerAt = Math.min(this.timerAt, timer.at)
    return () => {
      const at = this.#timers.indexOf(timer)
      if (at < 0) return
      this.#timers.splice(at, 1)
      this.#look()
    }
  }
  #look(): void {
    this.timerAt = this.#timers.reduce((least, t) => Math.min(least, t.at), Infinity)
  }
  enter(task: () => void): void {
    task()
  }
  hold(): () => void {
    return () => {}
  }
  /** Gives one dispatcher one turn. */
  runOne(): void {
    this.runAt(this.#source.choose(this.tasks.length))
  }
  runAt(at: number): void {
    const task = at === 0 ? this.tasks.shift()! : this.tasks.splice(at, 1)[0]!
    this.pass++
    task()
  }
  /** Fires the system's timer if its time has come. */
  fireDue(): void {
    if (this.timerAt > this.clock.now) return
    // One by one: what fires may cancel another, and what it sets is for the next time.
    for (const timer of this.#timers.slice()) {
      const at = timer.at <= this.clock.now ? this.#timers.indexOf(timer) : -1
      if (at < 0) continue
      this.#timers.splice(at, 1)
      this.#look()
      timer.task()
    }
  }
}
