// What is known of all actors, put together from surveys: one row of numbers each, in columns, so that a hundred thousand cost neither
// objects nor a pass over all of them when little has changed. What was not heard again is as it was; what is gone is gone.
// A row keeps its place for as long as its actor is known, and surveys tell of actors in nearly the same order each time: so the next
// one is nearly always in the next row, and is looked for only where it is not.

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

const filled = <C extends Float64Array | Uint32Array | Uint8Array>(column: C, from: C | undefined): C => {
  if (from !== undefined) column.set(from)
  return column
}

/** One number of each actor under its row. Fields by name, each always of one sort: what is put together by a loop is looked up by hash ever after. */
export class Columns {
  readonly uid: Float64Array
  readonly parent: Float64Array
  readonly processed: Float64Array
  readonly busy: Float64Array
  readonly turns: Float64Array
  readonly pendingSince: Float64Array
  readonly firstSeen: Float64Array
  readonly growsSince: Float64Array
  readonly stashSince: Float64Array
  readonly growsBusy: Float64Array
  readonly growsDone: Float64Array
  readonly queued: Uint32Array
  readonly waiting: Uint32Array
  readonly stashed: Uint32Array
  readonly timers: Uint32Array
  readonly incarnation: Uint32Array
  readonly growsFrom: Uint32Array
  readonly growsMost: Uint32Array
  readonly place: Uint32Array
  readonly round: Uint32Array
  readonly phase: Uint8Array
  constructor(length: number, from?: Columns) {
    this.uid = filled(new Float64Array(length), from?.uid)
    this.parent = filled(new Float64Array(length), from?.parent)
    this.processed = filled(new Float64Array(length), from?.processed)
    this.busy = filled(new Float64Array(length), from?.busy)
    this.turns = filled(new Float64Array(length), from?.turns)
    this.pendingSince = filled(new Float64Array(length), from?.pendingSince)
    this.firstSeen = filled(new Float64Array(length), from?.firstSeen)
    this.growsSince = filled(new Float64Array(length), from?.growsSince)
    this.stashSince = filled(new Float64Array(length), from?.stashSince)
    this.growsBusy = filled(new Float64Array(length), from?.growsBusy)
    this.growsDone = filled(new Float64Array(length), from?.growsDone)
    this.queued = filled(new Uint32Array(length), from?.queued)
    this.waiting = filled(new Uint32Array(length), from?.waiting)
    this.stashed = filled(new Uint32Array(length), from?.stashed)
    this.timers = filled(new Uint32Array(length), from?.timers)
    this.incarnation = filled(new Uint32Array(length), from?.incarnation)
    this.growsFrom = filled(new Uint32Array(length), from?.growsFrom)
    this.growsMost = filled(new Uint32Array(length), from?.growsMost)
    this.place = filled(new Uint32Array(length), from?.place)
    this.round = filled(new Uint32Array(length), from?.round)
    this.phase = filled(new Uint8Array(length), from?.phase)
  }
  /** Nothing is known of whoever stands there. */
  clear(row: number): void {
    for (const column of Object.values(this) as Float64Array[]) column[row] = 0
  }
}

export type Column = Exclude<keyof Columns, 'clear'>

export class Picture {
  /** The time of the last survey that is in it. */
  at = 0
  /** How many surveys are in it: rows of the last one have this number as their `round`. */
  round = 0
  /** Rows up to here are or were somebody's; the `uid` of those that are nobody's is 0. */
  used = 0
  /** Rows that the last surveys told of, each once. */
  told: Uint32Array = new Uint32Array(0)
  #columns = new Columns(256)
  #capacity = 256
  #toldRoom = new Uint32Array(256)
  #toldCount = 0
  readonly #free: number[] = []
  readonly #index = new Map<number, number>()
  readonly #threads = new Map<number, number>()
  /** How many children each has. */
  readonly children: Map<number, number> = new Map()

  get size(): number {
    return this.#index.size
  }
  /** They are others when there are more actors: not to be kept from one survey to the next. */
  get columns(): Readonly<Columns> {
    return this.#columns
  }
  /** Messages in all mailboxes. */
  get queued(): number {
    let all = 0
    const { queued, waiting, uid } = this.#columns
    for (let row = 0; row < this.used; row++) if (uid[row] !== 0) all += queued[row]! + waiting[row]!
    return all
  }
  get uids(): Iterable<number> {
    return this.#index.keys()
  }
  has(uid: number): boolean {
    return this.#index.has(uid)
  }
  rowOf(uid: number): number | undefined {
    return this.#index.get(uid)
  }
  /** One number of an actor that is known. */
  get(uid: number, column: Column): number {
    const row = this.#index.get(uid)
    return row === undefined ? NaN : this.#columns[column][row]!
  }
  /** Those that surveys came from. */
  get threads(): Iterable<number> {
    return this.#threads.values()
  }
  threadOf(row: number): number {
    return this.#threads.get(this.#columns.place[row]!) ?? -1
  }
  actor(uid: number): SeenActor | undefined {
    const row = this.#index.get(uid)
    return row === undefined ? undefined : this.actorIn(row)
  }
  actorIn(row: number): SeenActor {
    const c = this.#columns
    const since = c.pendingSince[row]!
    return {
      uid: c.uid[row]!,
      parent: c.parent[row]!,
      phase: phaseNames[c.phase[row]!]!,
      incarnation: c.incarnation[row]!,
      queued: c.queued[row]! + c.waiting[row]!,
      stashed: c.stashed[row]!,
      timers: c.timers[row]!,
      processed: c.processed[row]!,
      busy: c.busy[row]!,
      turns: c.turns[row]!,
      pendingSince: Number.isNaN(since) ? undefined : since,
      thread: this.threadOf(row),
    }
  }

  /** Takes surveys in; returns the rows that something was said of, each once. */
  take(at: number, parts: readonly PlacedSurvey[], silent: readonly number[] = []): Uint32Array {
    this.at = at
    this.round++
    this.#toldCount = 0
    for (const part of parts) {
      this.#threads.set(part.place, part.thread)
      for (const uid of part.gone) this.#forget(uid, part.place)
      this.#takePart(part, at)
      if (part.whole) this.#drop((row, place) => place === part.place && this.#columns.round[row] !== this.round)
    }
    // A thread that has ended took its actors along; one that is only silent has not.
    const places = new Set(parts.map((part) => part.place))
    for (const [place, thread] of this.#threads)
      if (!places.has(place) && !silent.includes(thread)) {
        this.#drop((_row, of) => of === place)
        this.#threads.delete(place)
      }
    return (this.told = this.#toldRoom.subarray(0, this.#toldCount))
  }

  #takePart({ rows, place }: PlacedSurvey, at: number): void {
    let next = 0
    for (let i = 0; i < rows.length; i++) next = this.#put(rows, i, next, place, at) + 1
  }

  /** Returns the row it went to; `guess` is where it probably is. */
  #put(rows: PlacedSurvey['rows'], i: number, guess: number, place: number, at: number): number {
    const uid = rows.uid[i]!
    const row = guess < this.used && this.#columns.uid[guess] === uid ? guess : (this.#index.get(uid) ?? this.#begin(uid, rows.parent[i]!, place, at))
    const c = this.#columns
    if (c.round[row] !== this.round) {
      c.round[row] = this.round
      this.#tell(row)
    }
    // What stands here for one of another thread tells only of what waits to go there.
    if (rows.stub[i] === 1) c.waiting[row] = rows.queued[i]!
    else {
      if (c.place[row] !== place) {
        c.place[row] = place
        c.processed[row] = c.busy[row] = c.growsBusy[row] = c.growsDone[row] = 0
      }
      if (c.stashed[row] !== rows.stashed[i]!) {
        c.stashSince[row] = at
        c.stashed[row] = rows.stashed[i]!
      }
      c.processed[row] = rows.processed[i]!
      c.busy[row] = rows.busy[i]!
      c.turns[row] = rows.turns[i]!
      c.pendingSince[row] = at - rows.pending[i]!
      c.timers[row] = rows.timers[i]!
      c.incarnation[row] = rows.incarnation[i]!
      c.phase[row] = rows.phase[i]!
      c.queued[row] = rows.queued[i]!
    }
    follow(c, row, at)
    return row
  }

  #tell(row: number): void {
    if (this.#toldCount === this.#toldRoom.length) {
      const more = new Uint32Array(this.#toldCount * 2)
      more.set(this.#toldRoom)
      this.#toldRoom = more
    }
    this.#toldRoom[this.#toldCount++] = row
  }

  #begin(uid: number, parent: number, place: number, at: number): number {
    if (this.#free.length === 0 && this.used === this.#capacity) {
      this.#capacity *= 2
      this.#columns = new Columns(this.#capacity, this.#columns)
    }
    const c = this.#columns
    const row = this.#free.pop() ?? this.used++
    this.#index.set(uid, row)
    c.clear(row)
    c.uid[row] = uid
    c.parent[row] = parent
    c.firstSeen[row] = c.growsSince[row] = c.stashSince[row] = at
    c.pendingSince[row] = NaN
    c.place[row] = place
    this.children.set(parent, (this.children.get(parent) ?? 0) + 1)
    return row
  }

  #forget(uid: number, place: number): void {
    const row = this.#index.get(uid)
    // What ends on a thread may live on here: a stub whose actor is to come back.
    if (row === undefined || (this.#columns.place[row] !== place && place !== 0)) return
    this.#remove(uid, row)
  }
  #remove(uid: number, row: number): void {
    this.#index.delete(uid)
    this.#free.push(row)
    const parent = this.#columns.parent[row]!
    this.#columns.uid[row] = 0
    const left = (this.children.get(parent) ?? 1) - 1
    if (left === 0) this.children.delete(parent)
    else this.children.set(parent, left)
  }
  #drop(is: (row: number, place: number) => boolean): void {
    const { uid, place } = this.#columns
    for (let row = 0; row < this.used; row++) if (uid[row] !== 0 && is(row, place[row]!)) this.#remove(uid[row]!, row)
  }
}

/** Since when, and from where, a mailbox has not become shorter. A twentieth less is not shorter: it is how messages come and go. */
function follow(c: Columns, row: number, at: number): void {
  const queued = c.queued[row]! + c.waiting[row]!
  const most = c.growsMost[row]!
  // What was there when it was first seen has not grown while somebody looked.
  if (queued === 0 || queued < most * 0.95 || (c.firstSeen[row] === at && most === 0)) {
    c.growsSince[row] = at
    c.growsFrom[row] = queued
    c.growsBusy[row] = c.busy[row]!
    c.growsDone[row] = c.processed[row]!
    c.growsMost[row] = queued
  } else if (queued > most) c.growsMost[row] = queued
}
