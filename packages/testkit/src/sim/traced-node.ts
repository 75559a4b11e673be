// Stands between a cell and user code: sees each call of a handler, a signal handler and a setup, lets faults strike, and
// watches that no two of one context run at the same time. One per cell, whatever the cell becomes.

import type { Signal } from 'troupe'
import { Adapted, BehaviorNode, Envelope, HookedNode, Watch } from 'troupe/internal'
import type { SimCell } from './sim-cell.ts'

interface OpenNode {
  kind: BehaviorNode['kind']
  signal: BehaviorNode['signal']
  error?: HookedNode['error']
}

interface Ctx {
  readonly message: unknown
}

export class TracedNode {
  /** What the cell holds in place of its behavior. */
  node: BehaviorNode
  readonly #plain: BehaviorNode
  #hooked: HookedNode | undefined
  readonly #cell: SimCell
  readonly #onSignal: (ctx: never, signal: Signal) => unknown
  constructor(cell: SimCell) {
    this.#cell = cell
    this.#plain = new BehaviorNode('receive', (ctx, message) => this.#handle(ctx, message), undefined)
    this.node = this.#plain
    this.#onSignal = (ctx, signal) => this.#signal(ctx, signal)
  }
  become(inner: BehaviorNode): void {
    const hooked = inner instanceof HookedNode && inner.error !== undefined
    this.node = hooked ? (this.#hooked ??= new HookedNode('receive', this.#plain.handle, undefined, undefined, undefined)) : this.#plain
    const open = this.node as OpenNode
    if (hooked) open.error = inner.error
    open.kind = inner.kind
    open.signal = inner.signal === undefined ? undefined : this.#onSignal
  }
  ofSetup(inner: BehaviorNode): BehaviorNode {
    return new BehaviorNode('setup', (ctx) => this.#setup(inner, ctx), inner.signal)
  }

  #setup(inner: BehaviorNode, ctx: unknown): unknown {
    const cell = this.#cell
    this.#enter(ctx, 'setup')
    cell.tap.trace.add('signal', cell.ref.uid, 0, 'setup', 0)
    cell.tap.faults.beforeSignal(cell)
    return this.#leave(ctx, (inner.handle as (ctx: unknown) => unknown)(ctx))
  }

  #handle(ctx: never, message: never): unknown {
    const cell = this.#cell
    const { tap } = cell
    const entry = tap.begins(cell)
    this.#enter(ctx, entry.type)
    this.#checkOrigin(entry.meta, entry.sentIn, entry.type)
    let result: unknown
    try {
      result = tap.faults.strikes(cell) ? tap.faults.handle(cell, () => cell.inner.handle(ctx, message)) : cell.inner.handle(ctx, message)
    } catch (cause) {
      tap.threw(cell, entry, (ctx as Ctx).message !== undefined)
      throw cause
    }
    if (isThenable(result)) {
      tap.asyncHandled++
      return this.#leave(ctx, result)
    }
    tap.finished(cell, entry, (ctx as Ctx).message !== undefined, result)
    return result
  }

  #signal(ctx: never, signal: Signal): unknown {
    const cell = this.#cell
    this.#enter(ctx, signal.type)
    cell.tap.trace.add('signal', cell.ref.uid, 0, signal.type, 0)
    cell.tap.lifecycle.signal(cell, signal)
    if (signal.type === 'Terminated') cell.tap.watches.told(cell, signal.ref)
    cell.tap.faults.beforeSignal(cell)
    return this.#leave(ctx, cell.inner.signal!(ctx, signal))
  }

  /** C3: nothing of this context may be unsettled when something new of it begins. */
  #enter(ctx: unknown, what: string): void {
    const cell = this.#cell
    if (cell.options.reentrant) return
    if (cell.unsettledOf !== ctx) {
      cell.unsettledOf = ctx
      cell.unsettled = 0
    } else if (cell.unsettled > 0) cell.tap.violate('C3', cell, `${what} began while a handler of the same incarnation had not settled`)
  }
  #leave(ctx: unknown, result: unknown): unknown {
    const cell = this.#cell
    if (!isThenable(result) || cell.options.reentrant) return result
    cell.unsettled++
    const settled = (): void => {
      if (cell.unsettledOf === ctx) cell.unsettled--
    }
    result.then(settled, settled)
    return result
  }

  /** C7 and C5: ticks of cancelled timers, of earlier incarnations, ended adapters and given-up watches never get here. */
  #checkOrigin(meta: unknown, sentIn: number, type: string): void {
    if (!(meta instanceof Envelope)) return
    const cell = this.#cell
    const { tap } = cell
    if (tap.asks.isSettled(meta)) tap.violate('C9', cell, `${type} was handled, a question that was settled before`)
    if (meta instanceof Watch) tap.watches.told(cell, meta.ref)
    else if (meta instanceof Adapted) {
      if (sentIn !== cell.incarnation)
        tap.violate('C7', cell, `${type} came through an adapter of incarnation ${sentIn} to incarnation ${cell.incarnation}`)
    } else if (isTimer(meta)) {
      if (sentIn !== cell.incarnation)
        tap.violate('C7', cell, `a tick of timer "${meta.key}" of incarnation ${sentIn} reached incarnation ${cell.incarnation}`)
      else if (cell.timers?.get(meta.key) !== meta) tap.violate('C7', cell, `a tick of timer "${meta.key}" arrived, which was cancelled or replaced`)
      else if (meta.period === 0) cell.timers.delete(meta.key)
    }
  }
}

export function traced(cell: SimCell): TracedNode {
  return new TracedNode(cell)
}

export function isTimer(meta: unknown): meta is { readonly key: string; readonly period: number } {
  return meta instanceof Envelope && 'period' in meta && 'key' in meta
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
