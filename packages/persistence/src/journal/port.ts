// The port behind which journals stand: one contract, tested by one suite (test/contract), for memory, SQLite and PostgreSQL.
//
//   writer ──append(group)──▶ journal ──flush──▶ outcome of each write          fence: raise(scope, epoch) first, then read, then write
//   recovery ──heads, replay──▶             readers ──events(query)──▶          projections ──advance──▶
//
// A journal keeps text that it does not understand, in the order and under the conditions that a write names. It decides nothing:
// what to do about a fence, a conflict or an unknown outcome is the writer's affair. Nothing here is called with an id twice at once:
// the writer has one group under way, and a group has each id at most once.

import type { Logger } from '@troupe/core'
import type {
  DueTimer,
  FoundEvent,
  Head,
  JournalStats,
  ListedId,
  Outcome,
  Ownership,
  Replayed,
  Snapshot,
  SnapshotWrite,
  Verified,
  Write,
} from '../values/stored.ts'
import type { JournalRecord } from './records.ts'

/** What a journal is given of the world, so that it runs on virtual time too. */
export interface JournalEnvironment {
  /** Milliseconds since 1970. */
  now(): number
  /** A number in [0, 1). */
  random(): number
  /** Runs the task once after `ms`; returns what cancels it. */
  after(ms: number, task: () => void): () => void
  readonly logger: Logger
}

/**
 * Where a journal is, and how it is opened: what `sqliteJournal(file)`, `postgres(pool)` and `memory()` return. A value of it may be opened
 * several times, by several systems; each has its own `Journal`.
 */
export interface JournalSource {
  /** What errors and logs call it, such as `sqlite(./data/shop.db)`. */
  readonly name: string
  /** What it is, such as `sqlite`, and where, for whoever looks at a running system; without passwords. */
  readonly kind?: string | undefined
  readonly place?: string | undefined
  /**
   * Opens it, making it where it does not exist.
   *
   * Fails with `JournalUnavailable` (cannot be reached, cannot be written; the remedy is outside) or `JournalRefused` (another
   * version, a foreign file, a schema that is missing; trying again is of no use).
   */
  open(environment: JournalEnvironment): Promise<Journal>
}

/** How much one group may hold; the writer makes the next one of the rest. One write may exceed it alone. */
export interface GroupLimits {
  readonly writes: number
  readonly events: number
  readonly bytes: number
}

/** Events after which one, and of what; of everything where neither is said. */
export interface EventQuery {
  readonly tag?: string | undefined
  readonly kind?: string | undefined
  /** The offset of the last one that was seen; from the beginning where there is none. */
  readonly after?: string | undefined
  /** Whether to end after what is there now, rather than to wait for more. */
  readonly once?: boolean | undefined
  /** How many to give at a time, at most. */
  readonly batch: number
  /** Ends it: the iteration is over, without an error. */
  readonly signal?: AbortSignal | undefined
}

/** The keys that make the data of a subject readable. */
export type SubjectKey = { readonly is: 'key'; readonly key: Uint8Array } | { readonly is: 'none' } | { readonly is: 'erased' }

/** A subject without a key. */
export interface Keyless {
  readonly subject: string
  readonly is: 'none' | 'erased'
}

/** Whoever owns a scope raises its epoch first; from then on nothing of a lower epoch is stored. */
export interface Fence {
  /**
   * Makes this journal handle the owner of the scope in that epoch. Resolves when that is durable: no write of a lower epoch is
   * stored afterwards, also none that is under way now, in whatever process. Repeating it with the same handle and epoch is fine.
   *
   * Fails with `FenceLost` where the scope has a higher epoch, or the same by another handle.
   */
  raise(scope: string, epoch: number): Promise<void>
  /** The scope's epoch; 0 where it was never raised. */
  epoch(scope: string): Promise<number>
}

/** Readers of events that cannot go on, though there are later events. */
export interface HeldBack {
  /** For how many milliseconds the one has waited that has waited longest. */
  readonly for: number
  /** The reason, and where to look. */
  readonly why: string
}

/** One open journal. Every promise of it settles, at the latest when it is closed; what is called after that rejects with `JournalUnavailable`. */
export interface Journal extends Fence {
  /** Random, made once with the store and the same ever after: tells whether two systems mean the same journal. */
  readonly identity: string
  readonly limits: GroupLimits
  /** Whether `append` calls `handed`: then a group may be given to it before those are told who are in the last one. */
  readonly handsOver?: boolean | undefined
  /** What an operator should know though everything works, such as a log that only grows; undefined if nothing. */
  readonly warning?: string | undefined

  /**
   * Stores a group: each write whole or not at all, each independent of the others; the outcomes stand in the order of the writes.
   * Resolves only when what is `stored` is flushed. A write is stored only if its scope has exactly its epoch, and the id stands
   * right before `first` (or at `expected`), both decided at the moment at which it becomes visible: between look and commit
   * nothing may come in between. The fence is looked at first: what is both is `fenced`.
   *
   * Never rejects for a reason of the store: a store that refuses for sure says `failed`, one that went away says `unknown`.
   *
   * Where it `handsOver`, it calls `handed` once the rest needs no time of this thread; while it has a group, it is given no other.
   */
  append(group: readonly Write[], handed?: () => void): Promise<readonly Outcome[]>

  /**
   * Where these ids stand, in their order; an id that was never written has numbers of 0. One read for all of them. What cannot be read is
   * told for that id alone; a snapshot that cannot be is passed over.
   */
  heads(ids: readonly string[]): Promise<readonly Head[]>

  /**
   * The events of many ids after a number each, up to what is there when it begins: ids in any order, those of one id ascending and
   * without a gap. At most `batch` events at a time, read as they are asked for. What cannot be read is told for that id alone.
   */
  replay(from: readonly { readonly id: string; readonly after: number }[], batch: number): AsyncIterable<Replayed>

  /** Keeps a snapshot, and the one before it; older ones are removed. One for a number that has one replaces it. Flushed when it resolves. */
  saveSnapshot(write: SnapshotWrite): Promise<Outcome>
  /** The newest snapshot below a number that can be read. */
  snapshotBefore(id: string, seq: number): Promise<Snapshot | undefined>
  /** Removes the snapshots up to a number. */
  deleteSnapshots(id: string, upTo: number, owner: Ownership): Promise<Outcome>

  /** Removes the events up to a number, which is then `deleted` of its head. The head's `seq` stays. Whether that loses anything is the caller's affair. */
  deleteEvents(id: string, upTo: number, owner: Ownership): Promise<Outcome>

  /**
   * The events of a tag, of a kind, or all, after an offset: each committed event once, those of one id in order, none skipped, also
   * when writers commit in another order than they began. Waits for new ones and wakes by itself, also for those of other processes.
   */
  events(query: EventQuery): AsyncIterable<readonly FoundEvent[]>
  /** Readers of events that cannot go on at this moment; undefined if there are none. */
  readonly heldBack?: HeldBack | undefined

  /**
   * All that `advance` was called for, by name, each with where it has got to. Deleting events waits for projections where the journal has it, and
   * for none where it has not.
   */
  places?(): Promise<readonly (readonly [projection: string, offset: string])[]>
  /** Forgets where these have got to. */
  removePlaces?(projections: readonly string[]): Promise<void>
  /** Where a projection has got to. */
  offset(projection: string): Promise<string | undefined>
  /**
   * Moves a projection on, from the offset where it must still stand (`conflict` otherwise: another one runs under that name). `work`
   * is called first. Where the journal is `transactional` it is given the transaction that also holds the offset, and both or neither
   * are stored; elsewhere it is given undefined, and may be repeated after a crash. What `work` rejects with is passed on, and the
   * offset stays.
   */
  advance(projection: string, from: string | undefined, to: string, work: (transaction: unknown) => Promise<void>): Promise<'stored' | 'conflict'>
  readonly transactional: boolean

  /** Timers that are due by then, soonest first, in one order always; at most so many, and those after one where that is said. */
  due(until: number, most: number, after?: DueTimer): Promise<readonly DueTimer[]>

  /** The key of a subject. */
  key(subject: string): Promise<SubjectKey>
  /** Which of these subjects have no key: erased before it was asked, or never given one. One look for all of them. */
  keyless(subjects: readonly string[]): Promise<readonly Keyless[]>
  /** Gives a subject that has no key this one; the key that holds is returned, which another may have given first. */
  addKey(subject: string, key: Uint8Array): Promise<SubjectKey>
  /** Forgets the key of a subject for ever; it cannot have another. Flushed when it resolves. */
  eraseKey(subject: string): Promise<void>

  /** Ids in order, after one, at most so many. */
  ids(query: { readonly kind?: string | undefined; readonly after?: string | undefined; readonly most: number }): Promise<readonly ListedId[]>
  stats(): Promise<JournalStats>
  /** Reads everything and checks it: sums, gaps, repeats, what a head says against what is there. */
  verify(signal?: AbortSignal): Promise<Verified>

  /**
   * Everything that is there at the moment at which it begins, some records at a time, in the order that `JournalRecord` says: what is
   * written meanwhile is no part of it; a key that is erased meanwhile may be gone already. What cannot be read ends it with `JournalDamaged`: half a copy is none.
   */
  records(signal?: AbortSignal): AsyncIterable<readonly JournalRecord[]>
  /**
   * Takes the records of another journal. All or nothing: until the last one is in, nobody can use this journal; where that does not come
   * about, it has nothing, or is refused at every opening. Fails with `JournalRefused` where it has something already, and with what
   * `records` fails with.
   */
  restore(records: AsyncIterable<readonly JournalRecord[]>): Promise<void>

  /** Ends all iterations, lets what is under way finish, and lets go of the store. Once is enough; more do nothing. */
  close(): Promise<void>
}
