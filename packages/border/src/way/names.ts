// What places and actors are called on one way. Threads of one system have the same numbers everywhere and need none of this. Machines each
// number the others by themselves: on the way between two, each says `mine`, `yours`, or a number that it has explained before.

import { homeOf, firstUid } from '../values/epochs.ts'

/** The numbers of places as they stand on one way. Reading one that nobody explained throws `BadRecord`. */
export interface Names {
  placeOut(place: number): number
  placeIn(told: number): number
  /** What an actor of this place is called elsewhere. */
  pathOut(path: string): string
}

/** The number of an actor, with the place in it as it is called on the way. */
export function numberOut(names: Names | undefined, number: number): number {
  return names === undefined ? number : firstUid(names.placeOut(homeOf(number))) + within(number)
}

export function numberIn(names: Names | undefined, told: number): number {
  return names === undefined ? told : firstUid(names.placeIn(homeOf(told))) + within(told)
}

/** The part of a number that its place gave it. */
function within(number: number): number {
  return number % firstUid(1)
}
