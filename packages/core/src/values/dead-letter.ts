// A message that reached nobody, and why. Kept in a bounded ring, counted, and published as `message.dead`.

import type { AnyRef } from './ref.ts'

/** Why a message reached nobody. */
export type DeadLetterReason =
  | 'stopped'
  | 'system-closed'
  | 'undefined-message'
  | 'not-accepted'
  | 'late-reply'
  | 'stale-adapter'
  | 'mailbox-full'
  | 'mailbox-failed'
  | 'redirect-cycle'
  | 'no-recipient'
  | 'no-routees'
  | 'not-transferable'
  | 'thread-lost'
  | 'node-lost'
  | 'node-behind'
  | 'no-owner'
  | 'unknown-kind'

/** A message that reached nobody, with the reason and when (milliseconds of the system's clock). */
export interface DeadLetter {
  readonly message: unknown
  readonly sender: AnyRef | undefined
  readonly recipient: AnyRef | undefined
  readonly reason: DeadLetterReason
  readonly at: number
}
