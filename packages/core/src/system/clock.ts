// A system's time for code outside of the mailbox: the same runtime and the same deadlines that its asks and timers
// use. Who still waits when the system ends is told so; nobody waits for ever.

import type { Deadline } from '../queues/timers.ts'
import { checkFinite, checkFunction } from '../values/checks.ts'
import type { Clock } from '../values/clock.ts'
import { SystemClosed } from '../values/errors.ts'
import { contain } from '../values/thenable.ts'
import type { SystemCore } from './core.ts'

export class SystemClock implements Clock {
  readonly #core: SystemCore
  /** Who is to be told, should the time not come. */
  readonly #waiting = new Map<Deadline, (cause: unknown) => void>()
  constructor(core: SystemCore, terminated: Promise<unknown>) {
    this.#core = core
    void terminated.then(() => {
      for (const wake of this.#waiting.keys()) this.#lose(wake)
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
    const waiting = this.#waiting
    const wake = timers.after(ms, () => void (waiting.delete(wake) && task()))
    waiting.set(wake, lost)
    if (phase === 'closed') void Promise.resolve().then(() => this.#lose(wake))
    return () => void (waiting.delete(wake) && timers.cancel(wake))
  }
  #lose(wake: Deadline): void {
    const lost = this.#waiting.get(wake)
    this.#waiting.delete(wake)
    // Others wait too, and are to hear of it.
    contain(
      () => lost?.(new SystemClosed(this.#core.name, 'wait')),
      (cause) => this.#core.logger.error({ cause }, 'a timer failed'),
    )
  }
}
