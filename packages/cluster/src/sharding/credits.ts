// Credit between this node and all others for letters to sharded actors, for all kinds. The sender of a letter names a lot; the node that has the letter when its
// actor takes it, or it ends otherwise, gives the credit back to that node, by the lot. What came by in one turn goes back as one record. A record may be
// lost only with a connection or a node; then the sender begins a new lot, and ignores what is still given back for an earlier one.

import type { SystemCore } from '@troupe/core/internal'
import type { NodeBorder } from '../refs/node-border.ts'
import { readSessionText, sessionText } from '../values/session.ts'

/** Where the credit of a letter goes. */
export interface Origin {
  /** The session that sent it, as text. */
  readonly session: string
  readonly lot: number
}

/** What is given back for a lot. */
export interface Returned {
  /** Letters that were taken, or ended otherwise. */
  taken: number
  /** Offered ones that are in a mailbox, or ended. */
  entered: number
  /** How many offers may be on their way to that mailbox; 0 where it has no bound that blocks, undefined where that is not known. */
  window: number | undefined
}

export interface LotOwner {
  returned(what: Returned): void
}

/** Numbers in the record for each lot. */
const fields = 4

export class Credits {
  readonly #core: SystemCore
  readonly #border: NodeBorder
  readonly #self: string
  readonly #owners = new Map<number, LotOwner>()
  readonly #due = new Map<string, Map<number, Returned>>()
  #lot = 0
  #scheduled = false

  constructor(core: SystemCore, border: NodeBorder) {
    this.#core = core
    this.#border = border
    this.#self = sessionText(border.places.self)
    border.exchange.on('entity.credit', ({ credits }) => this.#came(credits))
  }

  /** Where the credit of a lot of this node goes. */
  originOf(lot: number): Origin {
    return { session: this.#self, lot }
  }
  isOwn({ session }: Origin): boolean {
    return session === this.#self
  }

  /** A new lot, for which credit will come back. */
  open(owner: LotOwner): number {
    this.#owners.set(++this.#lot, owner)
    return this.#lot
  }
  close(lot: number): void {
    this.#owners.delete(lot)
  }
  /** Lots for which credit may come back. */
  get size(): number {
    return this.#owners.size
  }

  /** A letter was taken, or ended; `offered` is 1 if its sender has not heard yet that it is in a mailbox. */
  taken(origin: Origin, offered: 0 | 1): void {
    const due = this.#dueTo(origin)
    due.taken++
    due.entered += offered
  }
  /** An offered letter is in a mailbox. */
  entered(origin: Origin, window: number): void {
    const due = this.#dueTo(origin)
    due.entered++
    due.window = window
  }

  #dueTo({ session, lot }: Origin): Returned {
    let lots = this.#due.get(session)
    if (lots === undefined) this.#due.set(session, (lots = new Map()))
    let due = lots.get(lot)
    if (due === undefined) lots.set(lot, (due = { taken: 0, entered: 0, window: undefined }))
    if (!this.#scheduled) {
      this.#scheduled = true
      this.#core.runtime.wake(() => this.#give())
    }
    return due
  }

  #give(): void {
    this.#scheduled = false
    const all = [...this.#due]
    this.#due.clear()
    for (const [name, lots] of all) {
      if (name === this.#self) {
        for (const [lot, what] of lots) this.#owners.get(lot)?.returned(what)
        continue
      }
      const session = readSessionText(name)
      if (session === undefined) continue
      const credits: number[] = []
      for (const [lot, { taken, entered, window }] of lots) credits.push(lot, taken, entered, window === undefined ? 0 : window + 1)
      this.#border.exchange.reach(this.#border.met(session), { op: 'entity.credit', credits })
    }
  }

  #came(credits: readonly number[]): void {
    for (let at = 0; at + fields <= credits.length; at += fields) {
      const [lot, taken, entered, window] = credits.slice(at, at + fields) as [number, number, number, number]
      this.#owners.get(lot)?.returned({ taken, entered, window: window === 0 ? undefined : window - 1 })
    }
  }
}
