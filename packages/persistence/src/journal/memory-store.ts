// What a journal in memory keeps, and the rules by which a write is let in: the part that is the same whoever opened it. It outlives
// the systems that open it, as a disk would, and ends with the process.

import { FenceLost, JournalDamaged } from '../values/errors.ts'
import {
  type Damage,
  type DueTimer,
  type FoundEvent,
  type Head,
  kindOf,
  type ListedId,
  type Outcome,
  type Ownership,
  type Snapshot,
  type SnapshotWrite,
  type StoredEvent,
  type StoredState,
  type Write,
} from '../values/stored.ts'
import type { EventQuery } from './port.ts'
import { TimerIndex } from './timer-index.ts'

/** What is kept of one id. `events[0]` is number `deleted + 1`. */
export class Kept {
  deleted = 0
  readonly events: StoredEvent[] = []
  /** Newest first, two at most. */
  snapshots: Snapshot[] = []
  state: StoredState | undefined
  readonly timers: Map<string, number> = new Map()
  /** Numbers whose record cannot be read. */
  readonly damaged: Set<number> = new Set()
  get seq(): number {
    return this.deleted + this.events.length
  }
}

const stored: Outcome = { is: 'stored' }
const fenced: Outcome = { is: 'fenced' }
const conflict: Outcome = { is: 'conflict' }

/** An event in the order of all. */
export interface Logged {
  readonly position: number
  readonly id: string
  readonly seq: number
  readonly event: StoredEvent
}

/** The name of the index of an entity type, of a tag, or of both. */
function indexOf(kind: string | undefined, tag: string | undefined): string {
  return JSON.stringify([kind, tag])
}
function* indexesOf({ id, event: { tags } }: Logged): Iterable<string> {
  const kind = kindOf(id)
  yield indexOf(kind, undefined)
  for (const tag of new Set(tags)) {
    yield indexOf(undefined, tag)
    yield indexOf(kind, tag)
  }
}

export class MemoryStore {
  readonly name: string
  readonly #kept = new Map<string, Kept>()
  /** Who owns a scope, and since which epoch. */
  readonly #owners = new Map<string, { epoch: number; holder: object }>()
  /** All events in the order in which they became durable; and by entity type, by tag and by both, so that a reader of few does not pass all. */
  #log: Logged[] = []
  readonly #indexes = new Map<string, Logged[]>()
  #position = 0
  readonly offsets: Map<string, string> = new Map()
  readonly keys: Map<string, Uint8Array | 'erased'> = new Map()
  readonly #timers = new TimerIndex()
  readonly #listeners = new Set<() => void>()

  constructor(name: string) {
    this.name = name
  }

  #of(id: string): Kept {
    let kept = this.#kept.get(id)
    if (kept === undefined) this.#kept.set(id, (kept = new Kept()))
    return kept
  }

  epoch(scope: string): number {
    return this.#owners.get(scope)?.epoch ?? 0
  }
  raise(scope: string, epoch: number, holder: object): void {
    const owner = this.#owners.get(scope)
    if (owner !== undefined && (owner.epoch > epoch || (owner.epoch === epoch && owner.holder !== holder)))
      throw new FenceLost(scope, epoch, owner.epoch)
    this.#owners.set(scope, { epoch, holder })
  }
  #owns({ scope, epoch }: Ownership): boolean {
    return this.epoch(scope) === epoch
  }

  /** Lets a write in, whole, or says why not. */
  apply(write: Write): Outcome {
    if (!this.#owns(write)) return fenced
    const kept = this.#of(write.id)
    if (write.write === 'run') {
      if (kept.seq + 1 !== write.first) return conflict
      write.events.forEach((event, i) => {
        kept.events.push(event)
        const entry = { position: ++this.#position, id: write.id, seq: write.first + i, event }
        this.#log.push(entry)
        for (const index of indexesOf(entry)) {
          const entries = this.#indexes.get(index)
          if (entries === undefined) this.#indexes.set(index, [entry])
          else entries.push(entry)
        }
      })
    } else {
      if ((kept.state?.revision ?? 0) !== write.expected) return conflict
      const { revision, version, data, subject, time } = write
      kept.state = { revision, version, data, subject, time }
    }
    for (const { key, due } of write.timers) this.setTimer(write.id, key, due)
    for (const listener of this.#listeners) listener()
    return stored
  }

  head(id: string): Head {
    const kept = this.#kept.get(id)
    return { id, seq: kept?.seq ?? 0, deleted: kept?.deleted ?? 0, snapshot: kept?.snapshots[0], state: kept?.state }
  }

  /** Up to `most` events after a number, up to `last`. */
  read(id: string, after: number, last: number, most: number): readonly StoredEvent[] {
    const kept = this.#of(id)
    const from = Math.max(after, kept.deleted)
    const until = Math.min(last, kept.seq, from + most)
    for (let seq = from + 1; seq <= until; seq++)
      if (kept.damaged.has(seq)) throw new JournalDamaged(this.name, `${id} event ${seq}`, 'its sum does not match')
    return kept.events.slice(from - kept.deleted, until - kept.deleted)
  }
  eventsOf(id: string): readonly StoredEvent[] {
    return [...(this.#kept.get(id)?.events ?? [])]
  }
  /** Makes a record unreadable, as a disk might. */
  damage(id: string, seq: number): void {
    this.#of(id).damaged.add(seq)
  }

  saveSnapshot(write: SnapshotWrite): Outcome {
    if (!this.#owns(write)) return fenced
    const kept = this.#of(write.id)
    const { seq, version, data, time } = write
    const others = kept.snapshots.filter((other) => other.seq !== seq)
    kept.snapshots = [...others, { seq, version, data, time }].sort((a, b) => b.seq - a.seq).slice(0, 2)
    return stored
  }
  snapshotBefore(id: string, seq: number): Snapshot | undefined {
    return this.#kept.get(id)?.snapshots.find((snapshot) => snapshot.seq < seq)
  }
  deleteSnapshots(id: string, upTo: number, owner: Ownership): Outcome {
    if (!this.#owns(owner)) return fenced
    const kept = this.#of(id)
    kept.snapshots = kept.snapshots.filter((snapshot) => snapshot.seq > upTo)
    return stored
  }
  deleteEvents(id: string, upTo: number, owner: Ownership): Outcome {
    if (!this.#owns(owner)) return fenced
    const kept = this.#of(id)
    const last = Math.min(upTo, kept.seq)
    if (last <= kept.deleted) return stored
    kept.events.splice(0, last - kept.deleted)
    kept.deleted = last
    for (const seq of kept.damaged) if (seq <= last) kept.damaged.delete(seq)
    const isKept = (entry: Logged): boolean => entry.id !== id || entry.seq > last
    const indexes = new Set<string>()
    for (const entry of this.#log) if (!isKept(entry)) for (const index of indexesOf(entry)) indexes.add(index)
    for (const index of indexes) this.#indexes.set(index, this.#indexes.get(index)!.filter(isKept))
    this.#log = this.#log.filter(isKept)
    return stored
  }

  /** The next events of a query, at most `query.batch`, after a position. */
  find(query: EventQuery, after: number): FoundEvent[] {
    const log = query.tag === undefined && query.kind === undefined ? this.#log : (this.#indexes.get(indexOf(query.kind, query.tag)) ?? [])
    let low = 0
    for (let high = log.length; low < high;) {
      const middle = (low + high) >> 1
      if (log[middle]!.position <= after) low = middle + 1
      else high = middle
    }
    const found: FoundEvent[] = []
    for (const { position, id, seq, event } of log.slice(low, low + query.batch)) found.push({ ...event, id, seq, offset: String(position) })
    return found
  }
  /** All that is kept, for copies. */
  get kept(): ReadonlyMap<string, Kept> {
    return this.#kept
  }
  get log(): readonly Logged[] {
    return this.#log
  }
  /** Begins an id of which so many events were given and deleted. */
  beginAt(id: string, deleted: number): void {
    this.#of(id).deleted = deleted
  }

  /** Calls back after every write that was let in; returns what ends that. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  due(until: number, most: number, after: DueTimer | undefined): DueTimer[] {
    return this.#timers.upTo(until, most, after)
  }
  /** Sets a timer, or removes it where it has no time. */
  setTimer(id: string, key: string, due: number | undefined): void {
    const { timers } = this.#of(id)
    const before = timers.get(key)
    if (before !== undefined) this.#timers.remove({ id, key, due: before })
    if (due === undefined) timers.delete(key)
    else {
      timers.set(key, due)
      this.#timers.add({ id, key, due })
    }
  }

  ids(query: { readonly kind?: string | undefined; readonly after?: string | undefined; readonly most: number }): ListedId[] {
    const { kind, after, most } = query
    return [...this.#kept.keys()]
      .filter((id) => (kind === undefined || kindOf(id) === kind) && (after === undefined || id > after))
      .sort()
      .slice(0, most)
      .map((id) => {
        const { seq, deleted, snapshots, state } = this.#kept.get(id)!
        return { id, seq, deleted, snapshots: snapshots.map((snapshot) => snapshot.seq), revision: state?.revision }
      })
  }
  stats(): { ids: number; events: number; snapshots: number; bytes: undefined } {
    let events = 0
    let snapshots = 0
    for (const kept of this.#kept.values()) {
      events += kept.events.length
      snapshots += kept.snapshots.length
    }
    return { ids: this.#kept.size, events, snapshots, bytes: undefined }
  }
  damages(): Damage[] {
    const damages: Damage[] = []
    for (const [id, kept] of this.#kept)
      for (const seq of kept.damaged) damages.push({ where: `${id} event ${seq}`, id, seq, problem: 'its sum does not match' })
    return damages.slice(0, 1000)
  }
}
