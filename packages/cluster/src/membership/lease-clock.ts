// The clock that leases are counted by. The monotonic clock of a host may stop while the machine is suspended, as it does on Linux, and the
// lease runs out meanwhile. So this clock adds the time of suspensions, as the boot clock counts it.
//
// Reading a boot clock takes microseconds, and a lease is checked for every message. So it is read only when the wall clock, which is cheap
// and also counts suspensions, has moved against the monotonic one. Where there is no boot clock, the wall clock is all there is: a step
// forward counts as a suspension, and costs the lease until the next renewal. A step back changes nothing.

/** The clocks of a host, in milliseconds. */
export interface HostClocks {
  /** Never goes back; may stop while the machine is suspended. */
  readonly monotonic: () => number
  /** Counts suspensions, and may be stepped. */
  readonly wall: () => number
  /** Never goes back, and counts suspensions; undefined where there is none. */
  readonly boot: (() => number) | undefined
  /** The boot clock may differ by this much from what has passed. */
  readonly bootResolutionMs: number
}

/** A suspension shorter than this may go unnoticed: the unused tenth of a lease is longer. */
const toleranceMs = 50

export class LeaseClock {
  readonly #clocks: HostClocks
  /** The monotonic clock and the boot clock at the start. */
  readonly #monotonicStart: number
  readonly #bootStart: number
  /** The difference of wall clock and monotonic clock at the last comparison. */
  #wallAhead: number
  #suspended = 0

  constructor(clocks: HostClocks) {
    this.#clocks = clocks
    this.#monotonicStart = clocks.monotonic()
    this.#bootStart = clocks.boot?.() ?? 0
    this.#wallAhead = clocks.wall() - this.#monotonicStart
  }

  /** Milliseconds that passed, suspensions included. Never goes back. */
  readonly now = (): number => {
    const monotonic = this.#clocks.monotonic()
    const moved = this.#clocks.wall() - monotonic - this.#wallAhead
    if (moved > toleranceMs || moved < -toleranceMs) this.#compare(monotonic, moved)
    return monotonic + this.#suspended
  }

  #compare(monotonic: number, moved: number): void {
    const { boot, bootResolutionMs } = this.#clocks
    this.#wallAhead += moved
    if (boot === undefined) this.#suspended += Math.max(0, moved)
    else {
      const suspended = boot() - this.#bootStart - (monotonic - this.#monotonicStart)
      if (suspended - this.#suspended > bootResolutionMs) this.#suspended = suspended
    }
  }
}
