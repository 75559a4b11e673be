// What can be seen of a system's journal while it works: figures that are there anyway, for whoever shows or watches them. Asking reads
// memory only: nothing is asked of the store.

import type { SystemView } from '@troupe/core'
import { hubOrNone } from '../reading/events.ts'
import type { JournalSurvey } from '../values/survey.ts'

/**
 * What the journals of a system do at this moment; none where the system has no persistence.
 *
 * Guarantees: synchronous, reads memory only, changes nothing. Fails with `InvalidOption` where it is no system. Those who cannot depend on this package find the same as `survey()` of
 * what joined the system under the name `persistence`.
 *
 * @example
 * for (const { name, circuit, commits } of surveyJournals(system)) console.log(name, circuit.state, commits.latency.p99)
 */
export function surveyJournals(system: SystemView): readonly JournalSurvey[] {
  return hubOrNone(system)?.survey() ?? []
}
