// The embedded journal: one SQLite file. Writes run in a worker, one transaction per group, flushed before they are acknowledged; reads run in
// the thread of the actors, in short transactions. Several processes of one machine may have the file open.

import { randomUUID } from 'node:crypto'
import { InvalidOption } from '@troupe/core'
import { checkFinite, checkOneOf, checkText, readOptions, type Table } from '@troupe/core/internal'
import { FenceLost, JournalUnavailable } from '../../values/errors.ts'
import { isWellFormed } from '../../values/names.ts'
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
import { nextTurn } from '../loop-slice.ts'
import type { EventQuery, GroupLimits, Journal, JournalEnvironment, JournalSource, Keyless, SubjectKey } from '../port.ts'
import { tagsOf } from '../postgres/appending.ts'
import { writeRun } from '../postgres/run-text.ts'
import { fromText, toText } from '../postgres/text.ts'
import type { JournalRecord } from '../records.ts'
import { findEvents, readOffset } from './sqlite-events.ts'
import { recordsOf, restoreInto } from './sqlite-export.ts'
import { enterFile, type SqliteFile } from './sqlite-file.ts'
import { SqliteNotifications } from './sqlite-notifications.ts'
import type { RowOutcome, VerifiedRows, WorkerFailure, WorkerRequest, WriteRow } from './sqlite-protocol.ts'
import { listIds, readHead, replay, snapshotBelow } from './sqlite-reads.ts'
import { checked, optional, unfitName } from './sqlite-rows.ts'
import { RequestFailed } from './sqlite-worker-handle.ts'
import { keysPath, SubjectKeys } from './subject-keys.ts'

/** Options of `sqliteJournal()`. */
export interface SqliteJournalOptions {
  /** The name in errors; `sqlite(file)` by default. */
  readonly name?: string | undefined
  /** `full` by default: every commit is flushed. With `normal` the last commits may be lost when the machine loses power, not when the process ends. */
  readonly synchronous?: 'full' | 'normal' | undefined
  /** How long a reader waits at most before it looks for events of other processes, in ms; 250 by default. */
  readonly pollMs?: number | undefined
}

const table: Table<SqliteJournalOptions> = { name: checkText, synchronous: [checkOneOf, ['full', 'normal']], pollMs: [checkFinite, 'above'] }

/**
 * A journal in one SQLite file, which is created if it does not exist. Runs on Node, Bun and Deno; Node 20 needs
 * `@photostructure/sqlite@1`. Nothing is opened before a system uses it.
 *
 * Guarantees: what is acknowledged was flushed to the disk. Several processes of one machine may use the file at once. Fails with
 * `InvalidOption`; opening fails as `JournalSource` says. A file of another application, of a newer version, or on a network file system
 * is refused.
 *
 * @example
 * const journal = sqliteJournal('./data/shop.db')
 */
export function sqliteJournal(file: string, options: SqliteJournalOptions = {}): JournalSource {
  checkText('file', file)
  if (file.includes('\0')) throw new InvalidOption('file', file, 'use a path without null characters')
  if (file.startsWith('file:')) throw new InvalidOption('file', file, "use a path, such as './data/journal.db'")
  if (file === ':memory:') throw new InvalidOption('file', file, 'use memory() for a journal in memory')
  const { name = `sqlite(${file})`, synchronous = 'full', pollMs = 250 } = readOptions('sqliteJournal', options, table)
  return {
    name,
    kind: 'sqlite',
    place: file,
    open: async (environment) => new SqliteJournal(name, await enterFile(name, file, synchronous), environment, pollMs),
  }
}

class SqliteJournal implements Journal {
  readonly identity: string
  readonly limits: GroupLimits = { writes: 500, events: 20_000, bytes: 8_000_000 }
  readonly handsOver = true
  readonly transactional = false
  readonly #name: string
  readonly #file: SqliteFile
  readonly #keys: SubjectKeys
  readonly #environment: JournalEnvironment
  readonly #notifications: SqliteNotifications
  /** Identifies this handle as the holder of an epoch. */
  readonly #holder: string = randomUUID()
  readonly #pending = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(name: string, file: SqliteFile, environment: JournalEnvironment, pollMs: number) {
    this.#name = name
    this.#file = file
    this.#keys = new SubjectKeys(name, keysPath(file.path))
    this.#environment = environment
    this.#notifications = new SqliteNotifications(file, environment, pollMs)
    this.identity = file.identity
    file.warningListeners.add(this.#onWarning)
  }

  get warning(): string | undefined {
    return this.#file.warning
  }
  #warned = false
  readonly #onWarning = (warning: string | undefined): void => {
    // Its size changes with every look; once is enough for a log.
    if (warning !== undefined && !this.#warned) this.#environment.logger.warn({ journal: this.#name }, warning)
    if (warning === undefined) this.#environment.logger.info({ journal: this.#name }, 'the log of the journal is short again')
    this.#warned = warning !== undefined
  }

  readonly #onBadSnapshot = (cause: unknown): void =>
    this.#environment.logger.warn({ journal: this.#name, cause }, 'a snapshot cannot be read; an earlier one, or all events, are used')

  /** A short read as of one moment. */
  readonly #look = <T>(look: () => T): T => {
    if (this.#closing !== undefined) throw new JournalUnavailable(this.#name, 'it is closed')
    return this.#file.read(look)
  }
  async #read<T>(look: () => T): Promise<T> {
    return this.#look(look)
  }
  /** Does something that closing waits for. */
  async #during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new JournalUnavailable(this.#name, 'it is closed')
    const working = work()
    this.#pending.add(working)
    try {
      return await working
    } finally {
      this.#pending.delete(working)
    }
  }
  #ask(request: WorkerRequest): Promise<unknown> {
    return this.#during(() => this.#file.ask(request))
  }
  /** A change that only the current writer may make. */
  async #change(request: WorkerRequest): Promise<Outcome | 'more'> {
    try {
      const ended = (await this.#during(() => this.#file.request(request))) as 'stored' | 'fenced' | 'more'
      return ended === 'more' ? ended : { is: ended }
    } catch (cause) {
      return this.#failed(cause)
    }
  }
  #failed(cause: unknown): Outcome {
    if (!(cause instanceof RequestFailed)) return { is: 'failed', cause: this.#file.errorOf(cause) }
    return { is: cause.failure.unknown === true ? 'unknown' : 'failed', cause: this.#file.errorOf(cause) }
  }

  async append(group: readonly Write[], handed?: () => void): Promise<readonly Outcome[]> {
    const unfit = group.map(unfitFor)
    const fit = unfit.every((problem) => problem === undefined) ? group : group.filter((_, i) => unfit[i] === undefined)
    let outcomes: readonly Outcome[]
    try {
      const storing = this.#during(() => this.#file.request({ type: 'append', writes: fit.map(rowOf) }))
      // The rest needs no time of this thread.
      handed?.()
      outcomes = ((await storing) as readonly RowOutcome[]).map((outcome) =>
        typeof outcome === 'string' ? { is: outcome } : this.#failedRow(outcome),
      )
    } catch (cause) {
      const failed = this.#failed(cause)
      outcomes = fit.map(() => failed)
    }
    if (fit === group) return outcomes
    let next = 0
    return unfit.map((problem) => (problem === undefined ? outcomes[next++]! : { is: 'failed', cause: new RangeError(problem), unfit: true }))
  }
  #failedRow(failure: WorkerFailure): Outcome {
    return { is: failure.unknown === true ? 'unknown' : 'failed', cause: this.#file.failureError(failure) }
  }

  async heads(ids: readonly string[]): Promise<readonly Head[]> {
    return this.#look(() => ids.map((id) => readHead(this.#file, id, this.#onBadSnapshot)))
  }
  replay(from: readonly { readonly id: string; readonly after: number }[], batch: number): AsyncIterable<Replayed> {
    return replay(this.#file, from, batch, this.#look)
  }

  async saveSnapshot({ id, seq, version, data, time, scope, epoch }: SnapshotWrite): Promise<Outcome> {
    const problem = unfitName('id', id)
    if (problem !== undefined) return { is: 'failed', cause: new RangeError(problem), unfit: true }
    const snapshot = { id: toText(id), seq, version, data: toText(data), time }
    return (await this.#change({ type: 'saveSnapshot', snapshot, scope: toText(scope), epoch })) as Outcome
  }
  snapshotBefore(id: string, seq: number): Promise<Snapshot | undefined> {
    return this.#read(() => snapshotBelow(this.#file, toText(id), seq, this.#onBadSnapshot))
  }
  async deleteSnapshots(id: string, upTo: number, { scope, epoch }: Ownership): Promise<Outcome> {
    return (await this.#change({ type: 'deleteSnapshots', id: toText(id), upTo, scope: toText(scope), epoch })) as Outcome
  }
  async deleteEvents(id: string, upTo: number, { scope, epoch }: Ownership): Promise<Outcome> {
    for (;;) {
      const outcome = await this.#change({ type: 'deleteEvents', id: toText(id), upTo, scope: toText(scope), epoch })
      if (outcome !== 'more') return outcome
    }
  }

  async *events(query: EventQuery): AsyncGenerator<readonly FoundEvent[]> {
    const { signal, once = false } = query
    const at = readOffset(query.after)
    for (let begun = false; ; begun = true) {
      // Closing ends an iteration that has begun, wherever it is; one that begins afterwards is refused.
      if (signal?.aborted === true || (this.#closing !== undefined && begun)) return
      const version = this.#look(() => this.#file.dataVersion())
      const { found, more } = this.#look(() => findEvents(this.#file, query, at))
      if (found.length > 0) {
        yield found
        if (this.#closing !== undefined) return
      }
      if (more) await nextTurn()
      else if (once) return
      else await this.#notifications.changeAfter(version, signal)
    }
  }

  places(): Promise<readonly (readonly [string, string])[]> {
    return this.#read(() => {
      const rows = this.#file.sql('select * from offsets order by projection').all()
      return rows.map((row) => {
        const { projection, reached } = checked('offsets', row, () => String(row['projection'])) as unknown as { projection: string; reached: string }
        return [fromText(projection), reached] as const
      })
    })
  }
  async removePlaces(projections: readonly string[]): Promise<void> {
    await this.#ask({ type: 'removePlaces', projections: projections.map(toText) })
  }
  offset(projection: string): Promise<string | undefined> {
    return this.#read(() => {
      const row = this.#file.sql('select * from offsets where projection = ?').get(toText(projection))
      return row === undefined ? undefined : (checked('offsets', row, () => projection)['reached'] as string)
    })
  }
  async advance(
    projection: string,
    from: string | undefined,
    to: string,
    work: (transaction: unknown) => Promise<void>,
  ): Promise<'stored' | 'conflict'> {
    if ((await this.offset(projection)) !== from) return 'conflict'
    await work(undefined)
    const problem = unfitName('projection', projection)
    if (problem !== undefined) throw new RangeError(problem)
    return (await this.#ask({ type: 'advance', projection: toText(projection), from: from ?? null, to })) as 'stored' | 'conflict'
  }

  due(until: number, most: number, after?: DueTimer): Promise<readonly DueTimer[]> {
    return this.#read(() => {
      const start = after === undefined ? [-Infinity, '', ''] : [after.due, toText(after.id), toText(after.key)]
      const rows = this.#file.sql('select * from timers where (due, id, key) > (?, ?, ?) and due <= ? order by due, id, key limit ?')
      return rows.all(...(start as [number, string, string]), until, most).map((row) => {
        const { id, key, due } = checked('timers', row, () => `${String(row['id'])} ${String(row['key'])}`) as unknown as DueTimer
        return { id: fromText(id), key: fromText(key), due }
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
    const problem = unfitName('scope', scope)
    if (problem !== undefined) throw new RangeError(problem)
    try {
      await this.#during(() => this.#file.request({ type: 'raiseEpoch', scope: toText(scope), epoch, holder: this.#holder }))
    } catch (cause) {
      if (cause instanceof RequestFailed && cause.failure.type === 'fence-lost') throw new FenceLost(scope, epoch, cause.failure.epoch!)
      throw this.#file.errorOf(cause)
    }
  }
  epoch(scope: string): Promise<number> {
    return this.#read(() => {
      const row = this.#file.sql('select * from epochs where scope = ?').get(toText(scope))
      return row === undefined ? 0 : (checked('epochs', row, () => scope)['epoch'] as number)
    })
  }

  ids(query: Parameters<Journal['ids']>[0]): Promise<readonly ListedId[]> {
    return this.#read(() => listIds(this.#file, query))
  }
  stats(): Promise<JournalStats> {
    return this.#read(() => {
      const row = this.#file.sql('select * from journal_state where one = 1').get() ?? {}
      const { ids, events, snapshots } = checked('journal_state', row, () => 'the journal') as unknown as Omit<JournalStats, 'bytes'>
      const [pages, size] = ['page_count', 'page_size'].map((name) => this.#file.sql(`pragma ${name}`).get()![name] as number) as [number, number]
      return { ids, events, snapshots, bytes: pages * size }
    })
  }
  async verify(signal?: AbortSignal): Promise<Verified> {
    return this.#during(async () => {
      const { ids, events, snapshots, damages } = (await this.#file.task({ type: 'verify' }, signal)) as VerifiedRows
      const all = [...damages]
      for await (const where of this.#keys.damaged())
        if (all.length < 1000) all.push({ where, id: undefined, seq: undefined, problem: 'it is not a key' })
      return { ids, events, snapshots, damages: all }
    })
  }
  async *records(signal?: AbortSignal): AsyncGenerator<readonly JournalRecord[]> {
    const parts = recordsOf(this.#file, this.#keys, signal)
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
    this.#notifications.close()
    this.#file.warningListeners.delete(this.#onWarning)
    await Promise.allSettled(this.#pending)
    await this.#file.leave()
  }
}

/** Why a write can never be stored. */
function unfitFor(write: Write): string | undefined {
  let problem = unfitName('id', write.id) ?? unfitName('scope', write.scope)
  for (const { key } of write.timers) problem ??= unfitName('timer', key)
  if (write.write === 'run') for (const tag of tagsOf(write.events)) problem ??= unfitName('tag', tag)
  return problem ?? (isWellFormed(write.id) ? undefined : `The id ${JSON.stringify(write.id)} is not well-formed text.`)
}

function rowOf(write: Write): WriteRow {
  const { scope, epoch } = write
  const id = toText(write.id)
  // Of two changes of one timer the later holds.
  const timers = write.timers.length === 0 ? undefined : { timers: [...new Map(write.timers.map(({ key, due }) => [toText(key), due ?? null]))] }
  if (write.write === 'state') {
    const { expected, revision, version, data, subject, time } = write
    return {
      scope: toText(scope),
      epoch,
      state: { id, expected, revision, version, data: optional(data), subject: optional(subject), time },
      ...timers,
    }
  }
  const { head, data } = writeRun(write.events)
  const tags = tagsOf(write.events)
  const run = { id, first: write.first, last: write.first + write.events.length - 1, head, data }
  return { scope: toText(scope), epoch, run: tags.size === 0 ? run : { ...run, tags: [...tags].map(toText) }, ...timers }
}
