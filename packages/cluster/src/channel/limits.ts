// How much one peer may cost. Both sides count alike, so that what a sender may send a receiver can hold.

export interface Limits {
  /** Bytes that may be under way and not acknowledged. */
  readonly window: number
  /** Bytes that may wait behind them; what comes after is refused. */
  readonly queue: number
}

export const defaultLimits: Limits = { window: 1_048_576, queue: 63 * 1_048_576 }

/** What keeping a frame costs beside its bytes. */
const overhead = 256

/** What a frame counts against the window of both sides, and against the queue. */
export function costOf(bytes: number): number {
  return bytes + overhead
}

/** The most bytes that a frame may have, so that it fits the window by itself. */
export function frameLimit(maxFrame: number, limits: Limits): number {
  return Math.min(maxFrame, limits.window - overhead)
}
