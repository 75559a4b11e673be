// Cells that have no turns and pass on what they are told: what stands for several actors, or for one that is elsewhere.

import { Mirror } from '@troupe/border'
import { ignore } from '@troupe/core'
import { type BehaviorNode, Cell, defaultOptions, Envelope, LocalRef, type Meta, type SystemCore } from '@troupe/core/internal'

/** A cell without turns, which passes on what it is told. */
export class PassingCell extends Cell {
  readonly #take: (message: unknown, meta: Meta) => void
  constructor(core: SystemCore, name: string, take: (message: unknown, meta: Meta) => void) {
    super(new LocalRef(undefined, name, core.nextUid()), core.dispatchers.fallback, defaultOptions, ignore as BehaviorNode)
    this.phase = 'running'
    this.#take = take
  }
  override put(message: unknown, meta: Meta): void {
    this.#take(message, meta)
  }
  override rouse(): void {}
  override signal(): void {}
  override command(): void {}
}

/** A message goes into the mailbox of a cell on behalf of the one it was sent to. */
export function handTo(cell: Cell, message: unknown, meta: Meta): void {
  if (meta instanceof Envelope) {
    const ask = meta.asked()
    if (ask instanceof Mirror) ask.takenBy(cell)
    else meta.moved(cell)
  }
  cell.accept(message, meta)
}
