// Tells time in which this thread worked from time in which it waited for a core. On a busy machine a short turn may take long by the clock: that
// is not the actor's doing. Linux counts the wait; elsewhere it is the time that the loop was busy without using the processor, if the thread was
// preempted at all: a turn that blocks in a system call uses none either, and is to be found.

import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** Milliseconds that this thread has waited for a core so far; undefined where the host does not count them. */
function scheduledWait(): number | undefined {
  try {
    // Nanoseconds on a core, nanoseconds in the run queue, time slices.
    const waited = Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1])
    return Number.isFinite(waited) ? waited / 1e6 : undefined
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
  read(): number {
    const { active } = performance.eventLoopUtilization()
    const { userCPUTime, systemCPUTime, involuntaryContextSwitches } = process.resourceUsage()
    const cpu = (userCPUTime + systemCPUTime) / 1000
    if (involuntaryContextSwitches > this.#preempted) this.#waited += Math.max(0, active - this.#active - (cpu - this.#cpu))
    this.#active = active
    this.#cpu = cpu
    this.#preempted = involuntaryContextSwitches
    return this.#waited
  }
}

export class Contention {
  readonly #estimated = new EstimatedWait()
  #last: number
  constructor() {
    this.#last = this.#total()
  }
  #total(): number {
    return scheduledWait() ?? this.#estimated.read()
  }
  /** Milliseconds that this thread waited for a core since the last call. */
  take(): number {
    const before = this.#last
    this.#last = this.#total()
    return Math.max(0, this.#last - before)
  }
}
