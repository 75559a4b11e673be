// A look at all actors, or at those that something happened to since the last look, as columns of numbers: a tree of objects costs ten
// times as much and is mostly what was known before. Made in portions of a millisecond, so that nobody waits for whoever looks. An actor
// that is spawned while it goes on may be missing; it has its first turn by then, and is in the next one.

import type { Cell } from '../cell/turn/cell.ts'
import type { Dispatcher } from '../cell/turn/dispatcher.ts'
import { Stirred, type Taken, type TurnCount } from '../cell/turn/stirred.ts'
import { TurnWatch } from '../cell/turn/turn-watch.ts'
import { kindOfActor, labelOfActor } from './kind.ts'
import { type MarkOf, type Wait, waitsOf } from './waits.ts'
import { type Rows, RowWriter } from './survey-rows.ts'
import type { SystemCore } from './core.ts'

/** What a look found, on one thread. */
export interface Survey {
  /** Milliseconds of the system's clock when it began. */
  readonly at: number
  /** To be given as `since` the next time. */
  readonly epoch: number
  /** Whether all actors are in it, or only those that something happened to. */
  readonly whole: boolean
  readonly rows: Rows
  /** The uids of those that have ended since. */
  readonly gone: Float64Array
  /** The questions under way at those that are in it. */
  readonly waits: readonly Wait[]
  /** How many there were beyond those. */
  readonly waitsLeftOut: number
  /** Milliseconds that it took of the thread's time. */
  readonly spent: number
}

/** What an actor is called, and what it is. */
export interface ActorName {
  readonly uid: number
  readonly path: string
  readonly kind: string
  readonly label: string | undefined
}

/** What sort of actor each is, under one index; and milliseconds that it took to ask. */
export interface ActorKinds {
  readonly uids: readonly number[]
  readonly kinds: readonly string[]
  readonly spent: number
}

/** Milliseconds of one portion, and actors between two looks at the clock. */
const portion = 1
const stride = 256
/** Characters of a label that are told. */
const longestLabel = 200
/** Whoever has so many messages waiting is followed closely, however many others have turns. */
const behindFrom = 16
/** Questions that one survey tells of. */
const waitsMost = 5000

/** Who of those that look at a system may write at its actors: one, for what two wrote could not be told apart. */
const writers = new WeakMap<SystemCore, Stirred>()

/** Those from which everything that runs here can be reached. */
export type Roots = () => Iterable<Cell>

/** Looks at the actors of one thread. Until `arm`, and after `disarm`, nothing is counted, and each survey is whole. */
export class Surveyor {
  readonly #core: SystemCore
  readonly #roots: Roots
  readonly #markOf: MarkOf | undefined
  #stirred: Stirred | undefined
  readonly #watches = new Map<Dispatcher, TurnWatch>()
  /** Those about whom something may change without a turn of theirs: messages wait, questions are open, a phase is to end. */
  #restless: readonly Cell[] = []
  #epoch = 0
  /** How many were in the last one that was of all. */
  #rows = 0

  constructor(core: SystemCore, roots: Roots = () => [core.guardian], markOf?: MarkOf) {
    this.#core = core
    this.#roots = roots
    this.#markOf = markOf
  }

  get armed(): boolean {
    return this.#stirred !== undefined
  }

  /** Counts turns, messages and time from now on. */
  arm(): void {
    if (this.#stirred === undefined) {
      const writes = !writers.has(this.#core)
      this.#core.stirred = this.#stirred = new Stirred(writes)
      if (writes) writers.set(this.#core, this.#stirred)
    }
    this.#watchAll(this.#stirred)
  }

  /** Those that were added since, too. */
  #watchAll(stirred: Stirred): void {
    for (const dispatcher of this.#core.dispatchers.all) {
      if (this.#watches.has(dispatcher)) continue
      const watch = new TurnWatch(dispatcher, stirred)
      this.#watches.set(dispatcher, watch)
      watch.begin()
    }
  }

  /** Counts nothing any more, and forgets what was counted. */
  disarm(): void {
    if (this.#stirred === undefined) return
    if (writers.get(this.#core) === this.#stirred) writers.delete(this.#core)
    this.#stirred = this.#core.stirred = undefined
    this.#restless = []
    for (const watch of this.#watches.values()) watch.end()
    this.#watches.clear()
  }

  /** All actors, or where `since` is the epoch of the last survey, those that something may have happened to. */
  async survey(since?: number): Promise<Survey> {
    const core = this.#core
    const at = core.runtime.now()
    const taken = this.#stirred?.take()
    if (this.#stirred !== undefined) this.#watchAll(this.#stirred)
    // Where so many had turns that not all of them were written down, only a look at all finds them; and in the order of the tree it is quicker.
    const crowded = taken?.crowded === true
    const whole = taken === undefined || crowded || taken.overlooked || since !== this.#epoch
    const epoch = (this.#epoch = taken?.epoch ?? 0)
    const stirred = this.#stirred
    const writer = new RowWriter(whole ? this.#rows + 64 : undefined, stirred?.price)
    const waits: Wait[] = []
    let waitsLeftOut = 0
    const restless: Cell[] = []
    const visit = (cell: Cell): void => {
      if (whole) stirred?.meet(cell)
      else stirred?.gather(cell)
      if (writer.add(cell, stirred === undefined ? undefined : countOf(stirred, cell), at)) {
        restless.push(cell)
        if (crowded && writer.lastQueued >= behindFrom) stirred?.of(cell)
      } else if (crowded) stirred?.unfollow(cell)
      if (crowded) stirred?.plain.see(cell.ref.uid)
      const { extras } = cell
      if (extras === undefined || (extras.asked === undefined && extras.asking === undefined)) return
      const found = waitsOf(cell, at, this.#markOf)
      const room = Math.max(0, waitsMost - waits.length)
      waits.push(...found.slice(0, room))
      waitsLeftOut += Math.max(0, found.length - room)
    }
    const spent = whole ? await this.#each(this.#roots(), true, visit) : await this.#each(this.#stirring(taken), false, visit)
    if (whole) stirred?.met()
    this.#restless = taken === undefined ? [] : restless
    if (crowded) stirred?.plain.sweep()
    const gone = Float64Array.from(taken?.gone ?? [])
    const rows = writer.rows()
    if (whole) this.#rows = rows.length
    return { at, epoch, whole, rows, gone, waits, waitsLeftOut, spent }
  }

  /** Each once: the list of those that had a turn, and those that were restless before and had none. */
  #stirring({ list, touched }: Taken): Cell[] {
    const cells = new Set<Cell>(touched)
    for (const { cell } of list) cells.add(cell)
    for (const cell of this.#restless) cells.add(cell)
    return [...cells]
  }

  /** The questions that wait for an answer now, of all actors. */
  async waits(): Promise<Wait[]> {
    const waits: Wait[] = []
    const now = this.#core.runtime.now()
    await this.#each(this.#roots(), true, (cell) => {
      if (cell.extras !== undefined && waits.length < waitsMost) waits.push(...waitsOf(cell, now, this.#markOf))
    })
    return waits
  }

  /** What these actors are called; of all, if none are given. Where `above` is, only below those is looked: everybody who is above one of these. */
  async names(uids?: ReadonlySet<number>, above?: ReadonlySet<number>): Promise<ActorName[]> {
    const names: ActorName[] = []
    let left = uids?.size ?? Infinity
    await this.#each(this.#roots(), above ?? true, (cell) => {
      const { uid } = cell.ref
      if (uids?.has(uid) === false) return true
      names.push({
        uid,
        path: cell.ref.path,
        kind: kindOfActor(cell),
        // As it is when it is read: a name may be kept for long, and a label says what an actor is about now.
        get label() {
          return labelOfActor(cell)?.slice(0, longestLabel)
        },
      })
      return --left > 0
    })
    return names
  }

  /** What sort each of all is: for a hundred thousand that is much less than their names. */
  async kinds(): Promise<ActorKinds> {
    const uids: number[] = []
    const kinds: string[] = []
    const spent = await this.#each(this.#roots(), true, (cell) => {
      uids.push(cell.ref.uid)
      kinds.push(kindOfActor(cell))
    })
    return { uids, kinds, spent }
  }

  /** Visits cells that live, with those below them, or below such as are in `deep`, a portion at a time, until it returns false. Resolves with the time it took. */
  #each(from: Iterable<Cell>, deep: boolean | ReadonlySet<number>, visit: (cell: Cell) => boolean | void): Promise<number> {
    const { runtime } = this.#core
    const stack = [...from]
    let spent = 0
    return new Promise((resolve) => {
      const go = (): void => {
        const began = runtime.now()
        let left = stride
        for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
          if (cell.phase === 'terminated') continue
          if (visit(cell) === false) break
          // All at once: a sibling may be gone when its turn comes, and then its way to the next.
          if (deep === true || (deep !== false && deep.has(cell.ref.uid)))
            for (let child = cell.children?.last; child !== undefined; child = child.previous) stack.push(child)
          if (--left > 0) continue
          left = stride
          const passed = runtime.now() - began
          if (passed < portion || stack.length === 0) continue
          spent += passed
          return runtime.yield(go)
        }
        resolve(spent + runtime.now() - began)
      }
      go()
    })
  }
}

/** Its account, or how many messages it handled where it has none. */
function countOf(stirred: Stirred, cell: Cell): TurnCount | number | undefined {
  return stirred.plain.get(cell.ref.uid) ?? stirred.find(cell)
}
