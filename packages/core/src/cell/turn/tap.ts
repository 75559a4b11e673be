// Where a test may look inside: what a simulated or virtual runtime sees of cells. Every call is made on a rare path (a
// spawn, a phase, a timer, a watch, an end other than being handled); messages themselves are seen by the cells that the tap
// makes, so that a system without a tap pays nothing for it. A tap looks; it changes nothing but a timer's delay.

import type { BehaviorNode } from '../../values/behavior.ts'
import type { Phase } from '../../values/phase.ts'
import type { EndReason } from '../../values/ledger.ts'
import type { AnyRef } from '../../values/ref.ts'
import type { ExecutionRuntime } from '../../values/runtime.ts'
import type { Signal } from '../../values/signals.ts'
import { Cell } from './cell.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Envelope, Meta } from '../message/envelope.ts'
import type { CellHost } from './host.ts'
import type { LocalRef } from '../ref/local-ref.ts'
import type { CellOptions } from '../context/options.ts'

/** A tap that sees nothing; override what is wanted. */
export class Tap {
  /** The system exists; called once, before any actor does. */
  attach(_host: CellHost): void {}
  /** The cell of a new actor. */
  makeCell(ref: LocalRef, dispatcher: Dispatcher, options: CellOptions, initial: BehaviorNode): Cell {
    return new Cell(ref, dispatcher, options, initial)
  }
  /** The actor has joined the tree: nothing of its spawn can fail any more. */
  born(_cell: Cell): void {}
  /** Whether it must see each phase: otherwise those that pass in one step are not shown. */
  readonly seesPhases: boolean = false
  phased(_cell: Cell, _from: Phase, _to: Phase): void {}
  /** A message ends as a dead letter or as dropped. */
  ended(_message: unknown, _meta: Meta, _how: 'dead' | 'dropped', _reason: EndReason): void {}
  /** A handler is to hear a signal; `first` if none has heard it yet. Calls it. */
  hear(cell: Cell, handler: (ctx: never, signal: Signal) => unknown, signal: Signal, _first: boolean): unknown {
    return handler(cell.ctx as never, signal)
  }
  stashed(_cell: Cell, _message: unknown, _present: boolean): void {}
  /** A keyed timer is being armed; returns the milliseconds to wait, Infinity for never. */
  armed(_cell: Cell, _timer: Envelope, _key: string, ms: number): number {
    return ms
  }
  disarmed(_cell: Cell, _key: string): void {}
  watched(_cell: Cell, _ref: AnyRef): void {}
  unwatched(_cell: Cell, _ref: AnyRef): void {}
}

/** A runtime that brings a tap along. */
export interface TappedRuntime extends ExecutionRuntime {
  readonly tap: Tap
}

export function tapOf(runtime: ExecutionRuntime): Tap | undefined {
  return 'tap' in runtime ? (runtime as TappedRuntime).tap : undefined
}
