// The events of a run as one record: what they have in common once, what differs in columns, and their data as one text.

import type { StoredEvent } from '../../values/stored.ts'

/** Lengths of the data; then per column one value where all events have the same, or a list. */
type Head = [
  lengths: number[],
  types: Column<string>,
  versions: Column<number>,
  times: Column<number>,
  tags: Column<readonly string[]>,
  subjects: Column<string | null>,
]
type Column<T> = { readonly all: T } | { readonly each: readonly T[] }

function column<T>(events: readonly StoredEvent[], of: (event: StoredEvent) => T): Column<T> {
  const all = of(events[0]!)
  return events.every((event) => of(event) === all) ? { all } : { each: events.map(of) }
}
function at<T>(values: Column<T>, i: number): T {
  return 'all' in values ? values.all : values.each[i]!
}

const none: readonly string[] = []

/** Head and text of a run's record. */
export function writeRun(events: readonly StoredEvent[]): { readonly head: unknown; readonly text: string } {
  let text = ''
  const lengths: number[] = []
  for (const { data } of events) {
    lengths.push(data.length)
    text += data
  }
  const head: Head = [
    lengths,
    column(events, (event) => event.type),
    column(events, (event) => event.version),
    column(events, (event) => event.time),
    column(events, (event) => (event.tags.length === 0 ? none : event.tags)),
    column(events, (event) => event.subject ?? null),
  ]
  return { head, text }
}

/** How many events a run's record has. */
export function countOf(head: unknown): number {
  return (head as Head)[0].length
}

/** The events of a run's record, from one on, at most so many. */
export function readRun(head: unknown, text: string, skip = 0, most: number = Infinity): StoredEvent[] {
  const [lengths, types, versions, times, tags, subjects] = head as Head
  const events: StoredEvent[] = []
  let position = 0
  for (let i = 0; i < lengths.length && events.length < most; i++) {
    const data = text.slice(position, (position += lengths[i]!))
    if (i < skip) continue
    events.push({ type: at(types, i), version: at(versions, i), data, tags: at(tags, i), subject: at(subjects, i) ?? undefined, time: at(times, i) })
  }
  return events
}
