// Notices that the thread is held: by a loop within one step, or by promises that beget promises, which nothing on this thread
// can interrupt. A second thread looks on. It halts this one, says who was busy where, and ends the process, since a thread
// cannot be freed safely. Only on the main thread of Node, and while nobody debugs it; elsewhere a run may hold for ever.

import { lookOn } from './onlooker.ts'

interface Thread {
  unref(): void
}
interface Modules {
  (name: 'node:worker_threads'): {
    readonly isMainThread: boolean
    readonly Worker: new (
      source: string,
      options: { readonly eval: true; readonly workerData: unknown; readonly execArgv: readonly string[] },
    ) => Thread
  }
  (name: 'node:inspector'): { url(): string | undefined }
}
const host = globalThis as unknown as { readonly process?: { readonly getBuiltinModule?: Modules } } & Record<symbol, (() => string) | undefined>

/** How often something moved; and how many milliseconds may pass without that, 0 while nobody is watched. */
const pulse = new Int32Array(typeof SharedArrayBuffer === 'undefined' ? new ArrayBuffer(8) : new SharedArrayBuffer(8))
let thread: Thread | undefined

/** Something moved: a step, a pass of time. */
export function beat(): void {
  pulse[0]!++
}

/** From now on something has to move at least every `limit` ms; `about` says what this is, should it not. */
export function watch(limit: number, about: () => string): void {
  if (thread === undefined) startThread()
  // Where the other thread finds it: it can look at this one only as a debugger does. A test runner may print it when a test times out.
  host[Symbol.for('troupe.simulation')] = about
  beat()
  pulse[1] = limit
}

export function unwatch(): void {
  pulse[1] = 0
  delete host[Symbol.for('troupe.simulation')]
}

function startThread(): void {
  const load = host.process?.getBuiltinModule
  if (load === undefined) return
  const { isMainThread, Worker } = load('node:worker_threads')
  if (!isMainThread || load('node:inspector').url() !== undefined) return
  // A bundler may have marked the functions in it with a helper of its own, which is not there.
  thread = new Worker(`const __name = (marked) => marked; (${lookOn.toString()})(require)`, { eval: true, workerData: pulse.buffer, execArgv: [] })
  thread.unref()
}
