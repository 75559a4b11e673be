// What the simulator sees of one of several systems in a run: phases, signals, and what ends otherwise than by being handled,
// for the trace. Where messages are that cross from one system to another no account of one system can say: that is for
// whoever connects them, and for the scenario, which sees both ends.

import { type AnyRef, type Phase, type Signal } from '@troupe/core'
import {
  type BehaviorNode,
  Cell,
  type CellHost,
  type CellOptions,
  type Dispatcher,
  type EndReason,
  type LocalRef,
  type Meta,
} from '@troupe/core/internal'
import { follows } from './lifecycle.ts'
import type { Places } from './sim-place.ts'
import { SimTap } from './sim-tap.ts'
import type { InvariantId } from './violation.ts'

export class PlaceTap extends SimTap {
  readonly #main: PlaceTap | undefined
  /** Names of actors by their number, for the diagram; one list for all places. */
  readonly names: Map<number, string>
  /** All places of the run; known to the first of them. */
  places: Places | undefined = undefined
  /** `main` is that of the system that the run began with. */
  constructor(main?: PlaceTap) {
    super()
    this.#main = main
    this.names = main?.names ?? new Map<number, string>()
  }
  override violate(invariant: InvariantId, cell: Cell | undefined, text: string, step?: number): void {
    if (this.#main === undefined) super.violate(invariant, cell, text, step)
    else this.#main.violate(invariant, cell, text, step)
  }
  override get systemWithTurn(): CellHost | undefined {
    return this.places?.current?.core
  }
  override get current(): Cell | undefined {
    return (this.host as { readonly running?: Dispatcher | undefined } | undefined)?.running?.current
  }
  override nameOf(uid: number): string {
    return this.names.get(uid) ?? super.nameOf(uid)
  }
  override attach(host: CellHost): void {
    this.host = host
  }
  override makeCell(ref: LocalRef, dispatcher: Dispatcher, options: CellOptions, initial: BehaviorNode): Cell {
    this.#met(ref)
    this.trace.add('spawn', dispatcher.current?.ref.uid ?? 0, ref.uid, '', 0)
    return new Cell(ref, dispatcher, options, initial)
  }
  #met(ref: LocalRef): void {
    if (!this.names.has(ref.uid)) this.names.set(ref.uid, ref.path.replace('/user/', ''))
  }
  override phased(cell: Cell, from: Phase, to: Phase): void {
    this.#met(cell.ref)
    this.trace.add('phase', cell.ref.uid, 0, to, 0)
    if (!follows[from].includes(to)) this.violate('phases', cell, `went from ${from} to ${to}`)
  }
  override hear(cell: Cell, handler: (ctx: never, signal: Signal) => unknown, signal: Signal): unknown {
    this.trace.add('signal', cell.ref.uid, 0, signal.type, 0)
    return handler(cell.ctx as never, signal)
  }
  override ended(message: unknown, _meta: Meta, how: 'dead' | 'dropped', reason: EndReason): void {
    const type = (message as { readonly type?: unknown } | undefined)?.type
    this.trace.add(how, this.current?.ref.uid ?? 0, 0, `${typeof type === 'string' ? type : typeof message} (${reason})`, 0)
  }
  override stashed(): void {}
  override armed(_cell: Cell, _timer: unknown, _key: string, ms: number): number {
    return ms
  }
  override disarmed(): void {}
  override watched(cell: Cell, ref: AnyRef): void {
    this.trace.add('watch', cell.ref.uid, ref.uid, '', 0)
  }
  override unwatched(cell: Cell, ref: AnyRef): void {
    this.trace.add('unwatch', cell.ref.uid, ref.uid, '', 0)
  }
  // What the accounts of one system would compare is compared by those who see all of them.
  override compare(): void {}
  override compareAtRest(): void {}
  override judge(): void {}
  override judgeEnd(): void {
    this.judgeBudgets()
  }
}
