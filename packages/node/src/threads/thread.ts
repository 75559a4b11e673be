// One worker thread as the main one sees it: started, watched, ended. It is used once: a replacement is another.

import { Worker, type ResourceLimits } from 'node:worker_threads'
import { portsOf, portsOfBerth, wire } from './media.ts'
import type { Berth, Medium, Wiring } from './medium.ts'
import type { SignsSeen } from './signs.ts'
import type { ThreadData } from './worker-main.ts'

/** How threads are set up. */
export interface ThreadSettings {
  readonly systemName: string
  readonly askTimeout: number
  /** Milliseconds without a sign of life until a thread counts as hung, where its actors do not say otherwise. */
  readonly hangAfter: number
  readonly spin: number
  readonly resourceLimits: ResourceLimits | undefined
  readonly execArgv: readonly string[] | undefined
  readonly keepAlive: boolean
}

export type LossReason = 'exit' | 'error' | 'out-of-memory' | 'hung' | 'terminated' | 'retired'

export interface ThreadEvents {
  connect(thread: Thread, peer: number): void
  lost(thread: Thread, why: LossReason, detail: string, cause: unknown): void
}

export class Thread {
  readonly epoch: number
  /** Which place of the pool it fills; −1 for a thread of one actor. */
  readonly slot: number
  readonly signs: SignsSeen
  readonly wiring: Wiring
  /** Resolves when it is gone and its loss was told. */
  readonly gone: Promise<void>
  readonly #berth: Berth
  readonly #worker: Worker
  state: 'starting' | 'up' | 'ending' | 'gone' = 'starting'
  /** Actors that were given this place since its beat number `placedAt`. */
  placed = 0
  placedAt = -1
  /** Messages that it sent to threads that are gone, and had from them: settled with those. */
  toGone = 0
  fromGone = 0
  lastBeats = -1
  lastBeatAt = 0
  /** Milliseconds of silence that count against it. */
  silent = 0
  #why: LossReason | undefined
  #cause: unknown

  constructor(epoch: number, slot: number, settings: ThreadSettings, medium: Medium, events: ThreadEvents) {
    this.epoch = epoch
    this.slot = slot
    this.#berth = medium.berth(epoch)
    this.signs = this.#berth.signs
    const { parts } = this.#berth
    const { atA, atB } = wire(medium, 0, epoch)
    this.wiring = atA
    const data: ThreadData = {
      epoch,
      systemName: settings.systemName,
      berth: parts,
      main: atB,
      hangAfter: settings.hangAfter,
      pinned: slot < 0,
      spin: settings.spin,
      askTimeout: settings.askTimeout,
    }
    this.#worker = new Worker(entry(), {
      workerData: data,
      name: `${settings.systemName}-${slot < 0 ? 'pinned' : slot}`,
      transferList: [...portsOf(atB), ...portsOfBerth(parts)],
      ...(settings.resourceLimits === undefined ? undefined : { resourceLimits: settings.resourceLimits }),
      ...(settings.execArgv === undefined ? undefined : { execArgv: [...settings.execArgv] }),
    })
    if (!settings.keepAlive) this.#worker.unref()
    this.#worker.on('message', (message: { readonly connect?: number }) => {
      if (message.connect !== undefined) events.connect(this, message.connect)
    })
    this.#worker.on('error', (cause: unknown) => {
      this.#why ??= (cause as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out-of-memory' : 'error'
      this.#cause ??= cause
    })
    this.gone = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        const expected = this.state === 'ending'
        this.state = 'gone'
        if (!expected) {
          const why = this.#why ?? 'exit'
          const detail = this.#cause instanceof Error ? this.#cause.message : why === 'exit' ? `it exited with code ${code}` : why
          events.lost(this, why, detail, this.#cause)
        }
        resolve()
      })
    })
  }

  get asleep(): boolean {
    return this.#berth.asleep
  }

  /** Gives it its end of a way to another thread. */
  give(wiring: Wiring): void {
    this.#worker.postMessage({ wiring }, portsOf(wiring))
  }

  /** Ends it for cause: its loss is told when it is gone. */
  kill(why: LossReason, cause?: unknown): void {
    this.#why ??= why
    this.#cause ??= cause
    void this.#worker.terminate()
  }

  /** Ends it because it is not needed any more. */
  async end(): Promise<void> {
    if (this.state === 'gone') return
    this.state = 'ending'
    await this.#worker.terminate()
    this.state = 'gone'
  }
}

/** Built, the entry lies beside this; from sources, the host must strip types, or the built one is taken. */
function entry(): URL {
  const here = import.meta.url
  if (!here.endsWith('.ts')) return new URL('./worker-main.js', here)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const strips = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
  return strips ? new URL('./worker-main.ts', here) : new URL('../../dist/threads/worker-main.js', here)
}
