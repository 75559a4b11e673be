// One thread as the main one sees it: started, watched, ended. It is used once: a replacement is another.

import type { Engine, Launch } from './engine.ts'
import type { RecorderOrigin } from './recording.ts'
import { wire } from '../wire/media.ts'
import type { Berth, Medium, Wiring } from '../wire/medium.ts'
import type { SignsSeen } from '../wire/signs.ts'

/** How threads are set up. */
export interface ThreadSettings {
  /** Threads of the pool; their places are those below. */
  readonly size: number
  readonly systemName: string
  readonly systemId: number
  readonly askTimeout: number
  /** Milliseconds without a sign of life until a thread counts as hung, where its actors do not say otherwise. */
  readonly hangAfter: number
  readonly spin: number
  readonly byName: boolean
  readonly recorder?: RecorderOrigin | undefined
  readonly launch: Launch
}

export type LossReason = 'exit' | 'error' | 'out-of-memory' | 'hung' | 'bad-record' | 'terminated' | 'retired'

export interface ThreadEvents {
  connect(thread: Thread, peer: number): void
  lost(thread: Thread, why: LossReason, detail: string, cause: unknown): void
}

export class Thread {
  readonly epoch: number
  /** Its number: which place of the pool it fills, or a higher one for a thread of one actor. */
  readonly slot: number
  readonly signs: SignsSeen
  readonly wiring: Wiring
  /** Resolves when it is gone and its loss was told. */
  readonly gone: Promise<void>
  readonly #berth: Berth
  readonly #engine: Engine
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
  /** Its end, once it was asked for: a busy machine takes a while, and whoever watches it may ask again and again. */
  #terminated: Promise<unknown> | undefined

  constructor(epoch: number, slot: number, settings: ThreadSettings, medium: Medium, events: ThreadEvents) {
    this.epoch = epoch
    this.slot = slot
    this.#berth = medium.berth(epoch)
    this.signs = this.#berth.signs
    const { parts } = this.#berth
    const { atA, atB } = wire(medium, 0, epoch)
    this.wiring = atA
    const { systemName, systemId, hangAfter, spin, askTimeout, byName, recorder } = settings
    let isGone!: () => void
    this.gone = new Promise((resolve) => (isGone = resolve))
    const data = {
      epoch,
      systemName,
      systemId,
      berth: parts,
      main: atB,
      hangAfter,
      pinned: slot >= settings.size,
      spin,
      askTimeout,
      byName,
      recorder,
    }
    this.#engine = settings.launch(data, `${systemName}-${slot}`, {
      connect: (peer) => events.connect(this, peer),
      failed: (cause) => {
        this.#why ??= reasonOf(cause)
        this.#cause ??= cause
      },
      exited: (code) => {
        const expected = this.state === 'ending'
        this.state = 'gone'
        if (!expected) {
          const why = this.#why ?? 'exit'
          const detail = this.#cause instanceof Error ? this.#cause.message : why === 'exit' ? `it exited with code ${code}` : why
          events.lost(this, why, detail, this.#cause)
        }
        isGone()
      },
    })
  }

  get asleep(): boolean {
    return this.#berth.asleep
  }

  /** Gives it its end of a way to another thread. */
  give(wiring: Wiring): void {
    this.#engine.give(wiring)
  }

  /** Ends it for cause: its loss is told when it is gone. */
  kill(why: LossReason, cause?: unknown): void {
    this.#why ??= why
    this.#cause ??= cause
    void this.#terminate()
  }

  /** Ends it because it is not needed any more. */
  async end(): Promise<void> {
    if (this.state === 'gone') return
    this.state = 'ending'
    await this.#terminate()
    this.state = 'gone'
  }
  #terminate(): Promise<unknown> {
    return (this.#terminated ??= this.#engine.terminate())
  }
}

function reasonOf(cause: unknown): LossReason {
  const code = (cause as { readonly code?: unknown } | undefined)?.code
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return 'out-of-memory'
  return code === 'bad-record' ? 'bad-record' : 'error'
}
