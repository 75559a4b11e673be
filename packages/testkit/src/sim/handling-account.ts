// What handlers do with messages: each begins with what was taken for it, one at a time, and ends as handled, unhandled or
// failed, also behind an await. Keeps C3, and tells the ledger what it must show.

import { Adapted, BehaviorNode, type Meta, senderOf } from '@troupe/core/internal'
import type { Entry } from './entry.ts'
import { typeName } from './message-account.ts'
import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

/** What a handler sees of its context that a check needs. */
interface Ctx {
  readonly message: unknown
  readonly meta: Meta
}

export class HandlingAccount {
  readonly #tap: SimTap
  /** Handlers that were called, and how many of them were waited for. */
  handled = 0
  asyncHandled = 0
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  /** A handler begins with what was taken last. */
  begins(cell: SimCell, ctx: Ctx, message: unknown): Entry {
    const tap = this.#tap
    this.handled++
    let entry = this.#tap.messages.taken
    if (entry === undefined || entry.state !== 'taken' || entry.to !== cell) {
      tap.violate('C2', cell, 'a handler was called with no message taken for it, or with one it had before')
      entry = this.#tap.messages.entry(undefined, undefined, cell)
    }
    entry.state = 'running'
    entry.ctx = ctx
    cell.lastType = entry.type
    if (cell.running !== undefined && !cell.options.reentrant) {
      if (cell.ctx?.message === cell.running.message && cell.unsettled > 0)
        tap.violate('C3', cell, `${entry.type} began before ${cell.running.type} was over`)
      this.settle(cell, cell.running)
    }
    if (cell.phase !== 'running') tap.violate('phases', cell, `${entry.type} was handled while ${cell.phase}`)
    tap.lifecycle.handles(cell)
    tap.behaviors.handles(cell)
    const { lane, options } = cell
    if (lane !== undefined) {
      if (lane.commands.size > 0) tap.violate('C10', cell, `${entry.type} was handled before ${lane.commands.size} commands that were waiting`)
      if (lane.signals.size > 0 && options.systemShare === 100)
        tap.violate('C10', cell, `${entry.type} was handled before ${lane.signals.size} signals that were waiting`)
    }
    if (options.plain && entry.message !== message && !(entry.meta instanceof Adapted))
      tap.violate('C2', cell, `${entry.type}#${entry.id} was taken, and ${typeName(message)} was handled`)
    if (entry.meta !== undefined && !entry.fronted && senderOf(ctx.meta) !== senderOf(entry.meta))
      tap.violate('C2', cell, `the handler of ${entry.type}#${entry.id} sees another sender`)
    else if (entry.meta === undefined && senderOf(ctx.meta) !== undefined)
      tap.violate('C2', cell, `the handler of ${entry.type}#${entry.id} sees a sender, and there is none`)
    if (!options.reentrant) cell.running = entry
    else {
      ;(cell.calls ??= []).push(entry)
      const open = cell.extras?.calls?.size ?? 0
      if (open > options.maxConcurrent) tap.violate('C3', cell, `is at ${open} messages, and at most ${options.maxConcurrent} are allowed`)
    }
    tap.trace.add('handle', cell.ref.uid, 0, entry.type, entry.id)
    return entry
  }
  /** A handler returned, and what it returned is not a promise. */
  finished(cell: SimCell, entry: Entry, present: boolean, result: unknown): void {
    this.#tap.behaviors.returned(cell, result)
    if (present) this.#count(cell, entry, result)
    else if (entry.state !== 'running') return
    this.#over(cell, entry)
  }
  #count(cell: SimCell, entry: Entry, result: unknown): void {
    const { expected } = this.#tap.ledger
    // Middleware that fails behind a handler makes a failure of what was handled.
    if (cell.options.middleware.length > 0) expected.either++
    else {
      const ending = endingOf(result, cell.options.reentrant)
      expected[ending]++
      if (ending !== 'handled') this.#tap.asks.owes(entry.meta)
    }
  }
  threw(cell: SimCell, entry: Entry, present: boolean): void {
    if (present) {
      this.#tap.ledger.expected.failed++
      this.#tap.asks.owes(entry.meta)
    } else if (entry.state !== 'running') return
    this.#over(cell, entry)
  }
  #over(cell: SimCell, entry: Entry): void {
    entry.state = 'ended'
    if (cell.running === entry) cell.running = undefined
  }
  /** A handler that was waited for is over, or was cut off. */
  settle(cell: SimCell, entry: Entry): void {
    if (cell.running === entry) cell.running = undefined
    if (entry.state !== 'running') return
    entry.state = 'ended'
    const { expected } = this.#tap.ledger
    const { outcome, call } = entry
    if (outcome === undefined || call?.state === 'abandoned') {
      expected.failed++
      if (outcome === undefined && call?.state === 'settled')
        this.#tap.violate('C3', cell, `${entry.type}#${entry.id} counts as settled, and its promise is not`)
    } else if (!outcome.ok) expected.failed++
    else if (call === undefined) expected.either++
    else {
      this.#tap.behaviors.returned(cell, outcome.value)
      this.#count(cell, entry, outcome.value)
    }
  }
  /** Calls of a reentrant actor that are over. */
  settleCalls(cell: SimCell): void {
    const { calls } = cell
    if (calls === undefined) return
    for (let i = calls.length - 1; i >= 0; i--) {
      const entry = calls[i]!
      if (entry.state === 'running' && (entry.ctx as Ctx).message !== undefined) continue
      calls.splice(i, 1)
      if (entry.state !== 'running') continue
      entry.state = 'ended'
      const { expected } = this.#tap.ledger
      if (entry.outcome?.ok === false || entry.outcome === undefined) expected.failed++
      // Whether it was over before it was cut off cannot be seen from here.
      else if ((entry.ctx as { readonly ended?: boolean }).ended === true) expected.either++
      else this.#count(cell, entry, entry.outcome.value)
    }
    if (calls.length === 0) cell.calls = undefined
  }
}

/** How a message ends whose handler returned this. */
function endingOf(next: unknown, reentrant: boolean): 'handled' | 'unhandled' | 'failed' {
  if (next === undefined) return 'handled'
  if (!(next instanceof BehaviorNode)) return 'failed'
  const { kind } = next
  if (kind === 'unhandled') return 'unhandled'
  return reentrant && (kind === 'receive' || kind === 'setup') ? 'failed' : 'handled'
}
