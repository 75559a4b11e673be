// How many actors there are of each kind, and how much waits for them. What kind an actor is of is asked once and kept under its row; then it
// is a pass over numbers with each survey.

import type { ActorKinds, ActorName } from '@troupe/core/internal'
import type { Standing } from './standing.ts'

export interface Kindred {
  actors: number
  queued: number
}

/** Asks what few actors are called, and what sort each of all is. */
export interface Asked {
  names(uids: Iterable<number>): Promise<ReadonlyMap<number, ActorName>>
  kinds(): Promise<ActorKinds>
}

/** From so many on it is asked of all at once, and no names are made for it. */
const many = 256

export class Census {
  readonly #kinds: string[] = []
  readonly #numbers = new Map<string, number>()
  /** Whose the row was when it was asked, and the number of its kind. */
  #uid = new Float64Array(0)
  #kind = new Uint32Array(0)

  /** As of which survey it was counted last. */
  #version = NaN
  #counted: ReadonlyMap<string, Readonly<Kindred>> = new Map()

  /** By kind, of all that are known now. `spend` is told of each part of the work how many milliseconds it took. */
  async take({ picture, version }: Standing, asked: Asked, spend: (ms: number) => void): Promise<ReadonlyMap<string, Readonly<Kindred>>> {
    // Between two surveys nothing new is known of anybody.
    if (version === this.#version) return this.#counted
    const timed = <T>(work: () => T): T => {
      const began = performance.now()
      const result = work()
      spend(performance.now() - began)
      return result
    }
    const unknown = timed(() => this.#unknown(picture))
    if (unknown.length >= many) {
      const { uids, kinds, spent } = await asked.kinds()
      spend(spent)
      timed(() => uids.forEach((uid, i) => this.#note(picture, uid, kinds[i]!)))
    } else if (unknown.length > 0) for (const [uid, { kind }] of await asked.names(unknown)) this.#note(picture, uid, kind)
    this.#version = version
    return (this.#counted = timed(() => this.#count(picture)))
  }

  /** Those whose kind was not asked yet. */
  #unknown({ columns: { uid }, used }: Standing['picture']): number[] {
    if (this.#uid.length < uid.length) this.#grow(uid.length)
    const unknown: number[] = []
    for (let row = 0; row < used; row++) if (uid[row] !== 0 && uid[row] !== this.#uid[row]) unknown.push(uid[row]!)
    return unknown
  }
  #note(picture: Standing['picture'], uid: number, kind: string): void {
    const row = picture.rowOf(uid)
    if (row === undefined || row >= this.#uid.length) return
    this.#uid[row] = uid
    this.#kind[row] = this.#numberOf(kind)
  }

  clear(): void {
    this.#uid = new Float64Array(0)
    this.#kind = new Uint32Array(0)
    this.#version = NaN
  }

  #count({ columns: { uid, queued, waiting }, used }: Standing['picture']): ReadonlyMap<string, Kindred> {
    const all = this.#kinds.map((): Kindred => ({ actors: 0, queued: 0 }))
    for (let row = 0; row < Math.min(used, this.#uid.length); row++) {
      if (uid[row] === 0 || uid[row] !== this.#uid[row]) continue
      const kindred = all[this.#kind[row]!]!
      kindred.actors++
      kindred.queued += queued[row]! + waiting[row]!
    }
    return new Map(all.map((kindred, i) => [this.#kinds[i]!, kindred]))
  }
  #numberOf(kind: string): number {
    let number = this.#numbers.get(kind)
    if (number === undefined) {
      this.#numbers.set(kind, (number = this.#kinds.length))
      this.#kinds.push(kind)
    }
    return number
  }
  #grow(length: number): void {
    const [uid, kind] = [new Float64Array(length), new Uint32Array(length)]
    uid.set(this.#uid)
    kind.set(this.#kind)
    this.#uid = uid
    this.#kind = kind
  }
}
