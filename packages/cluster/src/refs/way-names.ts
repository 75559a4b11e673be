// What sessions are called on the way to one of them. 0 is the sender, 1 the receiver, 2 any session that has ended; from 3 on each side has
// its own numbers, and explains each before it uses it (control record `named`).

import { BadRecord, type Names } from '@troupe/border'
import { goneBy, here, type Places } from './places.ts'

const mine = 0
const yours = 1
const ended = 2
/** Added to the own number of a third session. */
const shift = 1

export class WayNames implements Names {
  readonly #places: Places
  readonly #peer: number
  /** What the other side's numbers mean here. */
  readonly #told = new Map<number, number>()
  #greatest = ended

  constructor(places: Places, peer: number) {
    this.#places = places
    this.#peer = peer
  }

  /** How a third session is called by this side. */
  static of(place: number): number {
    return place + shift
  }

  /** The other side has explained a number. */
  named(told: number, place: number): void {
    if (told <= ended) throw new BadRecord(`${told} cannot be the number of a session`)
    this.#greatest = Math.max(this.#greatest, told)
    this.#told.set(told, place)
  }

  /** A session has ended: what was its number means nobody. */
  forget(place: number): void {
    for (const [told, meant] of this.#told) if (meant === place) this.#told.delete(told)
  }

  placeOut(place: number): number {
    if (place === here) return mine
    if (place === this.#peer) return yours
    return this.#places.isGone(place) ? ended : WayNames.of(place)
  }

  placeIn(told: number): number {
    if (told === mine) return this.#peer
    if (told === yours) return here
    if (told === ended) return goneBy
    const place = this.#told.get(told)
    if (place !== undefined) return place
    if (told > this.#greatest) throw new BadRecord(`nobody has said which session ${told} is`)
    return goneBy
  }

  pathOut(path: string): string {
    return `//${this.#places.self.node}${path}`
  }
}
