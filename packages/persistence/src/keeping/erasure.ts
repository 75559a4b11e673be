// Erasing a subject: its key is deleted, and with it everything that was sealed with it can no longer be read, wherever copies of it are.

import type { SystemView } from '@troupe/core'
import { checkText } from '@troupe/core/internal'
import { checkSubject } from '../gate/definition.ts'
import { hubIn } from '../reading/events.ts'

/**
 * Erases a subject for ever: what events, states and snapshots with that `subject` hold can no longer be read, in this journal and in every
 * copy of it that has no copy of the keys.
 *
 * Guarantees: when it resolves the key is gone from the journal, durably, and actors of this system that had such data in memory begin anew
 * without it; systems in other processes notice within a minute. The subject cannot have another key. Not erased: types, tags, times and
 * subjects themselves, what was delivered or set as a timer, and what projections have made. Fails with `InvalidOption`, `NotAllowed`, and with
 * what the journal fails with; it may then be tried again.
 *
 * @example
 * await eraseSubject(system, 'customer-4711')
 */
export async function eraseSubject(system: SystemView, subject: string): Promise<void> {
  checkSubject(checkText('subject', subject))
  const hub = hubIn(system, 'erase a subject')
  const journal = await hub.readable()
  await journal.eraseKey(subject)
  hub.erased(subject)
}
