// A system's time for code outside of the mailbox: the same runtime and the same deadlines that its asks and timers
// use. Who still waits when the system ends is told so; nobody waits for ever.

import type { Deadline } from '../queues/timers.ts'
import { checkFinite, checkFunction } from '../values/checks.ts'
import type { Clock } from '../values/clock.ts'
import { SystemClosed } from '../values/errors.ts'
import type { SystemCore } from './core.ts'

class Wake implements Deadline {
  at = 0
  order = 0
  declare readonly task: () => void
  declare readonly lost: (cause: unknown) => void
  readonly #waiting: Set<Wake>
  constructor(waiting: Set<Wake>, task: () => void, lost: (cause: unknown) => void) {
    this.#waiting = waiting
    this.task = task
    this.lost = lost
  }
  fire(): void {
    if (this.#waiting.delete(this)) this.task()
  }
}

export class SystemClock implements Clock {
  readonly #core: SystemCore
  readonly #waiting = new Set<Wake>()
  constructor(core: SystemCore, terminated: Promise<unknown>) {
    this.#core = core
    void terminated.then(() => {
      for (const wake of this.#waiting) this.#lose(wake)
    })
  }
  now(): number {
    return this.#core.runtime.now()
  }
  random(): number {
    return this.#core.runtime.random()
  }
  after(ms: number, task: () => void, lost: (cause: unknown) => void): () => void {
    checkFinite('ms', ms, 'from')
    checkFunction('task', task)
    checkFunction('lost', lost)
    const { timers, phase } = this.#core
    const wake = new Wake(this.#waiting, task, lost)
    this.#waiting.add(wake)
    if (phase === 'closed') void Promise.resolve().then(() => this.#lose(wake))
    else timers.set(wake, this.now() + ms)
    return () => {
      if (this.#waiting.delete(wake)) timers.cancel(wake)
    }
  }
  #lose(wake: Wake): void {
    if (!this.#waiting.delete(wake)) return
    try {
      wake.lost(new SystemClosed(this.#core.name, 'wait'))
    } catch (cause) {
      // Others wait too, and are to hear of it.
      this.#core.logger.error({ cause }, 'a timer failed')
    }
  }
}
