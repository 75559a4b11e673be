// Measures an actor that asked for it, and tells of it again and again where that was asked for.

import { OwnKind } from '../../queues/own-kind.ts'
import { MessageRing } from '../../queues/ring.ts'
import { checkFinite, readOptions, type Table } from '../../values/checks.ts'
import type { MailboxKind } from '../../values/mailbox.ts'
import { Measuring } from '../../values/measuring.ts'
import { endHooksOf } from './end-hooks.ts'
import type { Cell } from '../turn/cell.ts'
import { CellMetrics, MeteredQueue } from './metrics.ts'
import { pushEvery } from './pushing.ts'

/** How actors are measured. */
export interface MeasuredOptions {
  /** What was measured is observed as `metrics.actor` every so many milliseconds, too. */
  readonly every?: number | undefined
}

const table: Table<MeasuredOptions> = { every: [checkFinite, 'above'] }

const ring = /* @__PURE__ */ new OwnKind('unbounded', () => new MessageRing())

class Measured extends Measuring {
  override readonly every: number | undefined
  constructor(every: number | undefined) {
    super()
    this.every = every
  }
  override readonly mailbox: MailboxKind = ring
  override begin(cell: Cell): void {
    const counted = (cell.ensureExtras().metrics = new CellMetrics())
    cell.queue = new MeteredQueue(cell.queue!, cell, counted)
    if (this.every === undefined) return
    const { host } = cell
    const push = pushEvery(host, this.every, (at) => host.observe({ type: 'metrics.actor', ref: cell.ref, metrics: counted.report(cell, at), at }))
    const hooks = endHooksOf(cell)
    const end = (): void => {
      hooks.delete(end)
      host.timers.cancel(push)
    }
    hooks.add(end)
  }
}

/**
 * Counts and samples what an actor does, for `inspect`: what got into its mailbox and how long it waited there, what it handled, how
 * long that took, and its turns. For `metrics` of `spawn`, or of a system, which then measures every actor.
 *
 * Guarantees: counters are exact; times are those of one message of 64, and one turn of 16. Fails with `InvalidOption`.
 *
 * @example
 * const ref = system.spawn(worker(), { metrics: measured() })
 * const { metrics } = await system.inspect(ref)
 */
export function measured(options: MeasuredOptions = {}): Measuring {
  return new Measured(readOptions('measured', options, table).every)
}
