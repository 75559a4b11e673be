// What a place runs on, as the main thread sees it: it can be given its end of a way, and it can be ended. On Node it is a
// worker thread.

import { Worker, type ResourceLimits } from 'node:worker_threads'
import { portsOf, portsOfBerth } from '../wire/media.ts'
import type { Wiring } from '../wire/medium.ts'
import type { ThreadData } from './place.ts'

/** How a worker is set up. */
export interface WorkerSettings {
  readonly resourceLimits: ResourceLimits | undefined
  readonly execArgv: readonly string[] | undefined
  readonly keepAlive: boolean
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
    const worker = new Worker(entry(), {
      workerData: data,
      name,
      transferList: [...portsOf(data.main), ...portsOfBerth(data.berth)],
      ...(settings.resourceLimits === undefined ? undefined : { resourceLimits: settings.resourceLimits }),
      ...(settings.execArgv === undefined ? undefined : { execArgv: [...settings.execArgv] }),
    })
    if (!settings.keepAlive) worker.unref()
    worker.on('message', (message: { readonly connect?: number }) => {
      if (message.connect !== undefined) events.connect(message.connect)
    })
    worker.on('error', (cause: unknown) => events.failed(cause))
    worker.on('exit', (code) => events.exited(code))
    return { give: (wiring) => worker.postMessage({ wiring }, portsOf(wiring)), terminate: () => worker.terminate() }
  }
}

/** Built, the entry lies beside this; from sources, the host must strip types, or the built one is taken. */
function entry(): URL {
  const here = import.meta.url
  if (!here.endsWith('.ts')) return new URL('./worker-main.js', here)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const strips = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
  return strips ? new URL('./worker-main.ts', here) : new URL('../../../dist/threads/pool/worker-main.js', here)
}
