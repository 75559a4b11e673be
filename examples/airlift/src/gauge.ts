// How an airlift stands, once a second: the sum, the ledger, messages a second, memory, the loop's delay. One word for the page, the terminal and
// the soak.

import type { Airlift, Measures, Nodes } from './airlift.ts'
import type { Sum } from './auditor.ts'
import type { DronePhase } from './sky.ts'

export interface Reading extends Measures {
  readonly at: number
  readonly pid: number
  /** Milliseconds since this process began to fly. */
  readonly up: number
  readonly sum: Sum
  readonly problems: readonly string[]
  /** How often the auditor came too late for events and began anew with the books. */
  readonly rereads: number
  readonly drones: Readonly<Record<DronePhase, number>>
  readonly messagesPerSecond: number
  readonly deliveredPerSecond: number
  readonly supervised: boolean
  /** Undefined in one process. */
  readonly nodes: Nodes | undefined
}

export class Gauge {
  readonly #airlift: Airlift
  readonly #began = performance.now()
  #last: { readonly at: number; readonly handled: number; readonly delivered: number } | undefined

  constructor(airlift: Airlift) {
    this.#airlift = airlift
  }

  async read(): Promise<Reading> {
    const { auditor, sky, switches, nodes } = this.#airlift
    const measures = await this.#airlift.measure()
    const at = performance.now()
    const { sum } = auditor
    const last = this.#last
    const seconds = last === undefined ? Infinity : (at - last.at) / 1000
    const handled = measures.ledger.handled + measures.ledger.failed
    this.#last = { at, handled, delivered: sum.delivered }
    // Of a node that is gone nobody knows what it had handled: then less was, in all, than before.
    const perSecond = (now: number, before: number | undefined): number =>
      before === undefined ? 0 : Math.max(0, Math.round((now - before) / seconds))
    return {
      ...measures,
      at: Date.now(),
      pid: process.pid,
      up: at - this.#began,
      sum,
      problems: auditor.problems.slice(0, 5),
      rereads: auditor.rereads,
      drones: { ...sky.counts },
      messagesPerSecond: perSecond(handled, last?.handled),
      deliveredPerSecond: perSecond(sum.delivered, last?.delivered),
      supervised: switches.supervised,
      nodes,
    }
  }
}
