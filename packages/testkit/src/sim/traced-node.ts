// Stands between a cell and user code: sees each call of a handler, a signal handler and a setup, lets faults strike, and
// watches that no two of one context run at the same time. One per cell, whatever the cell becomes.

import type { Signal } from '@troupe/core'
import { Adapted, BehaviorNode, Envelope, HookedNode, type Meta, Watch } from '@troupe/core/internal'
import type { Entry } from './entry.ts'
import type { SimCell } from './sim-cell.ts'

interface OpenNode {
  kind: BehaviorNode['kind']
  signal: BehaviorNode['signal']
  error?: HookedNode['error']
}

interface Ctx {
  readonly message: unknown
  readonly meta: Meta
}

export class TracedNode {
  /** What the cell holds in place of its behavior. */
  node: BehaviorNode
  readonly #plain: BehaviorNode
  #hooked: HookedNode | undefined
  readonly #cell: SimCell
  constructor(cell: SimCell) {
    this.#cell = cell
    this.#plain = new BehaviorNode('receive', (ctx, message) => this.#handle(ctx, message), undefined)
    this.node = this.#plain
  }
  become(inner: BehaviorNode): void {
    const hooked = inner instanceof HookedNode && inner.error !== undefined
    this.node = hooked ? (this.#hooked ??= new HookedNode('receive', this.#plain.handle, undefined, undefined, undefined)) : this.#plain
    const open = this.node as OpenNode
    if (hooked) open.error = inner.error
    open.kind = inner.kind
    open.signal = inner.signal
  }
  ofSetup(inner: BehaviorNode): BehaviorNode {
    return new BehaviorNode('setup', (ctx) => this.#setup(inner, ctx), inner.signal)
  }

  #setup(inner: BehaviorNode, ctx: unknown): unknown {
    const cell = this.#cell
    this.#enter(ctx, 'setup')
    cell.tap.trace.add('signal', cell.ref.uid, 0, 'setup', 0)
    cell.setups++
    cell.tap.faults.beforeSignal(cell)
    return this.#leave(ctx, (inner.handle as (ctx: unknown) => unknown)(ctx), undefined)
  }

  #handle(ctx: never, message: never): unknown {
    const cell = this.#cell
    const { tap } = cell
    const entry = tap.handling.begins(cell, ctx, message)
    this.#enter(ctx, entry.type)
    this.#checkOrigin(entry.meta, entry.sentIn, entry.type)
    let result: unknown
    try {
      result = tap.faults.strikes(cell) ? tap.faults.handle(cell, () => cell.inner.handle(ctx, message)) : cell.inner.handle(ctx, message)
    } catch (cause) {
      tap.handling.threw(cell, entry, (ctx as Ctx).message !== undefined)
      throw cause
    }
    if (isThenable(result)) {
      tap.handling.asyncHandled++
      tap.behaviors.unknown(cell)
      return this.#leave(ctx, result, entry)
    }
    tap.handling.finished(cell, entry, (ctx as Ctx).message !== undefined, result)
    return result
  }

  /** One of those who hear a signal; what the actor sees of its life is what the first of them does. */
  hear(handler: (ctx: never, signal: Signal) => unknown, signal: Signal, first: boolean): unknown {
    const cell = this.#cell
    const ctx = cell.ctx as never
    this.#enter(ctx, signal.type)
    cell.tap.trace.add('signal', cell.ref.uid, 0, signal.type, 0)
    if (first) cell.tap.lifecycle.signal(cell, signal)
    if (first && signal.type === 'Terminated') cell.tap.watches.told(cell, signal.ref, signal.reason)
    let result: unknown
    cell.inUserCode = true
    try {
      cell.tap.faults.beforeSignal(cell)
      result = handler(ctx, signal)
    } catch (cause) {
      cell.tap.lifecycle.signalFailed(signal)
      throw cause
    } finally {
      cell.inUserCode = false
    }
    if (isThenable(result)) cell.tap.lifecycle.signalAwaited(signal)
    if (isThenable(result)) cell.tap.behaviors.unknown(cell)
    else if (cell.phase !== 'stopping' && cell.phase !== 'restarting') cell.tap.behaviors.returned(cell, result)
    return this.#leave(ctx, result, undefined)
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
  /** What a promise comes to is seen here first: before the cell hears of it. */
  #leave(ctx: unknown, result: unknown, entry: Entry | undefined): unknown {
    const cell = this.#cell
    if (!isThenable(result)) return result
    const counts = !cell.options.reentrant
    if (counts) cell.unsettled++
    const settled = (ok: boolean, value: unknown): void => {
      // It may have gone on to another actor meanwhile, and be in the hands of a handler there.
      if (entry !== undefined && entry.ctx === ctx && entry.state === 'running') entry.outcome = { ok, value }
      if (counts && cell.unsettledOf === ctx) cell.unsettled--
    }
    result.then(
      (value) => settled(true, value),
      (cause: unknown) => settled(false, cause),
    )
    return result
  }

  /** C7 and C5: ticks of cancelled timers, of earlier incarnations, ended adapters and given-up watches never get here. */
  #checkOrigin(meta: unknown, sentIn: number, type: string): void {
    if (!(meta instanceof Envelope)) return
    const cell = this.#cell
    const { tap } = cell
    if (tap.asks.isSettled(meta)) tap.violate('C9', cell, `${type} was handled, a question that was settled before`)
    if (meta instanceof Watch) tap.watches.told(cell, meta.ref, undefined)
    else if (meta instanceof Adapted) {
      if (sentIn !== cell.incarnation)
        tap.violate('C7', cell, `${type} came through an adapter of incarnation ${sentIn} to incarnation ${cell.incarnation}`)
    } else if (isTimer(meta)) {
      tap.timers.taken(meta)
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
