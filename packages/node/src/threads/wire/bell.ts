// How a thread says that it sleeps, so that whoever has written something for it knows to wake it. One of those who ring at once sees that
// it slept, and owes it a wake by port (`nudge` of shared-medium; after the loss of a thread the pool wakes all). A thread that says that it sleeps looks once more for what came before it does.

import type { Bell } from '@troupe/border'

export class SharedBell implements Bell {
  readonly #state: Int32Array
  constructor(memory: SharedArrayBuffer) {
    this.#state = new Int32Array(memory)
  }
  get asleep(): boolean {
    return Atomics.load(this.#state, 0) === 1
  }
  rest(): void {
    Atomics.store(this.#state, 0, 1)
  }
  rise(): void {
    Atomics.store(this.#state, 0, 0)
  }
  /** Whether it was rung by this call: then a wake is owed. */
  ring(): boolean {
    return Atomics.load(this.#state, 0) === 1 && Atomics.compareExchange(this.#state, 0, 1, 0) === 1
  }
}
