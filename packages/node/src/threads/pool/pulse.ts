// The pulse of a thread: shows that it lives, how often, and for how long it may be silent before it counts as hung. That is the
// `hangAfter` of the actor whose turn it is, its own or that of the nearest above it that has one; between turns, where code goes
// on after an `await` and nobody can tell whose it is, the longest on this thread. By ports it is always the longest, for turns
// cannot be shown. What others do about silence is theirs (watchdog).
//
// Whenever the time that is shown changes, the thread has shown that it lives first: what one actor has used up is not another's.

import { type Cell, type LocalRef, typeOf } from '@troupe/core/internal'
import { HostedCell, type Loop } from '@troupe/border'
import type { Signs } from '../wire/signs.ts'

export interface PulseSettings {
  /** Milliseconds that hold for actors without their own. */
  readonly hangAfter: number
  /** Whether the thread is of one actor and those below it: then that one's time is the thread's. */
  readonly pinned: boolean
  /** Whether turns can be shown. */
  readonly byTurns: boolean
  readonly loop: Loop
  readonly now: () => number
}

export class Pulse {
  readonly #signs: Signs
  readonly #usual: number
  readonly #pinned: boolean
  readonly #byTurns: boolean
  /** Actors of this thread with a time of their own. */
  readonly #own = new Map<Cell, number>()
  #longest: number
  #shown: number
  #every: number
  #beatAt = 0
  /** Ends the beating; undefined before it has begun. */
  #end: (() => void) | undefined = undefined
  readonly #loop: Loop
  readonly #now: () => number
  #onBeat = (): void => {}

  constructor(signs: Signs, settings: PulseSettings) {
    this.#signs = signs
    this.#usual = settings.hangAfter
    this.#pinned = settings.pinned
    this.#byTurns = settings.byTurns
    this.#loop = settings.loop
    this.#now = settings.now
    this.#longest = this.#shown = this.#usual
    this.#every = beatEvery(this.#usual)
  }

  /** Begins to beat; `onBeat` is called each time. Keeps no process alive. */
  start(onBeat: () => void): void {
    this.#onBeat = onBeat
    this.#signs.alive()
    this.#arm()
  }
  #arm(): void {
    this.#end?.()
    this.#end = this.#loop.every(this.#every, () => {
      this.#beat()
      this.#onBeat()
    })
  }
  #beat(): void {
    this.#beatAt = this.#now()
    this.#signs.alive()
  }

  /** Whose turn it is, from now on. */
  turn(cell: Cell): void {
    this.#signs.turn(cell.ref.uid, hostedAbove(cell.ref))
    if (cell.options.hangAfter !== undefined && !this.#own.has(cell)) this.#changed(cell, this.#timeOf(cell))
    if (this.#byTurns && this.#own.size > 0) this.#show(this.#limitOf(cell))
  }
  /** It is nobody's turn any more. */
  between(): void {
    if (this.#own.size > 0) this.#show(this.#longest)
  }
  /** An actor of this thread has ended. */
  left(cell: Cell): void {
    if (this.#own.has(cell)) this.#changed(cell, undefined)
  }
  /** An actor at work has let others have their turn, and goes on. */
  breath(cell: Cell): void {
    const message = cell.ctx?.message
    this.#signs.turn(cell.ref.uid, hostedAbove(cell.ref))
    if (message !== undefined) this.#signs.message(typeOf(message))
    // It is named, but it is not its turn.
    this.#signs.idle()
    // Not at each: by ports a beat is a note that somebody has to read.
    if (this.#now() - this.#beatAt >= this.#every / 2) this.#beat()
  }

  #changed(cell: Cell, time: number | undefined): void {
    if (time === undefined) this.#own.delete(cell)
    else this.#own.set(cell, time)
    const times = [...this.#own.values()]
    const alone = this.#pinned && [...this.#own.keys()].some((own) => own instanceof HostedCell)
    this.#longest = Math.max(alone ? 0 : this.#usual, ...times)
    this.#show(this.#longest)
    const every = beatEvery(Math.min(this.#usual, ...times))
    if (every === this.#every) return
    this.#every = every
    if (this.#end !== undefined) this.#arm()
  }
  #show(ms: number): void {
    if (ms === this.#shown) return
    this.#shown = ms
    this.#beat()
    this.#signs.patience(ms)
  }

  #limitOf(cell: Cell): number {
    for (let at: LocalRef | undefined = cell.ref; at !== undefined; at = at.parent) {
      const time = this.#own.get(at.cell)
      if (time !== undefined) return time
      if (at.cell instanceof HostedCell) break
    }
    return this.#usual
  }
  #timeOf({ options }: Cell): number {
    return options.hangAfter === false ? Infinity : options.hangAfter!
  }
}

/** Often enough that a single late beat does no harm. */
export function beatEvery(hangAfter: number): number {
  return Math.max(5, Math.min(500, hangAfter / 8))
}

/** The actor, or the one next above it, that the thread of its parent knows. */
function hostedAbove(ref: LocalRef): number {
  let at: LocalRef | undefined = ref
  while (at !== undefined && !(at.cell instanceof HostedCell)) at = at.parent
  return at?.uid ?? ref.uid
}
