// Journals that take nothing, or take long, or whose readers cannot go on: persistent actors and projections wait, are refused or have stopped, and
// none of them can help it.

import { awayOf, type HeldRetention, refusedLast, type SeenJournal } from '../../survey/journals.ts'
import type { Clue } from '../finding.ts'
import { duration, times } from '../words.ts'

/** A commit that takes so long, or keeps readers waiting for so long, is worth a look. */
const slow = 10_000
/** A projection that is behind for so long does not just catch up. */
const heldTooLong = 60_000

export function* journalClues(journals: readonly SeenJournal[], at: number): Iterable<Clue> {
  for (const journal of journals) {
    for (const held of journal.retention ?? []) if (held.heldFor >= heldTooLong) yield retentionClue(journal.name, held, at)
    const away = sentenceOf(journal)
    if (away !== undefined) yield clue(journal, 'error', at, away)
    else if (journal.writingFor >= slow) {
      const behind = journal.queued === 0 ? '' : `, and ${times(journal.queued, 'actor')} wait${journal.queued === 1 ? 's' : ''} behind it`
      yield clue(journal, 'warning', at - journal.writingFor, `a commit has been under way for ${duration(journal.writingFor)}${behind}`)
    } else if (journal.warning !== undefined) yield clue(journal, 'warning', at, journal.warning)
    if (journal.heldFor >= slow) yield heldClue(journal, at)
  }
}

function sentenceOf(journal: SeenJournal): string | undefined {
  const { trouble, refused } = journal
  const said = trouble === undefined ? '' : `: ${trouble}`
  switch (awayOf(journal) ?? (refusedLast(journal) ? 'refuses' : undefined)) {
    case 'lost':
      return 'another process has taken it over; persistent actors of this one have stopped, and store nothing any more'
    case 'unopened':
      return `it cannot be opened${said}`
    case 'raising':
      return `it did not say what it has stored, and nothing is read or written until it does${said}`
    case 'refuses':
      return `it refuses everything, ${times(refused, 'group')} in a row${said}`
    case undefined:
      return undefined
  }
}

function retentionClue(name: string, { projection, actors, events, heldFor }: HeldRetention, at: number): Clue {
  return {
    rule: 'retention-held',
    severity: 'warning',
    key: `${name} ${projection}`,
    uids: [],
    since: at - heldFor,
    evidence: { projection, actors, events, heldFor },
    tell: () => ({
      subject: name,
      sentence: `${times(events, 'event')} of ${times(actors, 'actor')} would be deleted, and projection ${projection} has not handled them for ${duration(heldFor)}. Let it catch up; if nothing uses it any more, remove it: troupe journal projections --remove ${projection}`,
    }),
  }
}

function clue(journal: SeenJournal, severity: Clue['severity'], since: number, sentence: string): Clue {
  const { name, phase, refused, writingFor, queued } = journal
  return {
    rule: 'journal-away',
    severity,
    key: name,
    uids: [],
    since,
    evidence: { phase, refused, writingFor, queued },
    tell: () => ({ subject: name, sentence }),
  }
}

function heldClue({ name, heldFor, heldBy }: SeenJournal, at: number): Clue {
  return {
    rule: 'readers-held',
    severity: 'warning',
    key: name,
    uids: [],
    since: at - heldFor,
    evidence: { heldFor },
    tell: () => ({ subject: name, sentence: `projections and other readers of its events have been held back for ${duration(heldFor)}: ${heldBy}` }),
  }
}
