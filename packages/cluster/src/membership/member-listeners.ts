// Who listens to members that join and leave. A listener that throws keeps neither the others nor the node from going on.

import type { MemberEvent } from './members.ts'

export class MemberListeners {
  readonly #listeners = new Set<(event: MemberEvent) => void>()
  readonly #onThrow: (cause: unknown) => void

  constructor(onThrow: (cause: unknown) => void) {
    this.#onThrow = onThrow
  }

  /** Calls back for each event from now on; returns what ends that. */
  add(listener: (event: MemberEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  notify(event: MemberEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (cause) {
        this.#onThrow(cause)
      }
    }
  }
}
