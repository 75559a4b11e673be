// The runtime of a simulated system: nothing runs by itself. Each task is one turn (the simulated dispatchers take one
// turn per slice), so that between any two turns the simulator can choose what comes next.

import type { SchedulerChoices } from 'troupe'
import type { Tap, TappedRuntime } from 'troupe/internal'
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
  /** When the system's timer is due, and what it does. */
  timerAt: number = Infinity
  #timer: (() => void) | undefined
  readonly #source: Choices
  constructor(clock: VirtualClock, choices: Choices, tap: Tap) {
    this.clock = clock
    this.choices = choices
    this.#source = choices
    this.tap = tap
  }
  now(): number {
    return this.clock.now
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
    this.timerAt = this.clock.now + ms
    this.#timer = task
    return () => {
      if (this.#timer !== task) return
      this.#timer = undefined
      this.timerAt = Infinity
    }
  }
  enter(task: () => void): void {
    task()
  }
  hold(): () => void {
    return () => {}
  }
  /** Gives one dispatcher one turn. */
  runOne(): void {
    const at = this.#source.choose(this.tasks.length)
    const task = at === 0 ? this.tasks.shift()! : this.tasks.splice(at, 1)[0]!
    this.pass++
    task()
  }
  /** Fires the system's timer if its time has come. */
  fireDue(): void {
    if (this.timerAt > this.clock.now) return
    const task = this.#timer
    this.#timer = undefined
    this.timerAt = Infinity
    task?.()
  }
}
