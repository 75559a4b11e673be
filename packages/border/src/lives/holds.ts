// Which places hold a ref of an actor whose ref outlives it. Such an actor has no end that would take it off the list of those whom others know. Its
// home counts instead how often each place was sent a description of it; a place that has collected its ref gives back as many as it has read. A place
// that passes the ref on to a third tells the home so before it can give back its own, so that the count never ends too early.

/** Counts which places hold refs of lasting actors, at their home; and what this place has read, elsewhere. */
export class Holds {
  readonly #free: (uid: number) => void
  /** Of actors of this place: descriptions that each place has, or is about to get. Below zero: it gave back what the home has not heard of yet. */
  readonly #held = new Map<number, Map<number, number>>()
  /** Of actors elsewhere: descriptions that came. */
  readonly #read = new Map<number, number>()

  /** `free` is called when no other place holds an actor any more. */
  constructor(free: (uid: number) => void) {
    this.#free = free
  }

  /** The number that a place holds of an actor of this place changes by `count`. */
  add(uid: number, place: number, count: number): void {
    let held = this.#held.get(uid)
    if (held === undefined) this.#held.set(uid, (held = new Map()))
    const left = (held.get(place) ?? 0) + count
    if (left === 0) held.delete(place)
    else held.set(place, left)
    this.#look(uid, held)
  }
  /** The same, as another place reports it; about an actor that no place holds it is ignored. */
  told(uid: number, place: number, count: number): void {
    if (this.#held.has(uid)) this.add(uid, place, count)
  }
  /** A place is gone, with all that it held. */
  lost(place: number): void {
    for (const [uid, held] of this.#held) if (held.delete(place)) this.#look(uid, held)
  }
  #look(uid: number, held: Map<number, number>): void {
    if (held.size > 0) return
    this.#held.delete(uid)
    this.#free(uid)
  }

  /** A description of an actor elsewhere came. */
  read(uid: number): void {
    this.#read.set(uid, (this.#read.get(uid) ?? 0) + 1)
  }
  /** Its ref was collected; returns how many descriptions are given back. */
  collected(uid: number): number {
    const count = this.#read.get(uid) ?? 0
    this.#read.delete(uid)
    return count
  }
}
