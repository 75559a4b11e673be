// Time that moves only when told. It stops at every deadline on the way, and at each stop everything due runs to
// quiescence, native promise chains included.

import { ManualRuntime } from '@troupe/core'
import { checkFinite, hostYield, Tap, type TappedRuntime } from '@troupe/core/internal'

/**
 * A clock that starts at 0 and moves by `tick`, which runs nothing by itself.
 *
 * @example
 * const clock = new VirtualClock()
 * clock.tick(50)
 * clock.now // 50
 */
export class VirtualClock {
  #now = 0
  get now(): number {
    return this.#now
  }
  /** Moves time; what handlers do in a test to take time. */
  tick(ms: number): void {
    this.#now += checkFinite('ms', ms, 'from')
  }
  /** Moves time to a later moment. */
  moveTo(at: number): void {
    if (checkFinite('at', at, 'from') > this.#now) this.#now = at
  }
}

/** A runtime on virtual time: `settle` and `advance` run it. */
export class VirtualRuntime extends ManualRuntime implements TappedRuntime {
  override readonly id: string = 'virtual'
  readonly clock: VirtualClock
  readonly tap: Tap
  constructor(clock: VirtualClock, random: () => number, tap: Tap = new Tap()) {
    super({ now: () => clock.now, random })
    this.clock = clock
    this.tap = tap
  }
}

/** Lets native promise chains run: one pass of the host's loop drains all microtasks. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => hostYield(resolve))
}
