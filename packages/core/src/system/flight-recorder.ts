// A recorder that keeps the last so many messages and transitions of each actor, in a ring each.

import { checkWhole, readOptions } from '../values/checks.ts'
import type { FlightEntry, FlightLog, FlightRecorder } from '../values/flight.ts'

/**
 * Keeps the last `capacity` messages and phase changes of every actor; failures are logged with them, and `inspect`
 * shows them.
 *
 * Guarantees: bounded memory per living actor; nothing is kept of those that ended. It holds the messages themselves,
 * so that they live a little longer. Fails: with `InvalidOption` on a wrong capacity.
 *
 * @example
 * const system = ActorSystem.create('shop', { flightRecorder: flightRecorder({ capacity: 20 }) })
 */
export function flightRecorder(options: { readonly capacity?: number | undefined } = {}): FlightRecorder {
  const { capacity = 32 } = readOptions('flightRecorder', options, { capacity: [checkWhole, 1] })
  return { open: () => new RingLog(capacity) }
}

class RingLog implements FlightLog {
  readonly #capacity: number
  readonly #entries: FlightEntry[] = []
  #next = 0
  constructor(capacity: number) {
    this.#capacity = capacity
  }
  add(entry: FlightEntry): void {
    this.#entries[this.#next] = entry
    this.#next = (this.#next + 1) % this.#capacity
  }
  entries(): readonly FlightEntry[] {
    return this.#entries.length < this.#capacity ? [...this.#entries] : [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)]
  }
}
