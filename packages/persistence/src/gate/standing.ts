// How persistence stands in one system, put together from those who write for it.

import type { JournalSource } from '../journal/port.ts'
import type { Tally } from '../journal/tally.ts'
import type { JournalSurvey } from '../values/survey.ts'

/** How one who writes for a part of a journal stands. */
export interface Standing extends Pick<JournalSurvey, 'scope' | 'whenAway' | 'epoch' | 'phase' | 'actors' | 'writing' | 'writingFor' | 'queued'> {
  readonly permits: number
  readonly waiting: number
  readonly reading: number
  readonly refused: number
  readonly heldBack: JournalSurvey['heldBack']
  readonly retryIn: number
  /** How many records a group may have; undefined until the journal is opened. */
  readonly mostWrites: number | undefined
  readonly warning: string | undefined
}

/** What is seen of a journal: of its system's own part, and in sum of those that the system has besides. */
export function surveyOf(
  { name, kind = 'other', place }: JournalSource,
  own: Standing,
  parts: readonly Standing[],
  tally: Tally,
  retention: JournalSurvey['retention'],
): JournalSurvey {
  const all = [own, ...parts]
  const sum = (of: (one: Standing) => number): number => all.reduce((total, one) => total + of(one), 0)
  const retryIn = Math.max(...all.map((one) => one.retryIn))
  const { scope, epoch, phase, whenAway, permits, heldBack } = own
  const { groups, records, events, failedGroups: failed, latency, trouble } = tally
  return {
    name,
    kind,
    place,
    scope,
    epoch,
    parts: parts.length,
    phase,
    whenAway,
    trouble,
    warning: own.warning,
    actors: sum((one) => one.actors),
    writing: sum((one) => one.writing),
    writingFor: Math.max(...all.map((one) => one.writingFor)),
    queued: sum((one) => one.queued),
    queuedGroups: sum(({ queued, mostWrites = Infinity }) => (queued === 0 ? 0 : Math.max(1, Math.ceil(queued / mostWrites)))),
    commits: { groups, records, events, failed, latency },
    heldBack,
    recoveries: {
      waiting: sum((one) => one.waiting),
      reading: sum((one) => one.reading),
      permits,
      done: tally.recovered,
      failed: tally.unrecovered,
    },
    retention,
    circuit: { state: retryIn > 0 ? 'open' : 'closed', refused: Math.max(...all.map((one) => one.refused)), retryIn },
  }
}
