// What carries bytes from one session to another, and may drop, double, delay and reorder them. Nothing is promised but who sent them.
// Every engine runs the contract in test/contract/wire-contract.ts.

import type { Session } from '../values/session.ts'

/** Every wire carries frames of this many bytes at least. */
export const minFrame = 16_384

/** Carries frames between sessions; each may be lost, doubled, late or out of order. */
export interface Wire {
  /** The most bytes that a frame may have, `minFrame` at least; it may change when the wire connects to another server. */
  readonly maxFrame: number
  /** Whether it is worth sending. */
  readonly connected: boolean
  /** Takes frames for this session from now on. A wire is opened once. */
  open(self: Session, onFrame: (from: Session, bytes: Uint8Array) => void): Promise<void>
  /**
   * Sends at once, and keeps nothing for later: false where that is not possible. The bytes are not written to afterwards; those that
   * `onFrame` is given may be, so that what is kept is copied.
   */
  send(to: Session, bytes: Uint8Array): boolean
  /** Takes no frames any more. */
  close(): Promise<void>
}
