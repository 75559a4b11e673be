// What is measured of one process and of the system in it: memory, handles, the loop's delay, actors and what became of them.

import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks'
import type { ActorSystem } from '@troupe/core'

export interface MeterReading {
  readonly actors: number
  readonly restarts: number
  readonly threadsLost: number
  readonly heap: number
  readonly rss: number
  readonly handles: number
  /** Of the event loop, the 99th percentile since the last reading, in ms. */
  readonly loopDelay: number
}

export class Meter {
  readonly #system: ActorSystem
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: 10 })
  #threadsLost = 0

  constructor(system: ActorSystem) {
    this.#system = system
    this.#delay.enable()
    system.events.listen(() => void this.#threadsLost++, 'thread.lost')
  }

  read(): MeterReading {
    const { active, supervision } = this.#system.counts()
    const { heapUsed, rss } = process.memoryUsage()
    const loopDelay = Math.max(0, this.#delay.percentile(99) / 1e6 - 10)
    this.#delay.reset()
    return {
      actors: active,
      restarts: supervision.restarts,
      threadsLost: this.#threadsLost,
      heap: heapUsed,
      rss,
      handles: process.getActiveResourcesInfo().length,
      loopDelay,
    }
  }
}
