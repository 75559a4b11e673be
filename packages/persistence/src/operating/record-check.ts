// Whether records make a whole journal: in order, each once, nothing between the first and the last event of an id missing. Pure: used
// on the way out, so that no half copy is made, and on the way in, so that none is taken.

import type { JournalRecord } from '../journal/records.ts'
import type { RecordCounts } from './record-text.ts'

const order: readonly JournalRecord['record'][] = ['id', 'event', 'state', 'snapshot', 'timer', 'key', 'place']

interface Seen {
  readonly deleted: number
  readonly seq: number
  /** The number of the event that comes next. */
  next: number
  state: boolean
  /** The highest number of a snapshot so far. */
  snapshot: number
}

export class RecordCheck {
  readonly #ids = new Map<string, Seen>()
  readonly #counts: Record<JournalRecord['record'], number> = { id: 0, event: 0, state: 0, snapshot: 0, timer: 0, key: 0, place: 0 }
  #stage = 0

  get counts(): RecordCounts {
    return { ...this.#counts }
  }

  /** What is wrong with a record where it stands. */
  take(record: JournalRecord): string | undefined {
    const stage = order.indexOf(record.record)
    if (stage < this.#stage) return `a record of sort ${record.record} comes after one of sort ${order[this.#stage]}`
    this.#stage = stage
    this.#counts[record.record]++
    if (record.record === 'id') {
      const { id, seq, deleted } = record
      if (this.#ids.has(id)) return `${id} is there twice`
      if (deleted > seq) return `${id} has ${seq} events, of which ${deleted} are deleted`
      this.#ids.set(id, { deleted, seq, next: deleted + 1, state: false, snapshot: -1 })
      return undefined
    }
    if (record.record === 'key' || (record.record === 'place' && record.id === undefined)) return undefined
    const id = record.id as string
    const seen = this.#ids.get(id)
    if (seen === undefined) return `there is no id ${id}`
    switch (record.record) {
      case 'event':
        if (record.seq !== seen.next) return `event ${record.seq} of ${id} comes where ${seen.next} should`
        if (record.seq > seen.seq) return `${id} goes on to ${record.seq}, and its head says ${seen.seq}`
        seen.next++
        return undefined
      case 'state':
        if (seen.state) return `the state of ${id} is there twice`
        seen.state = true
        return undefined
      case 'snapshot':
        if (record.seq <= seen.snapshot) return `snapshot ${record.seq} of ${id} comes after ${seen.snapshot}`
        seen.snapshot = record.seq
        return undefined
      case 'place':
        return record.seq > seen.deleted && record.seq <= seen.seq
          ? undefined
          : `${record.projection} stands at ${id}#${record.seq}, which is not there`
      default:
        return undefined
    }
  }

  /** What is missing, when there are no more. */
  end(): string | undefined {
    for (const [id, { seq, next }] of this.#ids) if (next <= seq) return `events ${next} to ${seq} of ${id} are missing`
    return undefined
  }
}
