// A cell as its mailbox sees it: where to end what is not let in, and where to report pressure. One per mailbox that
// was chosen at spawn; the default mailbox has no need of it.

import type { MailboxOwner } from '../../values/mailbox.ts'
import type { Cell } from '../turn/cell.ts'
import type { Meta } from './envelope.ts'
import { poison } from './poison.ts'
import { observePressure } from './pressure.ts'

export class CellMailboxOwner implements MailboxOwner {
  readonly #cell: Cell
  #faulty = false
  constructor(cell: Cell) {
    this.#cell = cell
  }
  drop(message: unknown, meta: unknown, evicted: boolean): void {
    this.#cell.extras?.metrics?.lost(evicted)
    this.#cell.host.drop(message, meta as Meta, 'mailbox-overflow')
  }
  refuse(message: unknown, meta: unknown, reason: 'mailbox-full' | 'mailbox-failed' = 'mailbox-full'): void {
    const { ref, dispatcher, extras } = this.#cell
    extras?.metrics?.lost(false)
    dispatcher.host.bury(message, meta as Meta, ref, reason)
  }
  sent(): void {
    this.#cell.dispatcher.ledger.sent++
    this.#cell.extras?.metrics?.arrived()
  }
  isPill(meta: unknown): boolean {
    return meta === poison
  }
  pressure(level: 'high' | 'low', depth: number): void {
    observePressure(this.#cell, level, depth)
  }
  fault(cause: unknown): void {
    // Once: a comparison that throws does so for every pair.
    if (this.#faulty) return
    this.#faulty = true
    this.#cell.host.logger.error({ actor: this.#cell.ref.path, cause }, 'the mailbox of the actor is faulty')
  }
  get over(): boolean {
    const { phase } = this.#cell
    return phase === 'stopped' || phase === 'terminated'
  }
}
