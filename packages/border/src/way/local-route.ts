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
  pass(message: unknown): void {
    this.#cell.accept(message, undefined)
  }
  passSent(message: unknown, sender: AnyRef): void {
    this.#cell.accept(message, sender)
  }
  passEnvelope(_from: Cell, message: unknown, envelope: Envelope): void {
    if (message !== poisonPill) envelope.moved(this.#cell)
    this.#cell.accept(message, envelope)
  }
  close(): void {}
}
