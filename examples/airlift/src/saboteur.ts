// A game: one drone of all begins to hold the thread, sixty seconds are given to find it by what the observer says, and to have it killed.

import type { OneProcess } from './one-process.ts'

/** Milliseconds to find it. */
const given = 60_000

export interface Game {
  readonly phase: 'none' | 'hidden' | 'found' | 'escaped'
  /** Milliseconds left, or that it took. */
  readonly ms: number
  /** Who it was, once it is over. */
  readonly who: string | undefined
  /** Innocent ones that were killed. */
  readonly wrong: number
}

/** Nobody is hidden, and nobody was. */
export const noGame: Game = { phase: 'none', ms: 0, who: undefined, wrong: 0 }

export class Saboteur {
  readonly #airlift: OneProcess
  #hunt: { readonly drone: number; readonly since: number; readonly timer: NodeJS.Timeout } | undefined
  #over: Pick<Game, 'phase' | 'ms' | 'who'> = { phase: 'none', ms: 0, who: undefined }
  #wrong = 0

  constructor(airlift: OneProcess) {
    this.#airlift = airlift
  }

  get game(): Game {
    if (this.#hunt === undefined) return { ...this.#over, wrong: this.#wrong }
    return { phase: 'hidden', ms: Math.max(0, given - (performance.now() - this.#hunt.since)), who: undefined, wrong: this.#wrong }
  }

  /** One of the drones, by the seed; nothing while one is hidden. */
  hide(): void {
    if (this.#hunt !== undefined) return
    const drone = this.#airlift.pickDrone()
    this.#wrong = 0
    const since = performance.now()
    // Told again and again: a saboteur that a storm threw down goes on when it is up.
    const timer = setInterval(() => {
      if (performance.now() - since < given) this.#airlift.sabotage(drone)
      else this.#end('escaped')
    }, 1000).unref()
    this.#airlift.sabotage(drone)
    this.#hunt = { drone, since, timer }
    this.#airlift.say('a saboteur hides among the drones; the observer sees who holds the loop')
  }

  /** Kills whoever is accused; says whether that was the one. */
  accuse(path: string): boolean {
    if (this.#hunt === undefined) return false
    if (path !== this.#airlift.pathOf(this.#hunt.drone)) {
      if (this.#airlift.kill(path)) this.#wrong++
      return false
    }
    this.#end('found')
    return true
  }

  #end(phase: 'found' | 'escaped'): void {
    const { drone, since, timer } = this.#hunt!
    clearInterval(timer)
    this.#hunt = undefined
    const who = this.#airlift.pathOf(drone)
    this.#over = { phase, ms: performance.now() - since, who }
    this.#airlift.kill(who)
    this.#airlift.say(
      phase === 'found'
        ? `the saboteur was ${who}; it is killed, and its supervisor makes another`
        : `the saboteur was ${who}; it got away with it for a minute`,
    )
  }
}
