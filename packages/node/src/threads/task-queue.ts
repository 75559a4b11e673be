// Tasks that wait for a thread, and those that have one: a shared queue from which idle threads take the next.

import { Cancelled } from 'troupe'
import { checkWhole, listenTo } from 'troupe/internal'
import { TaskCancelled } from './errors.ts'
import type { Exchange } from './exchange.ts'
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

interface Task {
  readonly id: number
  readonly url: string
  readonly name: string
  readonly args: readonly unknown[]
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
    pool.exchange.on('task.done', ({ id, ok, value }) => this.#done(id, ok, value))
  }

  run(url: string, name: string, args: readonly unknown[], options: TaskOptions): Promise<unknown> {
    const { signal, timeout } = options
    const hangAfter = options.hangAfter === undefined ? 0 : checkWhole('hangAfter', options.hangAfter, 20)
    if (this.#closed) return Promise.reject(new TaskCancelled(`Task ${name} was not run: the system has ended.`))
    if (signal?.aborted === true) return Promise.reject(new Cancelled(`Task ${name}`, signal.reason))
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const over = (): void => {
        clearTimeout(timer)
        unlisten?.()
      }
      const task: Task = {
        id: ++this.#next,
        url,
        name,
        args,
        kill: options.kill ?? false,
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
      if (timeout !== undefined)
        timer = setTimeout(() => this.#giveUp(task, new TaskCancelled(`Task ${name} took longer than ${timeout} ms.`)), timeout)
      this.#waiting.push(task)
      this.next()
    })
  }

  /** Gives tasks to idle threads. */
  next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#pool.alive.find((t) => t.state === 'up' && this.runningOn(t) === 0)
      if (thread === undefined) return
      const task = this.#waiting.shift()!
      task.thread = thread
      this.#running.set(task.id, task)
      this.#pool.exchange.tell(thread.epoch, { op: 'task', id: task.id, url: task.url, name: task.name, args: task.args })
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
      task.reject(new TaskCancelled(`Task ${task.name} was given up: the system has ended.`))
    this.#running.clear()
  }
}
