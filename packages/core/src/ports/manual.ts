// A runtime that runs only when asked: `system.pump()`. Synchronous, embeddable, and the ground of virtual time.

import { checkFunction, readOptions } from '../values/checks.ts'
import type { ExecutionRuntime } from '../values/runtime.ts'
import { hostEnter, hostNow, hostRandom } from './host.ts'

/**
 * Runs everything due on `pump`, and nothing in between. The clock may be given; it is the host's otherwise.
 *
 * @example
 * const system = ActorSystem.create('game', { runtime: new ManualRuntime() })
 * system.spawn(counter()).tell({ type: 'add', by: 1 })
 * system.pump() // handles it, here and now
 */
export class ManualRuntime implements ExecutionRuntime {
  readonly id: string = 'manual'
  pass = 0
  readonly #now: () => number
  readonly #random: () => number
  #tasks: (() => void)[] = []
  #timer: { readonly at: number; readonly task: () => void } | undefined
  constructor(options: { readonly now?: () => number; readonly random?: () => number } = {}) {
    const { now = hostNow, random = hostRandom } = readOptions('ManualRuntime', options, { now: checkFunction, random: checkFunction })
    this.#now = now
    this.#random = random
  }
  now(): number {
    return this.#now()
  }
  random(): number {
    return this.#random()
  }
  wake(task: () => void): void {
    this.#tasks.push(task)
  }
  yield(task: () => void): void {
    this.#tasks.push(task)
  }
  timer(ms: number, task: () => void): () => void {
    const armed = { at: this.#now() + ms, task }
    this.#timer = armed
    return () => {
      if (this.#timer === armed) this.#timer = undefined
    }
  }
  /** When the next timer is due, or undefined; what virtual time advances to. */
  get nextDeadline(): number | undefined {
    return this.#timer?.at
  }
  enter(task: () => void): void {
    hostEnter(task)
  }
  hold(): () => void {
    return () => {}
  }
  pump(until?: () => boolean): boolean {
    let ran = false
    for (;;) {
      if (ran && until?.() === true) return true
      const due = this.#timer
      if (due !== undefined && due.at <= this.#now()) {
        this.#timer = undefined
        due.task()
        ran = true
      }
      if (this.#tasks.length === 0) return ran
      const tasks = this.#tasks
      this.#tasks = []
      this.pass++
      for (const task of tasks) task()
      ran = true
    }
  }
}
