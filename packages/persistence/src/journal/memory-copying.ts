// A journal in memory as records that any journal can take, and such records taken into one that has nothing.

import { JournalDamaged, JournalRefused } from '../values/errors.ts'
import type { Ownership } from '../values/stored.ts'
import type { MemoryStore } from './memory-store.ts'
import { groupsOf, type JournalRecord } from './records.ts'

/** Everything that it has now. */
export function recordsOf(store: MemoryStore): JournalRecord[] {
  const [first] = store.damages()
  if (first !== undefined) throw new JournalDamaged(store.name, first.where, first.problem)
  const records: JournalRecord[] = []
  const ids = [...store.kept].filter(([, { seq, state, snapshots }]) => seq > 0 || state !== undefined || snapshots.length > 0)
  ids.sort(byName)
  for (const [id, { seq, deleted }] of ids) records.push({ record: 'id', id, seq, deleted })
  for (const { id, seq, event } of store.log) records.push({ record: 'event', id, seq, ...event })
  for (const [id, { state }] of ids) if (state !== undefined) records.push({ record: 'state', id, ...state })
  for (const [id, { snapshots }] of ids) for (const snapshot of snapshots.toReversed()) records.push({ record: 'snapshot', id, ...snapshot })
  for (const [id, { timers }] of ids) for (const [key, due] of [...timers].sort(byName)) records.push({ record: 'timer', id, key, due })
  for (const [subject, key] of [...store.keys].sort(byName)) records.push({ record: 'key', subject, key: key === 'erased' ? undefined : key })
  for (const [projection, offset] of [...store.offsets].sort(byName)) {
    const last = store.log.findLast(({ position }) => position <= Number(offset))
    if (last !== undefined) records.push({ record: 'place', projection, id: last.id, seq: last.seq })
  }
  return records
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

/** An import would overwrite what is there. */
export function refuseFilled(store: MemoryStore): void {
  if (recordsOf(store).length > 0)
    throw new JournalRefused(store.name, 'it has something already, which an import would overwrite; import into one that is new')
}

/** Nobody raises it: no scope is called so. */
const owner: Ownership = { scope: '', epoch: 0 }

export function restoreInto(store: MemoryStore, records: readonly JournalRecord[]): void {
  for (const record of records) if (record.record === 'id') store.beginAt(record.id, record.deleted)
  for (const group of groupsOf(records.filter((record) => record.record === 'event')))
    for (const run of group)
      if (store.apply({ write: 'run', ...run, timers: [], ...owner }).is !== 'stored')
        throw new JournalRefused(store.name, `the import cannot go on: ${run.id}#${run.first} does not follow what is there`)
  for (const record of records)
    switch (record.record) {
      case 'state': {
        const { id, revision, version, data, subject, time } = record
        store.apply({ write: 'state', id, expected: 0, revision, version, data, subject, time, timers: [], ...owner })
        break
      }
      case 'snapshot':
        store.saveSnapshot({ ...record, ...owner })
        break
      case 'timer':
        store.setTimer(record.id, record.key, record.due)
        break
      case 'key':
        store.keys.set(record.subject, record.key ?? 'erased')
        break
      case 'place': {
        const at = store.log.find(({ id, seq }) => id === record.id && seq === record.seq)
        if (at !== undefined) store.offsets.set(record.projection, String(at.position))
        break
      }
      default:
    }
}
