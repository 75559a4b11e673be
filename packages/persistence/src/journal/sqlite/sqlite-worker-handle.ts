// Starts the worker that writes, sends it requests, and keeps the process from ending while it is in one. A worker that ends unasked leaves
// every request that it had with an unknown outcome; the next request starts another worker.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker } from 'node:worker_threads'
import { shut } from './sqlite-exit-guard.ts'
import type { OpenedFile, WorkerFailure, WorkerNotice, WorkerReply, WorkerRequest, WorkerStart } from './sqlite-protocol.ts'

/** What a request failed with. */
export class RequestFailed extends Error {
  readonly failure: WorkerFailure
  constructor(failure: WorkerFailure) {
    super(failure.problem)
    this.failure = failure
  }
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (cause: RequestFailed) => void
}

/** The file that a worker executes: beside this one once built; tests run the sources, and use what was built. */
function workerFile(): URL {
  const beside = new URL('./journal/sqlite/sqlite-worker-main.js', import.meta.url)
  if (!import.meta.url.endsWith('.ts')) return beside
  return new URL('../../../dist/journal/sqlite/sqlite-worker-main.js', import.meta.url)
}

/** How long a process that ends waits for a request, in ms; a verification of a large file may take longer. */
const exitTimeoutMs = 30_000

/** Guards of workers that are in use. */
const guards = new Set<Int32Array>()
let listens = false

function guarded(guard: Int32Array): void {
  guards.add(guard)
  if (listens) return
  listens = true
  process.on('exit', () => {
    // The end of another thread is not that of the process: it ends its own workers.
    if (isMainThread || guards.size > 0) for (const each of guards) shut(each, exitTimeoutMs)
  })
}

export class SqliteWorker {
  readonly #start: Omit<WorkerStart, 'guard' | 'session'>
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #guard: Int32Array | undefined
  #requests = 0
  /** Called with what an operator should know of the file, and without it when that is over. */
  onWarning: (warning: string | undefined) => void = () => undefined

  constructor(start: Omit<WorkerStart, 'guard' | 'session'>) {
    this.#start = start
  }

  /** Whether there is a thread; one that ended is started anew by `open`. */
  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /** Starts the thread and opens the file there. Fails with `RequestFailed`. */
  open(): Promise<OpenedFile> {
    this.#run()
    return this.request({ type: 'open' }) as Promise<OpenedFile>
  }

  #run(): Worker {
    const file = workerFile()
    if (!existsSync(file))
      throw new RequestFailed({
        type: 'refused',
        problem: `${fileURLToPath(file)} is missing: it runs in a thread of its own, so that a bundler must leave @troupe/persistence outside`,
      })
    const guard = new Int32Array(new SharedArrayBuffer(4))
    const workerData: WorkerStart = { ...this.#start, session: randomUUID(), guard: guard.buffer }
    // Without the flags of the process: some are not for files, and loaders of the program have nothing to do here.
    const worker = new Worker(file, { workerData, execArgv: [], name: 'sqlite-journal' })
    guarded(guard)
    worker.on('message', (message: WorkerReply | WorkerNotice) => ('request' in message ? this.#onReply(message) : this.onWarning(message.warning)))
    worker.on('error', (cause) => this.#onEnd(worker, guard, cause))
    worker.on('exit', () => this.#onEnd(worker, guard, undefined))
    this.#worker = worker
    this.#guard = guard
    return worker
  }

  #onReply({ request, value, failure }: WorkerReply): void {
    const waiting = this.#waiting.get(request)
    this.#waiting.delete(request)
    // An idle journal does not keep a process alive.
    if (this.#waiting.size === 0) this.#worker?.unref()
    if (failure === undefined) waiting?.resolve(value)
    else waiting?.reject(new RequestFailed(failure))
  }
  #onEnd(worker: Worker, guard: Int32Array, cause: unknown): void {
    guards.delete(guard)
    if (this.#worker !== worker) return
    this.#worker = undefined
    const why = cause instanceof Error ? ` (${cause.message})` : ''
    for (const { reject } of this.#waiting.values())
      reject(new RequestFailed({ type: 'unavailable', problem: `the thread that writes ${this.#start.path} has ended${why}`, unknown: true }))
    this.#waiting.clear()
  }

  /** Sends a request. Fails with `RequestFailed`. */
  request(request: WorkerRequest): Promise<unknown> {
    const worker = this.#worker
    if (worker === undefined)
      return Promise.reject(new RequestFailed({ type: 'unavailable', problem: `the thread that writes ${this.#start.path} has ended` }))
    return new Promise((resolve, reject) => {
      const number = ++this.#requests
      this.#waiting.set(number, { resolve, reject })
      worker.ref()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
      worker.postMessage({ ...request, request: number })
    })
  }

  /** Does one thing in a thread of its own, beside the one that writes. Fails with `RequestFailed`, or as the signal says. */
  async task(request: WorkerRequest, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted()
    const beside = new SqliteWorker(this.#start)
    beside.#run()
    const aborted =
      signal === undefined ? undefined : new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const done = beside.request(request)
    try {
      return await (aborted === undefined ? done : Promise.race([done, aborted]))
    } finally {
      const ended = done.then(undefined, () => undefined).then(() => beside.close())
      // One that was aborted ends after the statement that it is in, and is not waited for.
      if (signal?.aborted !== true) await ended
    }
  }

  /** Closes the file and ends the thread. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    await this.request({ type: 'close' }).catch(() => undefined)
    worker.ref()
    await ended
  }
  /**
   * For tests: ends the thread as a fault of its own would, between two requests. Requests that it has not begun are lost. Terminating it in
   * a statement ends the process on Node 20.
   */
  async kill(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    shut(this.#guard!, exitTimeoutMs)
    await Promise.resolve()
    await worker.terminate()
  }
}
