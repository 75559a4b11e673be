// What is known of all actors, put together from surveys: one row of numbers each, in columns, so that a hundred thousand cost neither
// objects nor a pass over all of them when little has changed. What was not heard again is as it was; what is gone is gone.

import { phaseNames, type PlacedSurvey } from '@troupe/core/internal'

/** What is known of one actor. */
export interface SeenActor {
  readonly uid: number
  readonly parent: number
  readonly phase: (typeof phaseNames)[number]
  readonly incarnation: number
  readonly queued: number
  readonly stashed: number
  readonly timers: number
  readonly processed: number
  readonly busy: number
  readonly turns: number
  /** When the handler began that is pending; undefined where none is. */
  readonly pendingSince: number | undefined
  /** -1 for the thread that made the system. */
  readonly thread: number
}

const doubles = [
  'uid',
  'parent',
  'processed',
  'busy',
  'turns',
  'pendingSince',
  'firstSeen',
  'seen',
  'growsSince',
  'stashSince',
  'growsBusy',
  'growsDone',
] as const
const wholes = ['queued', 'waiting', 'stashed', 'timers', 'incarnation', 'growsFrom', 'growsMost', 'place'] as const
const bytes = ['phase'] as const
type Column = (typeof doubles | typeof wholes | typeof bytes)[number]
type Columns = Record<Column, Float64Array | Uint32Array | Uint8Array>

function columnsOf(length: number, from?: Columns): Columns {
  const columns: Partial<Columns> = {}
  const make = (names: readonly Column[], Kind: new (length: number) => Float64Array | Uint32Array | Uint8Array): void => {
    for (const name of names) {
      const column = new Kind(length)
      if (from !== undefined) column.set(from[name])
      columns[name] = column
    }
  }
  make(doubles, Float64Array)
  make(wholes, Uint32Array)
  make(bytes, Uint8Array)
  return columns as Columns
}

export class Picture {
  /** The time of the last survey that is in it. */
  at = 0
  #columns = columnsOf(256)
  #capacity = 256
  #used = 0
  readonly #free: number[] = []
  readonly #index = new Map<number, number>()
  readonly #threads = new Map<number, number>()
  /** How many children each has. */
  readonly children: Map<number, number> = new Map()

  get size(): number {
    return this.#index.size
  }
  /** Messages in all mailboxes. */
  get queued(): number {
    let all = 0
    const { queued, waiting } = this.#columns
    for (const index of this.#index.values()) all += queued[index]! + waiting[index]!
    return all
  }
  get uids(): Iterable<number> {
    return this.#index.keys()
  }
  has(uid: number): boolean {
    return this.#index.has(uid)
  }
  /** One number of an actor that is known. */
  get(uid: number, column: Column): number {
    const at = this.#index.get(uid)
    return at === undefined ? NaN : this.#columns[column][at]!
  }
  /** Written into what is given, where something is: of a hundred thousand none need be made each round. */
  actor(uid: number, into?: SeenActor): SeenActor | undefined {
    const at = this.#index.get(uid)
    if (at === undefined) return undefined
    const c = this.#columns
    const since = c.pendingSince[at]!
    if (into !== undefined) {
      const old = into as { -readonly [K in keyof SeenActor]: SeenActor[K] }
      old.parent = c.parent[at]!
      old.phase = phaseNames[c.phase[at]!]!
      old.incarnation = c.incarnation[at]!
      old.queued = c.queued[at]! + c.waiting[at]!
      old.stashed = c.stashed[at]!
      old.timers = c.timers[at]!
      old.processed = c.processed[at]!
      old.busy = c.busy[at]!
      old.turns = c.turns[at]!
      old.pendingSince = since === since ? since : undefined
      old.thread = this.#threads.get(c.place[at]!) ?? -1
      return old
    }
    return {
      uid,
      parent: c.parent[at]!,
      phase: phaseNames[c.phase[at]!]!,
      incarnation: c.incarnation[at]!,
      queued: c.queued[at]! + c.waiting[at]!,
      stashed: c.stashed[at]!,
      timers: c.timers[at]!,
      processed: c.processed[at]!,
      busy: c.busy[at]!,
      turns: c.turns[at]!,
      pendingSince: Number.isNaN(since) ? undefined : since,
      thread: this.#threads.get(c.place[at]!) ?? -1,
    }
  }

  /** Takes surveys in; returns those that something was said of, each once. */
  take(at: number, parts: readonly PlacedSurvey[], silent: readonly number[] = []): Set<number> {
    this.at = at
    const told = new Set<number>()
    for (const part of parts) {
      this.#threads.set(part.place, part.thread)
      for (const uid of part.gone) this.#forget(uid, part.place)
      for (let row = 0; row < part.rows.length; row++) told.add(this.#put(part, row, at))
      if (part.whole) this.#drop((index, place) => place === part.place && this.#columns.seen[index] !== at)
    }
    // A thread that has ended took its actors along; one that is only silent has not.
    const places = new Set(parts.map((part) => part.place))
    for (const [place, thread] of this.#threads)
      if (!places.has(place) && !silent.includes(thread)) {
        this.#drop((_index, of) => of === place)
        this.#threads.delete(place)
      }
    return told
  }

  #put({ rows, place }: PlacedSurvey, row: number, at: number): number {
    const uid = rows.uid[row]!
    let index = this.#index.get(uid)
    const c = index === undefined ? this.#room() : this.#columns
    if (index === undefined) {
      index = this.#free.pop() ?? this.#used++
      this.#index.set(uid, index)
      for (const name of [...doubles, ...wholes, ...bytes]) c[name][index] = 0
      const parent = rows.parent[row]!
      c.uid[index] = uid
      c.parent[index] = parent
      c.firstSeen[index] = c.growsSince[index] = c.stashSince[index] = at
      c.pendingSince[index] = NaN
      c.place[index] = place
      this.children.set(parent, (this.children.get(parent) ?? 0) + 1)
    }
    c.seen[index] = at
    // What stands here for one of another thread tells only of what waits to go there.
    if (rows.stub[row] === 1) {
      c.waiting[index] = rows.queued[row]!
      this.#follow(c, index, at)
      return uid
    }
    if (c.place[index] !== place) {
      c.place[index] = place
      c.processed[index] = c.busy[index] = c.growsBusy[index] = c.growsDone[index] = 0
    }
    if (c.stashed[index] !== rows.stashed[row]!) c.stashSince[index] = at
    c.processed[index] = rows.processed[row]!
    c.busy[index] = rows.busy[row]!
    c.turns[index] = rows.turns[row]!
    c.pendingSince[index] = at - rows.pending[row]!
    c.stashed[index] = rows.stashed[row]!
    c.timers[index] = rows.timers[row]!
    c.incarnation[index] = rows.incarnation[row]!
    c.phase[index] = rows.phase[row]!
    c.queued[index] = rows.queued[row]!
    this.#follow(c, index, at)
    return uid
  }

  /** Since when, and from where, a mailbox has not become shorter. A twentieth less is not shorter: it is how messages come and go. */
  #follow(c: Columns, index: number, at: number): void {
    const queued = c.queued[index]! + c.waiting[index]!
    const most = c.growsMost[index]!
    // What was there when it was first seen has not grown while somebody looked.
    if (queued === 0 || queued < most * 0.95 || (c.firstSeen[index] === at && most === 0)) {
      c.growsSince[index] = at
      c.growsFrom[index] = queued
      c.growsBusy[index] = c.busy[index]!
      c.growsDone[index] = c.processed[index]!
      c.growsMost[index] = queued
    } else if (queued > most) c.growsMost[index] = queued
  }

  #room(): Columns {
    if (this.#free.length === 0 && this.#used === this.#capacity) {
      this.#capacity *= 2
      this.#columns = columnsOf(this.#capacity, this.#columns)
    }
    return this.#columns
  }

  #forget(uid: number, place: number): void {
    const index = this.#index.get(uid)
    // What ends on a thread may live on here: a stub whose actor is to come back.
    if (index === undefined || (this.#columns.place[index] !== place && place !== 0)) return
    this.#remove(uid, index)
  }
  #remove(uid: number, index: number): void {
    this.#index.delete(uid)
    this.#free.push(index)
    const parent = this.#columns.parent[index]!
    const left = (this.children.get(parent) ?? 1) - 1
    if (left === 0) this.children.delete(parent)
    else this.children.set(parent, left)
  }
  #drop(is: (index: number, place: number) => boolean): void {
    for (const [uid, index] of this.#index) if (is(index, this.#columns.place[index]!)) this.#remove(uid, index)
  }
}
