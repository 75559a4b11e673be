// Runs at most `maxConcurrent` tasks at once; the rest wait their turn. Submitting is a message, so that nobody waits
// but those who want to; a bounded waiting line pushes back by refusing.

import { Actor, ActorError, type Task, TaskGroup } from '@troupe/core'

export interface Load {
  readonly running: number
  readonly waiting: number
  readonly done: number
  readonly failed: number
}

export class RateLimitedProcessor extends Actor {
  readonly #maxConcurrent: number
  readonly #maxWaiting: number
  #running = 0
  #done = 0
  #failed = 0
  readonly #waiting: Task<unknown>[] = []
  /** Ends with this incarnation, and the tasks with it. */
  readonly #tasks = new TaskGroup({ signal: this.ctx.signal })

  constructor(maxConcurrent = 5, maxWaiting = 1_000) {
    super()
    this.#maxConcurrent = maxConcurrent
    this.#maxWaiting = maxWaiting
  }

  /** Runs the task now, or when its turn comes. Asked, it answers whether the task was taken. */
  process(task: Task<unknown>): boolean {
    if (this.#running < this.#maxConcurrent) this.#start(task)
    else if (this.#waiting.length < this.#maxWaiting) this.#waiting.push(task)
    else return false
    return true
  }
  load(): Load {
    return { running: this.#running, waiting: this.#waiting.length, done: this.#done, failed: this.#failed }
  }
  /** A task has ended; sent by the processor to itself, so that counting happens in its own turn. */
  ended(ok: boolean): void {
    this.#running--
    if (ok) this.#done++
    else this.#failed++
    const next = this.#waiting.shift()
    if (next !== undefined) this.#start(next)
  }

  #start(task: Task<unknown>): void {
    this.#running++
    const self = this.self<RateLimitedProcessor>()
    // A failing task is counted, and does not end the others: it is contained here.
    void this.#tasks.spawn(async (signal) => {
      const ok = await Promise.resolve(task(signal)).then(
        () => true,
        () => false,
      )
      self.tell.ended(ok)
    })
  }

  override async onStop(): Promise<void> {
    this.#tasks.cancel(new ActorError('the processor stops'))
    await this.#tasks[Symbol.asyncDispose]()
  }
}
