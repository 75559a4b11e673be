// Tasks that wait for a thread, and those that have one: a shared queue from which idle threads take the next.

import { Cancelled } from '@troupe/core'
import {
  budgets,
  checkBoolean,
  checkFinite,
  checkList,
  checkSignal,
  checkText,
  checkWhole,
  listenTo,
  readOptions,
  type Table,
} from '@troupe/core/internal'
import { Definition, type Exchange, snapshot } from '@troupe/border'
import { TaskCancelled } from '../errors.ts'
import type { Thread } from './thread.ts'

/** How a task is bounded. */
export interface TaskOptions {
  /** Ends the wait for the task: it is not begun, or its `signal` is aborted. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds from now after which it is given up, as by an abort. */
  readonly timeout?: number | undefined
  /** Whether giving up a task that runs ends its thread, for one that never looks at its signal; false if left out. */
  readonly kill?: boolean | undefined
  /** Milliseconds that its thread may be silent while it runs, if that is longer than what holds there anyway. */
  readonly hangAfter?: number | undefined
}

const table: Table<TaskOptions> = { signal: checkSignal, timeout: [checkFinite, 'above'], kill: checkBoolean, hangAfter: [checkWhole, 20] }

interface Task {
  readonly id: number
  readonly definition: Definition
  /** As they were when the task was given, also while it waits. */
  args: readonly unknown[]
  readonly kill: boolean
  readonly hangAfter: number
  thread: Thread | undefined
  resolve(value: unknown): void
  reject(cause: unknown): void
}

interface Pool {
  readonly exchange: Exchange
  readonly alive: readonly Thread[]
}

export class TaskQueue {
  readonly #pool: Pool
  readonly #waiting: Task[] = []
  readonly #running = new Map<number, Task>()
  #next = 0
  #closed = false

  constructor(pool: Pool) {
    this.#pool = pool
    budgets.onOwner?.('tasks on threads', () => this.#waiting.length + this.#running.size)
    pool.exchange.on('task.done', ({ id, ok, value }) => this.#done(id, ok, value))
  }

  run(url: string, name: string, args: readonly unknown[], options: TaskOptions): Promise<unknown> {
    let read: TaskOptions
    try {
      checkText('url', url)
      checkText('name', name)
      checkList('args', args, () => true, 'what the function takes')
      read = readOptions('runTask', options, table)
    } catch (cause) {
      return Promise.reject(cause)
    }
    const { signal, timeout, kill = false, hangAfter = 0 } = read
    if (this.#closed) return Promise.reject(new TaskCancelled(`Task ${name} was not run: the system has ended.`))
    if (signal?.aborted === true) return Promise.reject(new Cancelled(`Task ${name}`, signal.reason))
    return new Promise((resolve, reject) => {
      const { timers, runtime } = this.#pool.exchange.core
      const deadline =
        timeout === undefined
          ? undefined
          : { at: 0, order: 0, fire: () => this.#giveUp(task, new TaskCancelled(`Task ${name} took longer than ${timeout} ms.`)) }
      const over = (): void => {
        if (deadline !== undefined) timers.cancel(deadline)
        unlisten?.()
      }
      const task: Task = {
        id: ++this.#next,
        definition: new Definition(url, name),
        args,
        kill,
        hangAfter,
        thread: undefined,
        resolve: (value) => {
          over()
          resolve(value)
        },
        reject: (cause) => {
          over()
          reject(cause)
        },
      }
      const unlisten = signal === undefined ? undefined : listenTo(signal, () => this.#giveUp(task, new Cancelled(`Task ${name}`, signal.reason)))
      if (deadline !== undefined) timers.set(deadline, runtime.now() + timeout!)
      this.#waiting.push(task)
      this.next()
      // What waits is what it was when it was given.
      if (task.thread === undefined) this.#keep(task)
    })
  }
  #keep(task: Task): void {
    try {
      task.args = snapshot(task.args, `An argument of task ${task.definition.name}`, ['args']) as readonly unknown[]
    } catch (cause) {
      this.#giveUp(task, cause)
    }
  }

  /** Gives tasks to idle threads. */
  next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#pool.alive.find((t) => t.state === 'up' && this.runningOn(t) === 0)
      if (thread === undefined) return
      const task = this.#waiting.shift()!
      task.thread = thread
      const { id, definition, args } = task
      this.#running.set(id, task)
      try {
        this.#pool.exchange.knownCrossing(thread.epoch)?.order({ op: 'task', id, definition, args }, `An argument of task ${definition.name}`)
      } catch (cause) {
        this.#running.delete(id)
        task.reject(cause)
      }
    }
  }
  runningOn(thread: Thread): number {
    let count = 0
    for (const task of this.#running.values()) if (task.thread === thread) count++
    return count
  }

  /** How long the tasks that run there let it be silent. */
  patienceOn(thread: Thread): number {
    let longest = 0
    for (const task of this.#running.values()) if (task.thread === thread) longest = Math.max(longest, task.hangAfter)
    return longest
  }

  #done(id: number, ok: boolean, value: unknown): void {
    const task = this.#running.get(id)
    if (task === undefined) return
    this.#running.delete(id)
    if (ok) task.resolve(value)
    else task.reject(value)
    this.next()
  }
  #giveUp(task: Task, cause: unknown): void {
    task.reject(cause)
    const { thread } = task
    if (thread === undefined) {
      const at = this.#waiting.indexOf(task)
      if (at >= 0) this.#waiting.splice(at, 1)
    } else if (this.#running.has(task.id)) {
      // The thread stays taken until the task has ended, for it may not look at its signal.
      if (task.kill) thread.kill('terminated', cause)
      else this.#pool.exchange.tell(thread.epoch, { op: 'task.abort', id: task.id })
    }
  }
  lost(thread: Thread, cause: unknown): void {
    for (const task of this.#running.values()) if (task.thread === thread) this.#done(task.id, false, cause)
  }
  close(): void {
    this.#closed = true
    for (const task of [...this.#waiting.splice(0), ...this.#running.values()])
      task.reject(new TaskCancelled(`Task ${task.definition.name} was given up: the system has ended.`))
    this.#running.clear()
  }
}
