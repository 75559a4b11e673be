// Refs that both ends of a way know by a number: each end defines those that it sends, and keeps those that the other has defined.
// There are so many numbers; the oldest makes room.

const slots = 1024

export class RefSlots {
  /** What this end has defined: the slot of an actor, and the actor of a slot. */
  readonly #slotOf = new Map<number, number>()
  readonly #uids: (number | undefined)[] = []
  #next = 0
  /** What the other end has. */
  readonly #known: unknown[] = []

  /** The slot that the other end knows an actor by. */
  slotOf(uid: number): number | undefined {
    return this.#slotOf.get(uid)
  }
  /** A slot for an actor, from now on: what had it is not known any more. */
  define(uid: number): number {
    const slot = this.#next
    this.#next = (slot + 1) % slots
    const before = this.#uids[slot]
    if (before !== undefined) this.#slotOf.delete(before)
    this.#uids[slot] = uid
    this.#slotOf.set(uid, slot)
    return slot
  }
  /** The record that defined it was not sent. */
  undefine(uid: number, slot: number): void {
    this.#slotOf.delete(uid)
    if (this.#uids[slot] === uid) this.#uids[slot] = undefined
  }

  /** The other end has defined it. False: there is no such slot. */
  came(slot: number, ref: () => unknown): boolean {
    if (slot >= slots) return false
    this.#known[slot] = ref()
    return true
  }
  /** What the other end means by a slot; undefined if it never said. */
  at(slot: number): unknown {
    return this.#known[slot]
  }
}
