// What a journal has, as records that another journal can take: the same whatever either is made of. Their order is part of it: ids
// first, then events in the order in which they became durable, then all that refers to those.

import type { Snapshot, StoredEvent, StoredState } from '../values/stored.ts'

/** One record of a journal, for copies of it. */
export type JournalRecord =
  /** An id and where it stands; the first of its events that is there is `deleted + 1`, the last one is `seq`. */
  | { readonly record: 'id'; readonly id: string; readonly seq: number; readonly deleted: number }
  | ({ readonly record: 'event'; readonly id: string; readonly seq: number } & StoredEvent)
  | ({ readonly record: 'state'; readonly id: string } & StoredState)
  | ({ readonly record: 'snapshot'; readonly id: string } & Snapshot)
  | { readonly record: 'timer'; readonly id: string; readonly key: string; readonly due: number }
  /** The key of a subject; undefined where it was erased. */
  | { readonly record: 'key'; readonly subject: string; readonly key: Uint8Array | undefined }
  /** A projection has seen everything up to this event; nothing that is there where `id` is undefined. */
  | { readonly record: 'place'; readonly projection: string; readonly id: string | undefined; readonly seq: number }

type EventRecord = Extract<JournalRecord, { record: 'event' }>

/** Consecutive events of one id among records of events. */
export interface EventRun {
  readonly id: string
  readonly first: number
  readonly events: StoredEvent[]
}

/**
 * Events as groups of runs, in their order: a group has each id at most once, as every group of a journal does. Fewer and longer runs make
 * fewer records, and the order between ids stays.
 */
export function groupsOf(records: readonly EventRecord[]): EventRun[][] {
  const groups: EventRun[][] = []
  let present: EventRun[] = []
  let ids = new Set<string>()
  for (const { id, seq, type, version, data, tags, subject, time } of records) {
    const event: StoredEvent = { type, version, data, tags, subject, time }
    const last = present.at(-1)
    if (last !== undefined && last.id === id && last.first + last.events.length === seq) {
      last.events.push(event)
      continue
    }
    if (ids.has(id)) {
      groups.push(present)
      present = []
      ids = new Set()
    }
    ids.add(id)
    present.push({ id, first: seq, events: [event] })
  }
  if (present.length > 0) groups.push(present)
  return groups
}
