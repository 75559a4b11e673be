// What is measured of a running airlift, once a second: the sum, the ledger, messages a second, memory, the loop's delay. One word for the page,
// the terminal and the soak.

import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks'
import type { LedgerReport } from '@troupe/core'
import type { Airlift } from './airlift.ts'
import type { Sum } from './auditor.ts'
import type { DronePhase } from './sky.ts'

export interface Reading {
  readonly at: number
  readonly pid: number
  /** Milliseconds since this process began to fly. */
  readonly up: number
  readonly sum: Sum
  readonly problems: readonly string[]
  /** How often the auditor came too late for events and began anew with the books. */
  readonly rereads: number
  readonly ledger: LedgerReport
  readonly drones: Readonly<Record<DronePhase, number>>
  readonly actors: number
  readonly messagesPerSecond: number
  readonly deliveredPerSecond: number
  readonly restarts: number
  readonly threadsLost: number
  readonly heap: number
  readonly rss: number
  readonly handles: number
  /** Of the event loop, the 99th percentile of the last second, in ms. */
  readonly loopDelay: number
  /** How long the last questions took, in ms: to a depot, whose answer waits for the journal, and to a planner on its thread. */
  readonly askDepot: number
  readonly askPlanner: number
  readonly supervised: boolean
}

export class Gauge {
  readonly #airlift: Airlift
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: 10 })
  readonly #began = performance.now()
  #last: { readonly at: number; readonly handled: number; readonly delivered: number } | undefined
  #threadsLost = 0
  #asked = { depot: 0, planner: 0 }

  constructor(airlift: Airlift) {
    this.#airlift = airlift
    this.#delay.enable()
    airlift.system.events.listen(() => void this.#threadsLost++, 'thread.lost')
  }

  async read(): Promise<Reading> {
    this.#ask()
    const { system, auditor, sky, switches } = this.#airlift
    const ledger = await system.ledger()
    const counts = system.counts()
    const at = performance.now()
    const { sum } = auditor
    const last = this.#last
    const seconds = last === undefined ? Infinity : (at - last.at) / 1000
    const handled = ledger.handled + ledger.failed
    const memory = process.memoryUsage()
    const loopDelay = Math.max(0, this.#delay.percentile(99) / 1e6 - 10)
    this.#delay.reset()
    this.#last = { at, handled, delivered: sum.delivered }
    return {
      at: Date.now(),
      pid: process.pid,
      up: at - this.#began,
      sum,
      problems: auditor.problems.slice(0, 5),
      rereads: auditor.rereads,
      ledger,
      drones: { ...sky.counts },
      actors: counts.active,
      messagesPerSecond: last === undefined ? 0 : Math.round((handled - last.handled) / seconds),
      deliveredPerSecond: last === undefined ? 0 : Math.round((sum.delivered - last.delivered) / seconds),
      restarts: counts.supervision.restarts,
      threadsLost: this.#threadsLost,
      heap: memory.heapUsed,
      rss: memory.rss,
      handles: process.getActiveResourcesInfo().length,
      loopDelay,
      askDepot: this.#asked.depot,
      askPlanner: this.#asked.planner,
      supervised: switches.supervised,
    }
  }

  /** Told with the next reading: one that hangs holds up nobody. */
  #ask(): void {
    const began = performance.now()
    const done = (whom: 'depot' | 'planner') => (): void => void (this.#asked = { ...this.#asked, [whom]: performance.now() - began })
    this.#airlift.askDepot().then(done('depot'), done('depot'))
    this.#airlift.planners.ask({ type: 'ping' }, { timeout: 10_000 }).then(done('planner'), done('planner'))
  }
}
