// C5, a second time: who watches whom, by the calls alone. Each watch of an actor that ends is owed one notice; a notice
// that nobody is owed is as wrong as one that never comes.

import type { AnyRef, TerminationReason } from '@troupe/core'
import { cellOf, hearsSignals } from '@troupe/core/internal'
import { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

export class WatchAccount {
  readonly #tap: SimTap
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  watched(cell: SimCell, ref: AnyRef): void {
    const target = cellOf(ref)
    if (!(target instanceof SimCell) || target === cell) return
    ;(cell.watchesOf ??= new Map()).set(ref, target)
    this.#tap.trace.add('watch', cell.ref.uid, ref.uid, '', 0)
  }
  unwatched(cell: SimCell, ref: AnyRef): void {
    cell.watchesOf?.delete(ref)
    this.#tap.trace.add('unwatch', cell.ref.uid, ref.uid, '', 0)
  }
  /** A watcher is told of an end. */
  told(cell: SimCell, ref: AnyRef, reason: TerminationReason | undefined): void {
    const target = cell.watchesOf?.get(ref)
    if (target === undefined) this.#tap.violate('C5', cell, `was told that ${ref.path} ended, and does not watch it (any more)`)
    else if (target.phase !== 'terminated') this.#tap.violate('C5', cell, `was told that ${ref.path} ended, and it is ${target.phase}`)
    else if (reason !== undefined && target.end?.reason !== reason)
      this.#tap.violate('C5', cell, `was told that ${ref.path} ended by ${reason}, and it was ${String(target.end?.reason)}`)
    else if (target.ref.parent === cell.ref && target.bornIn !== cell.incarnation && cell.options.restartChildren === 'stop')
      this.#tap.violate('C5', cell, `was told that ${ref.path} ended, which was a child of the incarnation before`)
    cell.watchesOf?.delete(ref)
  }
  ended(cell: SimCell): void {
    cell.watchesOf = undefined
  }
  /** When all has come to rest: nobody who can hear is still owed a notice. */
  check(): void {
    for (const cell of this.#tap.living) {
      if (cell.watchesOf === undefined || (cell.phase !== 'running' && cell.phase !== 'suspended')) continue
      if (cell.extras?.pending !== undefined) continue
      for (const [ref, target] of cell.watchesOf) {
        if (target?.phase !== 'terminated') continue
        const watch = cell.extras?.watching?.get(ref as AnyRef)
        // A plain watch of a behavior without a signal handler is settled by a log line that nobody sees.
        if (watch === undefined && !hearsSignals(cell)) continue
        // A message instead of a signal waits in line with the others while the actor is suspended.
        if (watch !== undefined && watch.message !== undefined && cell.phase === 'suspended') continue
        this.#tap.violate('C5', cell, `watched ${(ref as AnyRef).path}, which ended, and was never told`)
      }
    }
  }
}
