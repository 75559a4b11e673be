// The journal for tests and simulation: as strict as the others, gone with the process, and able to misbehave in every way that they
// may. What goes wrong is drawn from the environment's random numbers, so that a seed repeats it.

import { InvalidOption } from '@troupe/core'
import { checkFinite, checkPart, checkText, checkUpTo, readOptions, type Table } from '@troupe/core/internal'
import { JournalUnavailable } from '../values/errors.ts'
import type {
  DueTimer,
  FoundEvent,
  Head,
  ListedId,
  Outcome,
  Ownership,
  Replayed,
  Snapshot,
  SnapshotWrite,
  StoredEvent,
  Verified,
  Write,
} from '../values/stored.ts'
import { recordsOf, refuseFilled, restoreInto } from './memory-copying.ts'
import { MemoryStore } from './memory-store.ts'
import type { EventQuery, GroupLimits, Journal, JournalEnvironment, JournalSource, Keyless, SubjectKey } from './port.ts'
import type { JournalRecord } from './records.ts'

/** How a journal in memory misbehaves: chances from 0 to 1. Read at every operation, so that a test may change them. */
export interface MemoryFaults {
  /** A group that is refused, all of it. */
  fail?: number | undefined
  /** A group of which some writes are refused, each with this chance. */
  partial?: number | undefined
  /** A group whose outcome is not known: each write of it is stored at once, later, or never. */
  unknown?: number | undefined
  /** A read, or the raising of a fence, that fails. */
  read?: number | undefined
  /** A snapshot that is not kept. */
  snapshot?: number | undefined
  /** A snapshot that is kept, and cannot be read. */
  spoil?: number | undefined
  /** Every operation takes up to so many ms, at random, so that they end in another order than they began. */
  delay?: number | undefined
}

/** Options of `memory()`. */
export interface MemoryOptions {
  /** What errors call it. */
  readonly name?: string | undefined
  /** How it misbehaves, for tests; not at all if left out. */
  readonly faults?: MemoryFaults | undefined
}

/** A journal in memory, as a test holds it. */
export interface MemorySource extends JournalSource {
  readonly faults: MemoryFaults
  /** What it has of an id now, from the first event that was not deleted on. */
  eventsOf(id: string): readonly StoredEvent[]
  /** Where it has an id now, with its state and its last snapshot. */
  headOf(id: string): Head
  /** Makes the record with that event unreadable. */
  damage(id: string, seq: number): void
}

const chance = [checkUpTo, 1] as const
const faultTable: Table<MemoryFaults> = {
  fail: chance,
  partial: chance,
  unknown: chance,
  read: chance,
  snapshot: chance,
  spoil: chance,
  delay: [checkFinite, 'from'],
}
const table: Table<MemoryOptions> = { name: checkText, faults: (option, value) => checkPart(option, value, faultTable) }

/**
 * A journal that lives as long as this value: for tests and the simulator. A system that is created anew with the same value finds
 * what an earlier one stored.
 *
 * Guarantees: what every journal guarantees, but for the end of the process. Fails with `InvalidOption`.
 *
 * @example
 * const journal = memory({ faults: { unknown: 0.1, delay: 20 } })
 */
export function memory(options: MemoryOptions = {}): MemorySource {
  const { name = 'memory', faults = {} } = readOptions('memory', options, table)
  const store = new MemoryStore(name)
  const identity = `memory-${++made}`
  return {
    name,
    kind: 'memory',
    faults,
    eventsOf: (id) => store.eventsOf(id),
    headOf: (id) => store.head(id),
    damage: (id, seq) => store.damage(id, seq),
    open: (environment) => Promise.resolve(new MemoryJournal(store, identity, faults, environment)),
  }
}
let made = 0

class Broken extends Error {
  override readonly name = 'MemoryFault'
}

class MemoryJournal implements Journal {
  readonly identity: string
  readonly limits: GroupLimits = { writes: 1000, events: 10_000, bytes: 4_000_000 }
  readonly handsOver = true
  readonly transactional = false
  readonly #store: MemoryStore
  readonly #faults: MemoryFaults
  readonly #environment: JournalEnvironment
  /** Tells this handle from others where fences are raised. */
  readonly #holder = {}
  #closed = false
  readonly #closing = new Set<() => void>()

  constructor(store: MemoryStore, identity: string, faults: MemoryFaults, environment: JournalEnvironment) {
    this.#store = store
    this.identity = identity
    this.#faults = faults
    this.#environment = environment
  }

  #happens(likely: number | undefined): boolean {
    return likely !== undefined && likely > 0 && this.#environment.random() < likely
  }
  /** The time an operation takes. */
  async #pass(): Promise<void> {
    const { delay = 0 } = this.#faults
    if (this.#closed) throw new JournalUnavailable(this.#store.name, 'it is closed')
    if (delay > 0) await this.#wait(this.#environment.random() * delay)
  }
  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#environment.after(ms, end)
      const closing = this.#closing
      closing.add(end)
      function end(): void {
        cancel()
        closing.delete(end)
        resolve()
      }
    })
  }
  async #read(): Promise<void> {
    await this.#pass()
    if (this.#happens(this.#faults.read)) throw new JournalUnavailable(this.#store.name, 'a fault was asked for')
  }

  async append(group: readonly Write[], handed?: () => void): Promise<readonly Outcome[]> {
    const { fail, partial, unknown } = this.#faults
    if (this.#closed) return group.map(() => ({ is: 'failed', cause: new JournalUnavailable(this.#store.name, 'it is closed') }))
    await this.#pass()
    handed?.()
    const cause = new Broken('a fault was asked for')
    if (this.#happens(fail)) return group.map(() => ({ is: 'failed', cause }))
    const lost = this.#happens(unknown)
    const outcomes = group.map((write): Outcome => {
      if (lost) {
        const fate = this.#environment.random() * 3
        if (fate < 1) this.#store.apply(write)
        // Lands when nobody expects it any more, unless the fence has been raised.
        else if (fate < 2) this.#environment.after(this.#environment.random() * 100, () => void this.#store.apply(write))
        return { is: 'unknown', cause }
      }
      return this.#happens(partial) ? { is: 'failed', cause } : this.#store.apply(write)
    })
    await this.#pass().catch(() => undefined)
    return outcomes
  }

  async heads(ids: readonly string[]): Promise<readonly Head[]> {
    await this.#read()
    return ids.map((id) => this.#store.head(id))
  }
  async *replay(from: readonly { readonly id: string; readonly after: number }[], batch: number): AsyncGenerator<Replayed> {
    await this.#read()
    const last = from.map(({ id }) => this.#store.head(id).seq)
    for (const [i, { id, after }] of from.entries()) {
      for (let at = Math.max(after, this.#store.head(id).deleted); at < last[i]!;) {
        let events
        try {
          events = this.#store.read(id, at, last[i]!, batch)
        } catch (damage) {
          yield { id, damage: damage as Error }
          break
        }
        if (events.length === 0) break
        yield { id, first: at + 1, events }
        at += events.length
        await this.#read()
      }
    }
  }

  async saveSnapshot(write: SnapshotWrite): Promise<Outcome> {
    await this.#pass()
    if (this.#happens(this.#faults.snapshot)) return { is: 'failed', cause: new Broken('a fault was asked for') }
    return this.#store.saveSnapshot(this.#happens(this.#faults.spoil) ? { ...write, data: write.data.slice(0, -1) } : write)
  }
  async snapshotBefore(id: string, seq: number): Promise<Snapshot | undefined> {
    await this.#read()
    return this.#store.snapshotBefore(id, seq)
  }
  async deleteSnapshots(id: string, upTo: number, owner: Ownership): Promise<Outcome> {
    await this.#pass()
    return this.#store.deleteSnapshots(id, upTo, owner)
  }
  async deleteEvents(id: string, upTo: number, owner: Ownership): Promise<Outcome> {
    await this.#pass()
    return this.#store.deleteEvents(id, upTo, owner)
  }

  async *events(query: EventQuery): AsyncGenerator<readonly FoundEvent[]> {
    const { signal, once = false } = query
    let after = query.after === undefined ? 0 : Number(query.after)
    if (!Number.isSafeInteger(after) || after < 0) throw new InvalidOption('after', query.after, 'use an offset of this journal')
    for (;;) {
      await this.#read()
      // Closed meanwhile: whoever waits from here on is woken by nothing.
      if (signal?.aborted === true || this.#closed) return
      const found = this.#store.find(query, after)
      if (found.length > 0) {
        after = Number(found.at(-1)!.offset)
        yield found
      } else if (once) return
      else await this.#news(signal)
      if (this.#closed) return
    }
  }
  /** Something was stored, or there is no more use in waiting. */
  #news(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        stop()
        this.#closing.delete(end)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const stop = this.#store.listen(end)
      this.#closing.add(end)
      signal?.addEventListener('abort', end)
    })
  }

  async places(): Promise<readonly (readonly [string, string])[]> {
    await this.#read()
    return [...this.#store.offsets]
  }
  async removePlaces(projections: readonly string[]): Promise<void> {
    await this.#pass()
    for (const projection of projections) this.#store.offsets.delete(projection)
  }
  async offset(projection: string): Promise<string | undefined> {
    await this.#read()
    return this.#store.offsets.get(projection)
  }
  async advance(
    projection: string,
    from: string | undefined,
    to: string,
    work: (transaction: unknown) => Promise<void>,
  ): Promise<'stored' | 'conflict'> {
    await this.#pass()
    if (this.#store.offsets.get(projection) !== from) return 'conflict'
    await work(undefined)
    await this.#pass()
    if (this.#store.offsets.get(projection) !== from) return 'conflict'
    this.#store.offsets.set(projection, to)
    return 'stored'
  }

  async due(until: number, most: number, after?: DueTimer): ReturnType<Journal['due']> {
    await this.#read()
    return this.#store.due(until, most, after)
  }

  async key(subject: string): Promise<SubjectKey> {
    await this.#read()
    const key = this.#store.keys.get(subject)
    return key === undefined ? { is: 'none' } : key === 'erased' ? { is: 'erased' } : { is: 'key', key }
  }
  async keyless(subjects: readonly string[]): Promise<readonly Keyless[]> {
    await this.#read()
    return subjects.flatMap((subject): Keyless | readonly [] => {
      const key = this.#store.keys.get(subject)
      return key === undefined ? { subject, is: 'none' } : key === 'erased' ? { subject, is: 'erased' } : []
    })
  }
  async addKey(subject: string, key: Uint8Array): Promise<SubjectKey> {
    await this.#pass()
    if (!this.#store.keys.has(subject)) this.#store.keys.set(subject, key)
    return this.key(subject)
  }
  async eraseKey(subject: string): Promise<void> {
    await this.#pass()
    this.#store.keys.set(subject, 'erased')
  }

  async raise(scope: string, epoch: number): Promise<void> {
    await this.#read()
    this.#store.raise(scope, epoch, this.#holder)
  }
  async epoch(scope: string): Promise<number> {
    await this.#read()
    return this.#store.epoch(scope)
  }

  async ids(query: Parameters<Journal['ids']>[0]): Promise<readonly ListedId[]> {
    await this.#read()
    return this.#store.ids(query)
  }
  async stats(): ReturnType<Journal['stats']> {
    await this.#read()
    return this.#store.stats()
  }
  async verify(): Promise<Verified> {
    await this.#read()
    const { ids, events, snapshots } = this.#store.stats()
    return { ids, events, snapshots, damages: this.#store.damages() }
  }
  async *records(signal?: AbortSignal): AsyncGenerator<readonly JournalRecord[]> {
    await this.#read()
    const all = recordsOf(this.#store)
    for (let i = 0; i < all.length; i += 500) {
      signal?.throwIfAborted()
      yield all.slice(i, i + 500)
      if (this.#closed) throw new JournalUnavailable(this.#store.name, 'it is closed')
    }
  }
  async restore(records: AsyncIterable<readonly JournalRecord[]>): Promise<void> {
    await this.#pass()
    refuseFilled(this.#store)
    const all: JournalRecord[] = []
    for await (const some of records) all.push(...some)
    await this.#pass()
    refuseFilled(this.#store)
    restoreInto(this.#store, all)
  }

  close(): Promise<void> {
    this.#closed = true
    for (const end of this.#closing) end()
    return Promise.resolve()
  }
}
