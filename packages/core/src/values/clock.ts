// Time as a dependency: what the concurrency kit waits with, so that virtual time can drive it. A system has one
// (`system.clock`); the host's own is the default where no system is at hand.

/** Tells the time and wakes after a while. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number
  /** A number in [0, 1), for jitter. */
  random(): number
  /**
   * Runs the task once after `ms` (any finite number of at least 0); returns what cancels it. Where the clock itself
   * ends first, `lost` is called instead, with the cause.
   */
  after(ms: number, task: () => void, lost: (cause: unknown) => void): () => void
}
