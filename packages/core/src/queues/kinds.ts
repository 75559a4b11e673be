// The kinds of mailbox that `spawn` takes.

import type { MailboxKind } from '../values/mailbox.ts'
import { MessageRing } from './ring.ts'

/**
 * A mailbox that takes everything; the default. Grows as needed and gives the memory back.
 *
 * @example
 * system.spawn(worker(), { mailbox: unbounded() })
 */
export function unbounded(): MailboxKind {
  return { kind: 'unbounded', create: () => new MessageRing() }
}
