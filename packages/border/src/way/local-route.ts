// The way to an actor that used to live on another thread and has come to this one: no wire, straight to its mailbox.

import type { AnyRef } from '@troupe/core'
import { type Cell, type Envelope, poisonPill } from '@troupe/core/internal'
import type { Route } from './wire-queue.ts'

export class LocalRoute implements Route {
  readonly #cell: Cell
  readonly open = true
  constructor(cell: Cell) {
    this.#cell = cell
  }
  // Nothing is written, so that nothing takes bytes.
  pass(message: unknown): number {
    this.#cell.accept(message, undefined)
    return 0
  }
  passSent(message: unknown, sender: AnyRef): number {
    this.#cell.accept(message, sender)
    return 0
  }
  passEnvelope(_from: Cell, message: unknown, envelope: Envelope): number {
    if (message !== poisonPill) envelope.moved(this.#cell)
    this.#cell.accept(message, envelope)
    return 0
  }
  close(): void {}
}
