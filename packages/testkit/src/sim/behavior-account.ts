// What an actor becomes: the behavior that a handler returned is the one that handles the next message, an actor that
// returned `stopped` stops, and each incarnation begins with what `spawn` was given.

import { BehaviorNode } from '@troupe/core/internal'
import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

export class BehaviorAccount {
  readonly #tap: SimTap
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  /** A handler has returned this, not a promise, or its promise has come to it and the cell went on with it. */
  returned(cell: SimCell, next: unknown): void {
    if (cell.options.reentrant || !(next instanceof BehaviorNode)) return
    if (next.kind === 'receive') cell.becomes = next
    else if (next.kind === 'stopped') cell.ends = true
    else if (next.kind === 'setup') cell.becomes = undefined
  }
  /** What comes next cannot be told: a promise is out. */
  unknown(cell: SimCell): void {
    cell.becomes = undefined
  }
  /** An incarnation has come up. */
  arrived(cell: SimCell): void {
    cell.ends = false
    cell.becomes = undefined
    const { initial } = cell
    if (initial?.kind === 'receive' && initial.signal === undefined && cell.inner !== initial)
      this.#tap.violate('behavior', cell, 'began with another behavior than it was spawned with')
    if (initial?.kind === 'setup' && cell.setups !== 1) this.#tap.violate('behavior', cell, `ran its setup ${cell.setups} times for one incarnation`)
  }
  handles(cell: SimCell): void {
    if (cell.becomes === undefined) cell.becomes = cell.inner
    else if (cell.becomes !== cell.inner) this.#tap.violate('behavior', cell, 'handles a message by another behavior than the last handler returned')
  }
  turnEnded(cell: SimCell): void {
    if (cell.ends && (cell.phase === 'running' || cell.phase === 'suspended'))
      this.#tap.violate('behavior', cell, 'a handler returned stopped, and the actor runs on')
  }
}
