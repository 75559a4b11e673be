// The events of many ids out of an LMDB journal, a batch at a time, without a gap: what is missing or damaged ends that id, with an error
// that names the record.

import type { JournalDamaged } from '../../values/errors.ts'
import type { Replayed } from '../../values/stored.ts'
import { lastNumber, numberKey, textKey } from './bytes.ts'
import type { LmdbFile } from './file.ts'
import { keptHead } from './heads.ts'
import { countOf, readRun } from './run-text.ts'

/** Reads a record or a batch with every step; whoever takes them refreshes the file in between. */
export function replayRuns(
  file: LmdbFile,
  from: readonly { readonly id: string; readonly after: number }[],
  batch: number,
): Generator<Replayed, void> {
  // Up to what is there now, not to what comes while it is being read.
  const wanted = from.map(({ id, after }) => {
    try {
      const { seq, deleted } = keptHead(file, id)
      return { id, after: Math.max(after, deleted), last: seq }
    } catch (damage) {
      return { id, damage: damage as JournalDamaged }
    }
  })
  return parts(file, wanted, batch)
}

type Wanted = { readonly id: string; readonly after: number; readonly last: number } | { readonly id: string; readonly damage: JournalDamaged }

function* parts(file: LmdbFile, wanted: readonly Wanted[], batch: number): Generator<Replayed, void> {
  for (const one of wanted) {
    if ('damage' in one) {
      yield one
      continue
    }
    try {
      yield* eventsOf(file, one.id, one.after, one.last, batch)
    } catch (damage) {
      yield { id: one.id, damage: damage as Error }
    }
  }
}

function* eventsOf(file: LmdbFile, id: string, after: number, last: number, batch: number): Generator<Replayed, void> {
  const { runs } = file.tables
  const prefix = textKey(id)
  let next = after + 1
  while (next <= last) {
    // The run that has the next event is the last one that does not begin after it.
    const [entry] = runs.range({ start: numberKey(prefix, next), end: prefix, reverse: true, limit: 1 })
    const first = entry === undefined ? 0 : lastNumber(entry.key)
    const record = entry === undefined ? undefined : runs.open(entry.key, entry.value, () => `${id}#${first}`)
    if (record === undefined || first + countOf(record.head) <= next)
      throw runs.damage(`${id}#${next}`, `event ${next} is missing, and the head says ${last}`)
    const events = readRun(record.head, record.text, next - first)
    for (let i = 0; i < events.length && next <= last; i += batch) {
      const some = events.slice(i, Math.min(i + batch, i + last - next + 1))
      yield { id, first: next, events: some }
      next += some.length
    }
  }
}
