// Those who wait for something, first come, first served. Linked through themselves, so that one who gives up leaves
// from the middle at no cost and leaves nothing behind.

/** One who waits, with what it brought. */
export class Waiter<V, R> {
  readonly value: V
  readonly done: (result: R) => void
  readonly failed: (cause: unknown) => void
  previous: Waiter<V, R> | undefined
  next: Waiter<V, R> | undefined
  waits = true
  constructor(value: V, done: (result: R) => void, failed: (cause: unknown) => void) {
    this.value = value
    this.done = done
    this.failed = failed
  }
}

export class WaitList<V, R> {
  #first: Waiter<V, R> | undefined
  #last: Waiter<V, R> | undefined

  add(value: V, done: (result: R) => void, failed: (cause: unknown) => void): Waiter<V, R> {
    const waiter = new Waiter(value, done, failed)
    const last = this.#last
    waiter.previous = last
    if (last === undefined) this.#first = waiter
    else last.next = waiter
    this.#last = waiter
    return waiter
  }

  shift(): Waiter<V, R> | undefined {
    const first = this.#first
    if (first !== undefined) this.remove(first)
    return first
  }

  /** Takes one out, wherever it stands; one that is out already is left alone. */
  remove(waiter: Waiter<V, R>): void {
    if (!waiter.waits) return
    waiter.waits = false
    const { previous, next } = waiter
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    waiter.previous = undefined
    waiter.next = undefined
  }
}
