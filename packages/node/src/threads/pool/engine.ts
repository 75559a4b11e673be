// What a place runs on, as the main thread sees it: it can be given its end of a way, and it can be ended. On Node it is a
// worker thread.

import { Worker, type ResourceLimits } from 'node:worker_threads'
import { portsOf, portsOfBerth } from '../wire/media.ts'
import type { Wiring } from '../wire/medium.ts'
import { threadEntry } from '../../thread-entry.ts'
import type { ThreadData } from './place.ts'

/** How a worker is set up. */
export interface WorkerSettings {
  readonly resourceLimits: ResourceLimits | undefined
  readonly execArgv: readonly string[] | undefined
  readonly keepAlive: boolean
  /** The program's own entry; that of the package if left out. */
  readonly worker: URL | undefined
}

/** What is heard of it. */
export interface EngineEvents {
  /** It asks for a way to another. */
  connect(peer: number): void
  /** It cannot go on; its exit follows. */
  failed(cause: unknown): void
  /** It is gone, and nothing of it runs any more. */
  exited(code: number): void
}

export interface Engine {
  give(wiring: Wiring): void
  /** Ends it, wherever it is; resolves when it is gone. */
  terminate(): Promise<unknown>
}

/** Starts a place; `name` is for those who look at the process. */
export type Launch = (data: ThreadData, name: string, events: EngineEvents) => Engine

export function onWorkers(settings: WorkerSettings): Launch {
  return (data, name, events) => {
    const worker = new Worker(settings.worker ?? threadEntry(), {
      workerData: data,
      name,
      transferList: [...portsOf(data.main), ...portsOfBerth(data.berth)],
      ...(settings.resourceLimits === undefined ? undefined : { resourceLimits: settings.resourceLimits }),
      ...(settings.execArgv === undefined ? undefined : { execArgv: [...settings.execArgv] }),
    })
    if (!settings.keepAlive) worker.unref()
    if (settings.worker !== undefined) expectWord(worker, settings.worker, data.hangAfter, events)
    worker.on('message', (message: { readonly connect?: number }) => {
      if (message.connect !== undefined) events.connect(message.connect)
    })
    worker.on('error', (cause: unknown) => events.failed(cause))
    worker.on('exit', (code) => events.exited(code))
    return { give: (wiring) => worker.postMessage({ wiring }, portsOf(wiring)), terminate: () => worker.terminate() }
  }
}

/** An entry of the program that does not import ours is a thread that never says a word: it ends at once, or never. */
function expectWord(worker: Worker, entry: URL, patience: number, events: EngineEvents): void {
  const silent = (how: string): void =>
    events.failed(new Error(`its entry ${entry.href} ${how}; it must import @troupe/node/worker, and the modules of your actors`))
  let timer: NodeJS.Timeout | undefined
  const ended = (code: number): void => {
    clearTimeout(timer)
    if (code === 0) silent('ended by itself')
  }
  worker.once('online', () => {
    timer = setTimeout(() => {
      silent(`has not become a thread of the system within ${patience} ms`)
      void worker.terminate()
    }, patience)
    timer.unref()
  })
  worker.once('message', () => {
    clearTimeout(timer)
    worker.off('exit', ended)
  })
  worker.once('exit', ended)
}
