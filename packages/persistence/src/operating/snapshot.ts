// A snapshot of what a journal has of one id, taken beside a system that may use it: of stored events only, in the name of whoever owns the
// journal now. If that changes meanwhile it is not kept.

import { checkCan, checkText, readOptions, type Table } from '@troupe/core/internal'
import { Keyring } from '../gate/keyring.ts'
import { idOf } from '../gate/ids.ts'
import { snapshotNow } from '../gate/trimming.ts'
import type { Journal } from '../journal/port.ts'
import { definitionOf, type KindOrClass } from '../keeping/retention.ts'

/** Options of `snapshotKey`. */
export interface SnapshotOptions {
  /** What of the journal the system owns; `default` if left out, as with `persistence(…)`. */
  readonly scope?: string | undefined
}

const table: Table<SnapshotOptions> = { scope: checkText }
const quiet = (): void => undefined

/**
 * Keeps a snapshot of what a journal has of an actor, without a system; returns the number of the last event that it stands for.
 *
 * Guarantees: takes nothing over; a system that runs the actor goes on. Fails with `RecoveryFailed` where events cannot be read, with
 * `RetentionRefused` where the journal did not keep it, and with `InvalidOption`. Inside of a system there is `takeSnapshot`.
 *
 * @example
 * const journal = await openJournal(sqliteJournal('./data/shop.db'))
 * await snapshotKey(journal, cart, '42')
 */
export async function snapshotKey(journal: Journal, kind: KindOrClass, key: string, options: SnapshotOptions = {}): Promise<number> {
  checkCan('journal', journal, ['an open journal', 'saveSnapshot'])
  const { scope = 'default' } = readOptions('snapshotKey', options, table)
  const definition = definitionOf(kind, key)
  const now = (): number => Date.now()
  const host = {
    scope,
    now,
    keyring: new Keyring({ name: journal.identity, ticks: () => performance.now(), readable: () => Promise.resolve(journal) }),
    environment: { logger: { debug: quiet, info: quiet, warn: quiet, error: quiet } },
    owned: async () => ({ journal, epoch: await journal.epoch(scope) }),
  }
  return snapshotNow(host, definition, idOf(definition.kind, key), key)
}
