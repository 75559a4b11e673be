// How evenly actors share the messages, as Jain's index over those that had turns lately. Every sixteenth stretch of 1,024
// turns is looked at, turn by turn; the last two such stretches count. Actors are known by their uid, so that none is kept.

const stretch = 1024
const apart = 16 * stretch

/** What the index is made from; those of several dispatchers add up. */
export interface Shares {
  readonly actors: number
  readonly sum: number
  readonly squares: number
}

export class Fairness {
  #now = new Map<number, number>()
  #before = new Map<number, number>()
  #since = 0
  /** How many of the turns that follow turn number `turn` are to be told. */
  room(turn: number): number {
    if (turn - this.#since >= apart) {
      this.#since = turn
      this.#before = this.#now
      this.#now = new Map()
    }
    return this.#since + stretch - turn
  }
  add(uid: number, messages: number): void {
    this.#now.set(uid, (this.#now.get(uid) ?? 0) + messages)
  }
  get shares(): Shares {
    const all = new Map(this.#before)
    for (const [uid, messages] of this.#now) all.set(uid, (all.get(uid) ?? 0) + messages)
    let sum = 0
    let squares = 0
    for (const messages of all.values()) {
      sum += messages
      squares += messages * messages
    }
    return { actors: all.size, sum, squares }
  }
}

/** From 1/n, where one of n took everything, to 1, where all took alike; 1 before anything happened. */
export function fairnessOf({ actors, sum, squares }: Shares): number {
  return squares === 0 ? 1 : (sum * sum) / (actors * squares)
}
