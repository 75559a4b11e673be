// Projections of a journal, for operators: which there are, and how one is removed that holds back the deletion of events.

import { checkCan, checkText } from '@troupe/core/internal'
import type { Journal } from '../journal/port.ts'
import { type ProjectionPlace, projectionsOf, readsPrefix } from '../journal/projections.ts'

/**
 * The projections of a journal, by name: what each reads, and the last event that it has handled.
 *
 * @example
 * for (const { projection, offset } of await listProjections(journal)) console.log(projection, offset)
 */
export async function listProjections(journal: Journal): Promise<readonly ProjectionPlace[]> {
  checkCan('journal', journal, ['an open journal', 'replay'])
  return projectionsOf(journal)
}

/**
 * Forgets a projection: events that it has not handled may be deleted from now on. Returns whether the journal had it. Stop its actor before:
 * one that runs is there again after its next batch. Started again, it begins at the first event.
 *
 * @example
 * await removeProjection(journal, 'totals')
 */
export async function removeProjection(journal: Journal, projection: string): Promise<boolean> {
  checkCan('journal', journal, ['an open journal', 'replay'])
  checkText('projection', projection)
  const there = (await projectionsOf(journal)).some((one) => one.projection === projection)
  if (there) await journal.removePlaces?.([projection, readsPrefix + projection])
  return there
}
