// The mailbox of a sharded actor: it gives out nothing while this node may not act in its own name. The check is made for every message, as it is
// taken, so that after a pause of the whole process no handler begins that must not. What is left when the actor ends is given out all the same.

import type { MailboxKind, MailboxQueue, WaitingOffer } from '@troupe/core'
import { type Cell, type FrontableQueue, MessageRing, openMailbox, OwnKind } from '@troupe/core/internal'

/** Says whether handlers may begin, and is told of who was kept from it. */
export interface LeaseGate {
  readonly held: boolean
  kept(cell: Cell): void
  /** Runs a task when handlers may begin again, unless there is no cluster by then. */
  whenHeld(task: () => void): void
}

class LeasedQueue implements MailboxQueue {
  meta: unknown = undefined
  readonly #inner: FrontableQueue
  readonly #gate: LeaseGate
  readonly #cell: Cell
  readonly #kind: LeasedKind

  constructor(inner: FrontableQueue, gate: LeaseGate, cell: Cell, kind: LeasedKind) {
    this.#inner = inner
    this.#gate = gate
    this.#cell = cell
    this.#kind = kind
  }

  get size(): number {
    return this.#inner.size
  }
  push(message: unknown, meta: unknown): void {
    this.#inner.push(message, meta)
  }
  shift(): unknown {
    if (this.#cell.phase === 'running') {
      if (!this.#gate.held) {
        if (this.#inner.size > 0) this.#gate.kept(this.#cell)
        this.meta = undefined
        return undefined
      }
      this.#kind.hasGiven = true
    }
    const message = this.#inner.shift()
    this.meta = this.#inner.meta
    return message
  }
  unshift(message: unknown, meta: unknown): void {
    this.#inner.unshift(message, meta)
  }
  hasRoom(): boolean {
    return this.#inner.hasRoom?.() ?? true
  }
  wait(offer: WaitingOffer): void {
    this.#inner.wait?.(offer)
  }
  endWaits(cause: Error): void {
    this.#inner.endWaits?.(cause)
  }
}

/** A mailbox as chosen, or without a bound, behind the gate. */
export function leased(gate: LeaseGate, chosen: MailboxKind | undefined): LeasedKind {
  return new LeasedKind(gate, chosen)
}

/** The kind of mailbox of one actor. */
export class LeasedKind extends OwnKind {
  /** The actor has taken a message, or found none. */
  hasGiven = false
  readonly #gate: LeaseGate
  readonly #chosen: MailboxKind | undefined
  constructor(gate: LeaseGate, chosen: MailboxKind | undefined) {
    super('leased', () => new MessageRing(), chosen ?? {})
    this.#gate = gate
    this.#chosen = chosen
  }
  override open(cell: unknown): FrontableQueue {
    const inner = this.#chosen === undefined ? new MessageRing() : openMailbox(this.#chosen, cell)
    return new LeasedQueue(inner, this.#gate, cell as Cell, this)
  }
}
