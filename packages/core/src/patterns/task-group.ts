// Concurrent work with a common end: no task outlives its group, the first failure cancels the others, and whoever
// waits hears of everything that went wrong. A group given `ctx.signal` ends with the incarnation.
//
//   open ── waitAll, race or dispose, once the last task has ended ──→ closed          (cancelled is a signal, no state)

import { makeAbortSource } from '../ports/host.ts'
import { Ring } from '../queues/ring.ts'
import type { AbortSource, AbortSignalLike } from '../values/abort.ts'
import { budgets } from '../values/budgets.ts'
import { checkFunction, checkList, checkWhole, readOptions, type Table } from '../values/checks.ts'
import { TasksFailed } from '../values/concurrency-errors.ts'
import type { AsyncDisposing } from '../values/disposal.ts'
import { Cancelled, NotAllowed } from '../values/errors.ts'
import { cancelledBy, onAbort, signalOf, type WaitOptions, waitTable } from './cancellation.ts'

/** What cancels a group from outside, and how many of its tasks may run at once. */
export interface TaskGroupOptions extends WaitOptions {
  /** Tasks beyond this many wait for one to end; unbounded if left out. */
  readonly limit?: number | undefined
}

/** One piece of work; it should end soon after its signal is aborted. */
export type Task<T> = (signal: AbortSignalLike) => PromiseLike<T> | T

const table: Table<TaskGroupOptions> = /* @__PURE__ */ Object.assign({}, waitTable, { limit: [checkWhole, 1] as const })

/**
 * Tasks that end together.
 *
 * Guarantees: `waitAll`, `race` and `await using` settle only after every task has ended; a failure cancels the others.
 * Fails: `waitAll` rejects with `TasksFailed` (all errors, the first as cause), or with `Cancelled` when the group was
 * cancelled; `spawn` throws `NotAllowed` once the group has ended.
 *
 * @example
 * await using group = new TaskGroup({ signal: ctx.signal })
 * group.spawn((signal) => download(a, signal))
 * group.spawn((signal) => download(b, signal))
 * await group.waitAll()
 */
export class TaskGroup implements AsyncDisposing {
  readonly #source: AbortSource = makeAbortSource()
  readonly #limit: number
  readonly #unlisten: () => void
  readonly #waiting = new Ring<Job>()
  readonly #errors: unknown[] = []
  #running = 0
  #closed = false
  /** Somebody waits, or has waited, and is told of failures. */
  #reported = false
  /** How the first task to end did so. */
  #first: { readonly ok: boolean; readonly value: unknown } | undefined
  #wake: (() => void)[] = []

  constructor(options: TaskGroupOptions = {}) {
    const { limit = Infinity, signal } = readOptions('TaskGroup', options, table)
    this.#limit = limit
    budgets.onOwner?.('task slots', () => this.size)
    this.#unlisten = onAbort(signal, (reason) => this.cancel(reason))
  }

  /** Aborted when the group is cancelled; what each task gets. */
  get signal(): AbortSignalLike {
    return this.#source.signal
  }
  /** Tasks that have not ended, those that wait for their turn included. */
  get size(): number {
    return this.#running + this.#waiting.size
  }

  /**
   * Starts a task, at once or when the limit allows. The promise settles as the task does, and may be ignored: the
   * group reports failures.
   */
  spawn<T>(task: Task<T>): Promise<T> {
    checkFunction('task', task)
    if (this.#closed) throw new NotAllowed('Cannot spawn a task: the group has ended. Spawn before waitAll resolves, or make a new group.')
    const promise = new Promise<T>((resolve, reject) => {
      if (this.signal.aborted) throw cancelledBy('The task', this.signal.reason)
      const job: Job = { task, resolve: resolve as (value: unknown) => void, reject }
      if (this.#running < this.#limit) this.#start(job)
      else this.#waiting.push(job)
    })
    promise.catch(() => {})
    return promise
  }

  /** Asks every task to end; those that wait for their turn never start. */
  cancel(reason?: unknown): void {
    if (this.signal.aborted || this.#closed) return
    const cause = reason ?? new Cancelled('The task group')
    // Before the signal: a listener that spawns must find the group cancelled and nothing waiting.
    const dropped: Job[] = []
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) dropped.push(job)
    this.#source.abort(cause)
    for (const job of dropped) job.reject(cancelledBy('The task', cause))
    this.#ended()
  }

  /** Resolves when every task has ended; tasks may spawn others meanwhile. */
  async waitAll(): Promise<void> {
    this.#reported = true
    await this.#end()
    if (this.#errors.length > 0) throw new TasksFailed(this.#errors)
    if (this.signal.aborted) throw cancelledBy('The task group', this.signal.reason)
  }

  /** Settles as the first task to end did, after the others were cancelled and have ended too. */
  async race<T = unknown>(): Promise<T> {
    if (this.#first === undefined && this.size === 0 && !this.signal.aborted)
      throw new NotAllowed('Cannot race: the group has no task. Spawn some first.')
    this.#reported = true
    while (this.#first === undefined && this.size > 0) await this.#change()
    const first = this.#first
    this.cancel(new Cancelled('A task that lost the race'))
    await this.#end()
    if (first === undefined) throw cancelledBy('The task group', this.signal.reason)
    if (first.ok) return first.value as T
    throw first.value
  }

  /**
   * Waits for the end of all tasks; cancels them first, unless somebody called `waitAll` or `race`. Throws `TasksFailed`
   * where nobody else is told of a failure.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.size > 0 && !this.#reported) this.cancel(new Cancelled('A task that its group did not wait for'))
    await this.#end()
    if (this.#errors.length > 0 && !this.#reported) throw new TasksFailed(this.#errors)
  }

  #start(job: Job): void {
    this.#running++
    run(job.task, this.signal).then(
      (value) => this.#settle(job, true, value),
      (cause: unknown) => this.#settle(job, false, cause),
    )
  }

  #settle(job: Job, ok: boolean, value: unknown): void {
    this.#running--
    if (ok || !this.#isCancellation(value)) this.#first ??= { ok, value }
    if (ok) job.resolve(value)
    else {
      job.reject(value)
      if (!this.#isCancellation(value)) {
        this.#errors.push(value)
        this.cancel(new Cancelled('A task whose group failed', value))
      }
    }
    while (this.#running < this.#limit) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.#start(next)
    }
    this.#ended()
  }

  /** Whether a task failed only because the group was cancelled. */
  #isCancellation(cause: unknown): boolean {
    if (!this.signal.aborted) return false
    if (cause === this.signal.reason) return true
    try {
      return cause instanceof Cancelled || (cause as { name?: unknown } | null | undefined)?.name === 'AbortError'
    } catch {
      // It does not say what it is; then it is a failure.
      return false
    }
  }

  #ended(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  /** Resolves, and closes the group, when there is no task left; also those spawned while it waits. */
  async #end(): Promise<void> {
    while (this.size > 0) await this.#change()
    this.#closed = true
    this.#unlisten()
  }
}

interface Job {
  readonly task: Task<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (cause: unknown) => void
}

/** A task that throws before its first await fails as any other. */
async function run(task: Task<unknown>, signal: AbortSignalLike): Promise<unknown> {
  return task(signal)
}

/**
 * Settles as the first of these tasks does; the others are cancelled, and have ended when it settles.
 *
 * @example
 * const answer = await race([(signal) => askOne(signal), (signal) => askOther(signal)])
 */
export async function race<T>(tasks: readonly Task<T>[], options: WaitOptions = {}): Promise<T> {
  const all = checkList<Task<T>>('tasks', tasks, (task) => typeof task === 'function', 'functions')
  const signal = signalOf('race', options)
  const group = new TaskGroup({ signal })
  for (const task of all) void group.spawn(task)
  return group.race<T>()
}
