// What a journal keeps, as plain data. An id is `kind/key`: the kind is the part before the first slash, and what it names is
// defined once, for all keys. Text that stands for a value was made by the codec; a journal keeps it as it is and never looks inside.

import { checkString } from '@troupe/core/internal'

/** One event as it is kept. */
export interface StoredEvent {
  /** What happened; names that begin with `$` are Troupe's own. */
  readonly type: string
  /** The version of the definition that wrote it. */
  readonly version: number
  /** The whole event, as the codec wrote it: JSON text, or an envelope around a cipher where it has a subject. */
  readonly data: string
  /** What it can be found by; none for most. */
  readonly tags: readonly string[]
  /** Whose data it is, where that can be erased. */
  readonly subject: string | undefined
  /** When it was persisted, in milliseconds since 1970 by the writer's clock. Not an order. */
  readonly time: number
}

/** An event as a query finds it. */
export interface FoundEvent extends StoredEvent {
  readonly id: string
  readonly seq: number
  /** Where a reader goes on after it; opaque, and of this journal only. */
  readonly offset: string
}

/** A timer that is set, moved or, without `due`, removed together with what a write holds. */
export interface TimerChange {
  readonly key: string
  /** When it is due, in milliseconds since 1970. */
  readonly due: number | undefined
}

/** Who writes: the scope whose owner this is, and the epoch in which it became so. */
export interface Ownership {
  readonly scope: string
  readonly epoch: number
}

/** The consecutive events of one id in one group: one record, all or nothing. */
export interface Run extends Ownership {
  readonly write: 'run'
  readonly id: string
  /** The number of its first event; the id's last is one below it, or this is a conflict. */
  readonly first: number
  readonly events: readonly StoredEvent[]
  readonly timers: readonly TimerChange[]
  /** Whose data is in it, each once; left out where it is nobody's. */
  readonly subjects?: readonly string[] | undefined
}

/** The whole state of one id, replaced: one record. */
export interface StateWrite extends Ownership {
  readonly write: 'state'
  readonly id: string
  /** The revision that it replaces, 0 where there is none; another one there is a conflict. */
  readonly expected: number
  /** Its own revision, above `expected`; changes made meanwhile were never written by themselves. */
  readonly revision: number
  readonly version: number
  /** As the codec wrote it; undefined where the state was cleared, which keeps the revision. */
  readonly data: string | undefined
  readonly subject: string | undefined
  readonly time: number
  readonly timers: readonly TimerChange[]
}

/** What one group holds. */
export type Write = Run | StateWrite

/** How one write of a group ended. */
export type Outcome =
  /** It is durable: it survives the end of this process and of this machine. */
  | { readonly is: 'stored' }
  /** The scope has another epoch by now. Nothing of it is stored, and nothing will be. */
  | { readonly is: 'fenced' }
  /** The id does not stand where the writer believed. Nothing of it is stored, and nothing will be. */
  | { readonly is: 'conflict' }
  /** It is surely not stored, and never will be; `unfit` where the store could not take it at any time, as an id that is too long. */
  | { readonly is: 'failed'; readonly cause: unknown; readonly unfit?: true }
  /** It may be stored, or may be so later, until the scope's epoch is raised. */
  | { readonly is: 'unknown'; readonly cause: unknown }

/** A state that stands for all events up to a number. */
export interface Snapshot {
  readonly seq: number
  /** The version of the definition that made it. */
  readonly version: number
  readonly data: string
  readonly time: number
}

/** A snapshot to be kept. */
export interface SnapshotWrite extends Snapshot, Ownership {
  readonly id: string
}

/** A state as it is kept. */
export interface StoredState {
  readonly revision: number
  readonly version: number
  readonly data: string | undefined
  readonly subject: string | undefined
  readonly time: number
}

/** Where one id stands. */
export interface Head {
  readonly id: string
  /** The highest number that was ever given to an event of it; 0 for none. Deletion never lowers it. */
  readonly seq: number
  /** Events up to this number were deleted; 0 for none. */
  readonly deleted: number
  /** The newest snapshot that can be read. */
  readonly snapshot: Snapshot | undefined
  /** Its state, where it has one instead of events. */
  readonly state: StoredState | undefined
  /** Why nothing can be said of it: its record cannot be read. Nothing else here counts then. */
  readonly damage?: Error | undefined
}

/** Consecutive events of one id, in order; or that what it has cannot be read, after which nothing more comes of it. */
export type Replayed =
  | { readonly id: string; readonly first: number; readonly events: readonly StoredEvent[] }
  | { readonly id: string; readonly damage: Error }

/** A timer whose time has come, or will. */
export interface DueTimer {
  readonly id: string
  readonly key: string
  readonly due: number
}

/** One id as a list shows it. */
export interface ListedId {
  readonly id: string
  readonly seq: number
  readonly deleted: number
  /** The numbers that its snapshots stand for, newest first. */
  readonly snapshots: readonly number[]
  /** The revision of its state, where it has one. */
  readonly revision: number | undefined
}

/** What was found wrong with a journal. */
export interface Damage {
  /** File or table, and record. */
  readonly where: string
  readonly id: string | undefined
  readonly seq: number | undefined
  readonly problem: string
}

/** What looking through a whole journal found. */
export interface Verified {
  readonly ids: number
  readonly events: number
  readonly snapshots: number
  /** The first thousand. */
  readonly damages: readonly Damage[]
}

/** Size of a journal. */
export interface JournalStats {
  readonly ids: number
  readonly events: number
  readonly snapshots: number
  /** Bytes on disk, where that can be told. */
  readonly bytes: number | undefined
}

/**
 * The kind an id belongs to.
 *
 * @example
 * kindOf('cart/42') // → 'cart'
 */
export function kindOf(id: string): string {
  return checkString('id', id).split('/', 1)[0]!
}
