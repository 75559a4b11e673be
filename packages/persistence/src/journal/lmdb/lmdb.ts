// The embedded journal: one LMDB file in a directory. Several processes of one machine may have it open; each write is one LMDB
// transaction, which checks fence and number, stores all or nothing, and is flushed before anybody sees it.

import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { checkFinite, checkText, readOptions, type Table } from '@troupe/core/internal'
import { JournalDamaged, JournalUnavailable } from '../../values/errors.ts'
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
} from '../../values/stored.ts'
import type { EventQuery, GroupLimits, Journal, JournalEnvironment, JournalSource, Keyless, SubjectKey } from '../port.ts'
import type { JournalRecord } from '../records.ts'
import { afterAll, makeRecord, realKey, textKey } from './bytes.ts'
import { verifyFile } from './checking.ts'
import { recordsOf, restoreInto } from './copying.ts'
import { enterFile, type FileState, type LmdbFile, WriteFailed } from './file.ts'
import { find, readOffset } from './finding.ts'
import { headOrDamage, listIds, snapshotsBelow } from './heads.ts'
import { SubjectKeyFiles } from '../sqlite/subject-key-files.ts'
import { replayRuns } from './replaying.ts'
import { apply, deleteEvents, deleteSnapshots, ownerOf, prepare, raise, saveSnapshot, unfit, unfitFor } from './writes.ts'

/** Options of `lmdb()`. */
export interface LmdbOptions {
  /** What errors call it; `lmdb(directory)` unless told. */
  readonly name?: string | undefined
  /** How long a reader waits at most before it looks for events of other processes, in ms; 250 unless told. */
  readonly poll?: number | undefined
}

/** What LMDB calls it when all places for readers are taken. */
const readersFull = -30_790

const table: Table<LmdbOptions> = { name: checkText, poll: [checkFinite, 'above'] }

/**
 * A journal in a directory of this machine, made where it does not exist. Nothing is opened before a system uses it.
 *
 * Guarantees: what is acknowledged was flushed to the disk. Several processes may use the directory at once, on one machine; never
 * over a network file system. Fails with `InvalidOption`; opening fails as `JournalSource` says.
 *
 * @example
 * const journal = lmdb('./data')
 */
export function lmdb(directory: string, options: LmdbOptions = {}): JournalSource {
  checkText('directory', directory)
  const { name = `lmdb(${directory})`, poll = 250 } = readOptions('lmdb', options, table)
  return {
    name,
    kind: 'lmdb',
    place: directory,
    open: async (environment) => new LmdbJournal(name, await enterFile(name, directory), environment, poll),
  }
}

class LmdbJournal implements Journal {
  readonly identity: string
  // Few enough that the loop is free again after some milliseconds: a write is a page or two, whether many go together or not.
  readonly limits: GroupLimits = { writes: 250, events: 20_000, bytes: 8_000_000 }
  readonly handsOver = true
  readonly transactional = false
  readonly #name: string
  readonly #file: LmdbFile
  readonly #keys: SubjectKeyFiles
  readonly #environment: JournalEnvironment
  readonly #poll: number
  /** Tells this handle from others where fences are raised. */
  readonly #holder: string = randomUUID()
  #closing: Promise<void> | undefined
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #waiting = new Set<() => void>()

  constructor(name: string, file: LmdbFile, environment: JournalEnvironment, poll: number) {
    this.#name = name
    this.#file = file
    this.#keys = new SubjectKeyFiles(name, join(dirname(file.path), 'keys'))
    this.identity = file.identity
    this.#environment = environment
    this.#poll = poll
  }

  readonly #passedOver = (cause: unknown): void =>
    this.#environment.logger.warn({ journal: this.#name, cause }, 'a snapshot cannot be read; an earlier one, or all events, are')

  #closed(): JournalUnavailable {
    return new JournalUnavailable(this.#name, 'it is closed')
  }
  /** Reads what is there now. Never blocks for long: the file is in memory, or is about to be. */
  async #read<T>(look: () => T): Promise<T> {
    if (this.#closing !== undefined) throw this.#closed()
    this.#file.refresh()
    try {
      return look()
    } catch (cause) {
      throw this.#told(cause)
    }
  }
  /** LMDB's own errors have numbers: what it says of a page that leads nowhere. */
  #told(cause: unknown): unknown {
    const { code, message } = cause as { code?: unknown; message?: unknown }
    if (typeof code !== 'number') return cause
    if (code === readersFull)
      return new JournalUnavailable(
        this.#name,
        `${this.#file.path} has as many readers as it can have (${String(message)}); let fewer processes open it`,
        cause,
      )
    return new JournalDamaged(this.#name, this.#file.path, `LMDB cannot read it (${String(message)})`, cause)
  }
  #write<T>(change: (state: FileState) => T): Promise<T> {
    return this.#during(() => this.#file.write(change))
  }
  /** Does something that closing waits for. */
  async #during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw this.#closed()
    const working = work()
    this.#underWay.add(working)
    try {
      return await working
    } finally {
      this.#underWay.delete(working)
    }
  }
  /** Writes; what is wrong with the store is the outcome of it. */
  async #outcome(change: (state: FileState) => Outcome): Promise<Outcome> {
    try {
      return await this.#write(change)
    } catch (cause) {
      return cause instanceof WriteFailed && cause.unknown ? { is: 'unknown', cause: cause.cause } : { is: 'failed', cause: causeOf(cause) }
    }
  }
  /** Writes, or rejects as reads do. */
  async #store<T>(change: (state: FileState) => T): Promise<T> {
    try {
      return await this.#write(change)
    } catch (cause) {
      throw causeOf(cause)
    }
  }

  async append(group: readonly Write[], handed?: () => void): Promise<readonly Outcome[]> {
    const prepared = group.map(prepare)
    let bytes = 0
    for (const one of prepared) if (!(one instanceof Error)) bytes += one.record.length
    const full = this.#file.lacksRoom(group.length, bytes)
    if (full !== undefined) return prepared.map((one) => (one instanceof Error ? unfitFor(one) : { is: 'failed', cause: full }))
    let outcomes: Outcome[] = []
    const whole = await this.#outcome((state) => {
      outcomes = apply(this.#file, state, prepared)
      // What is left, to write the pages and to flush them, is done by a thread of LMDB's.
      if (handed !== undefined) setImmediate(handed)
      return { is: 'stored' }
    })
    if (whole.is === 'stored') return outcomes
    // What was refused for another reason stays refused for that.
    return group.map((_, i) => (outcomes[i] === undefined || outcomes[i].is === 'stored' ? whole : outcomes[i]))
  }

  heads(ids: readonly string[]): Promise<readonly Head[]> {
    return this.#read(() => ids.map((id) => headOrDamage(this.#file, id, this.#passedOver)))
  }

  async *replay(from: readonly { readonly id: string; readonly after: number }[], batch: number): AsyncGenerator<Replayed> {
    const parts = await this.#read(() => replayRuns(this.#file, from, batch))
    let since = 0
    for (;;) {
      const next = await this.#read(() => parts.next())
      if (next.done === true) return
      yield next.value
      since += 'events' in next.value ? next.value.events.length : 1
      if (since < batch) continue
      since = 0
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async saveSnapshot(write: SnapshotWrite): Promise<Outcome> {
    const full = this.#file.lacksRoom(1, write.data.length)
    if (full !== undefined) return { is: 'failed', cause: full }
    return this.#outcome(() => saveSnapshot(this.#file, write))
  }
  snapshotBefore(id: string, seq: number): Promise<Snapshot | undefined> {
    return this.#read(() => {
      // Not `next()`: a walk that nobody ends keeps one of the 126 places that LMDB has for readers until it is collected.
      const [newest] = snapshotsBelow(this.#file, id, seq, this.#passedOver)
      return newest
    })
  }
  deleteSnapshots(id: string, upTo: number, owner: Ownership): Promise<Outcome> {
    return this.#outcome(() => deleteSnapshots(this.#file, id, upTo, owner))
  }
  async deleteEvents(id: string, upTo: number, owner: Ownership): Promise<Outcome> {
    for (;;) {
      let more = false
      const outcome = await this.#outcome((state) => {
        const part = deleteEvents(this.#file, state, id, upTo, owner, 1000)
        more = part.more
        return part.outcome
      })
      if (outcome.is !== 'stored' || !more) return outcome
    }
  }

  async *events(query: EventQuery): AsyncGenerator<readonly FoundEvent[]> {
    const { signal, once = false } = query
    const position = readOffset(query.after)
    let patience = 1
    for (;;) {
      if (signal?.aborted === true || (this.#closing !== undefined && patience > 1)) return
      const { group, result } = await this.#read(() => ({ group: this.#file.state().group, result: find(this.#file, query, position) }))
      if (result.found.length > 0) {
        patience = 1
        yield result.found
        if (this.#closing !== undefined) return
      }
      if (result.more) await new Promise((resolve) => setImmediate(resolve))
      else if (once) return
      else patience = await this.#news(group, signal, patience)
    }
  }
  /** Waits until there is another group than this one, or no use in waiting; says how patient the next wait may be. */
  async #news(group: number, signal: AbortSignal | undefined, patience: number): Promise<number> {
    for (let wait = patience; ; wait = Math.min(wait * 2, this.#poll)) {
      if (signal?.aborted === true || this.#closing !== undefined) return 2
      this.#file.refresh()
      if (this.#file.state().group > group) return 2
      await this.#wait(wait, signal)
    }
  }
  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#file.listeners.delete(end)
        this.#waiting.delete(end)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const cancel = this.#environment.after(ms, end)
      this.#file.listeners.add(end)
      this.#waiting.add(end)
      signal?.addEventListener('abort', end)
    })
  }

  offset(projection: string): Promise<string | undefined> {
    return this.#read(() => this.#offsetOf(projection))
  }
  #offsetOf(projection: string): string | undefined {
    return this.#file.tables.offsets.get(textKey(projection), () => projection)?.text
  }
  async advance(
    projection: string,
    from: string | undefined,
    to: string,
    work: (transaction: unknown) => Promise<void>,
  ): Promise<'stored' | 'conflict'> {
    if ((await this.offset(projection)) !== from) return 'conflict'
    await work(undefined)
    const problem = unfit('projection', projection)
    if (problem !== undefined) throw problem
    return this.#store(() => {
      if (this.#offsetOf(projection) !== from) return 'conflict'
      this.#file.tables.offsets.put(textKey(projection), makeRecord(0, to))
      return 'stored'
    })
  }

  due(until: number, most: number, after?: DueTimer): Promise<readonly DueTimer[]> {
    return this.#read(() => {
      const { due } = this.#file.tables
      // One that is due right then belongs to it: the end of a range does not.
      const end = Buffer.concat([realKey(until), Buffer.from([0xff])])
      const start = after === undefined ? {} : { start: afterAll(Buffer.concat([realKey(after.due), textKey(after.id), textKey(after.key)])) }
      return [...due.range({ ...start, end, limit: most })].map(({ key, value }) => {
        const [id, name, at] = due.open(key, value, () => 'a timer').head as [string, string, number]
        return { id, key: name, due: at }
      })
    })
  }

  key(subject: string): Promise<SubjectKey> {
    return this.#during(() => this.#keys.find(subject))
  }
  keyless(subjects: readonly string[]): Promise<readonly Keyless[]> {
    return this.#during(() => this.#keys.keyless(subjects))
  }
  addKey(subject: string, key: Uint8Array): Promise<SubjectKey> {
    return this.#during(() => this.#keys.add(subject, key))
  }
  eraseKey(subject: string): Promise<void> {
    return this.#during(() => this.#keys.erase(subject))
  }

  async raise(scope: string, epoch: number): Promise<void> {
    const problem = unfit('scope', scope)
    if (problem !== undefined) throw problem
    await this.#store(() => raise(this.#file, scope, epoch, this.#holder))
  }
  epoch(scope: string): Promise<number> {
    return this.#read(() => ownerOf(this.#file, scope)?.epoch ?? 0)
  }

  ids(query: Parameters<Journal['ids']>[0]): Promise<readonly ListedId[]> {
    return this.#read(() => listIds(this.#file, query))
  }
  stats(): Promise<JournalStats> {
    return this.#read(() => {
      const { heads, snapshots } = this.#file.tables
      return { ids: heads.size, events: this.#file.state().events, snapshots: snapshots.size, bytes: this.#file.bytes }
    })
  }
  verify(signal?: AbortSignal): Promise<Verified> {
    return this.#during(() => verifyFile(this.#file, this.#keys, signal))
  }
  async *records(signal?: AbortSignal): AsyncGenerator<readonly JournalRecord[]> {
    const parts = await this.#read(() => recordsOf(this.#file, this.#keys, signal))
    try {
      for (;;) {
        const next = await this.#during(() => parts.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await parts.return(undefined)
    }
  }
  restore(records: AsyncIterable<readonly JournalRecord[]>): Promise<void> {
    return this.#during(() => restoreInto(this.#file, this.#keys, records))
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end())
  }
  async #end(): Promise<void> {
    for (const end of this.#waiting) end()
    await Promise.allSettled(this.#underWay)
    await this.#file.leave()
  }
}

function causeOf(cause: unknown): unknown {
  return cause instanceof WriteFailed ? cause.cause : cause
}
