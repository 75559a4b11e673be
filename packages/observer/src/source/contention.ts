// Tells time in which this thread worked from time in which it waited for a core. On a busy machine a short turn may take long by the clock: that
// is not the actor's doing. Linux counts the wait; elsewhere it is the time that the loop was busy without using the processor, if the thread was
// preempted at all: a turn that blocks in a system call uses none either, and is to be found.

import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { ProcessorTime } from '../findings/frame.ts'

/** The time of this thread so far; undefined where the host does not count it. */
function scheduled(): ProcessorTime | undefined {
  try {
    // Nanoseconds on a core, nanoseconds in the run queue, time slices.
    const [ran = NaN, waited = NaN] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ').map(Number)
    return Number.isFinite(ran) && Number.isFinite(waited) ? { ran: ran / 1e6, waited: waited / 1e6 } : undefined
  } catch {
    return undefined
  }
}

/** The same, estimated. */
class EstimatedWait {
  #active = 0
  #cpu = 0
  #preempted = 0
  #waited = 0
  read(): ProcessorTime {
    const { active } = performance.eventLoopUtilization()
    const { userCPUTime, systemCPUTime, involuntaryContextSwitches } = process.resourceUsage()
    const cpu = (userCPUTime + systemCPUTime) / 1000
    if (involuntaryContextSwitches > this.#preempted) this.#waited += Math.max(0, active - this.#active - (cpu - this.#cpu))
    this.#active = active
    this.#cpu = cpu
    this.#preempted = involuntaryContextSwitches
    return { ran: cpu, waited: this.#waited }
  }
}

export class Contention {
  readonly #estimated = new EstimatedWait()
  #last: ProcessorTime
  constructor() {
    this.#last = this.#total()
  }
  #total(): ProcessorTime {
    return scheduled() ?? this.#estimated.read()
  }
  /** The time of this thread since the last call. */
  take(): ProcessorTime {
    const { ran, waited } = this.#last
    this.#last = this.#total()
    return { ran: Math.max(0, this.#last.ran - ran), waited: Math.max(0, this.#last.waited - waited) }
  }
}
