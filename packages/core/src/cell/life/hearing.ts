// Who hears a signal: the handler of the present behavior and, as long as nobody handled it, those given to setups, the
// innermost first. The latter are the incarnation's, whatever its behavior becomes. The only place where signal handlers
// are called; what follows from their answers is up to starting, stopping and the lane.

import { BehaviorNode, unhandled } from '../../values/behavior.ts'
import type { Signal } from '../../values/signals.ts'
import { isThenable, observed } from '../../values/thenable.ts'
import type { Cell } from '../turn/cell.ts'
import { beginSignal } from '../ask/deadlock.ts'
import { type Continuation, hold } from './pending.ts'
import { infoIn } from './phase-info.ts'

export type SignalHandlerOf = NonNullable<BehaviorNode['signal']>

/** What an incarnation keeps of handlers that were given to setups. */
export interface SetupHandlers {
  /** Those of the setups it began with, innermost first. */
  readonly first: readonly SignalHandlerOf[]
  /** All, in the order in which they hear. */
  readonly all: readonly SignalHandlerOf[]
}

/** Answer of a signal that is waited for. */
const awaited: unique symbol = Symbol('awaited')

/** Whether a signal would be heard at all. */
export function hearsSignals(cell: Cell): boolean {
  return cell.behavior.signal !== undefined || cell.extras?.setupHandlers !== undefined || cell.options.linksHear
}

/**
 * Keeps the handlers of setups that were run, given outermost first. What a handler returned takes the place of what one returned
 * before: an actor that goes from setup to setup for years must not gather handlers.
 */
export function keepHandlers(cell: Cell, handlers: readonly SignalHandlerOf[]): void {
  const given = handlers.toReversed()
  const extras = cell.ensureExtras()
  const begins = infoIn(cell, 'starting')?.step === 'setup'
  const first = begins ? given : (extras.setupHandlers?.first ?? [])
  extras.setupHandlers = { first, all: begins ? given : [...given, ...first] }
}

/**
 * Lets a signal be heard, and goes on with the answer of whoever handled it, `unhandled` if nobody did, or what a handler threw: at once, or,
 * where it must be waited for, in a later turn, and then this is true. After a wait the next hears of it only while it `matters`. Given
 * `late`, nobody waits: whoever answers with a promise has handled it, and `late` hears if that is rejected.
 */
export function hear(cell: Cell, signal: Signal, matters: (cell: Cell) => boolean, goOn: Continuation, late?: (cause: unknown) => void): boolean {
  cell.extras?.flight?.note?.({ what: 'signal', type: signal.type, signal, at: cell.dispatcher.now })
  if (cell.options.linksHear) cell.signalLinks(signal)
  return hearFrom({ signal, own: cell.behavior.signal, others: cell.extras?.setupHandlers?.all ?? none, matters, goOn, late }, cell, 0)
}

interface Hearing {
  readonly signal: Signal
  readonly own: SignalHandlerOf | undefined
  readonly others: readonly SignalHandlerOf[]
  readonly matters: (cell: Cell) => boolean
  readonly goOn: Continuation
  readonly late: ((cause: unknown) => void) | undefined
}

const none: readonly SignalHandlerOf[] = []

/** From the `nth` handler on; the 0th is the behavior's own. */
function hearFrom(hearing: Hearing, cell: Cell, nth: number): boolean {
  const { goOn } = hearing
  let answer: unknown
  try {
    answer = pass(hearing, cell, nth)
  } catch (cause) {
    goOn(cell, false, cause)
    return false
  }
  if (answer === awaited) return true
  goOn(cell, true, answer)
  return false
}

function pass(hearing: Hearing, cell: Cell, nth: number): unknown {
  const { signal, own, others } = hearing
  const { tap } = cell.host
  for (let i = nth; i <= others.length; i++) {
    const handler = i === 0 ? own : others[i - 1]!
    if (handler === undefined) continue
    beginSignal(cell.ctx)
    const first = i === 0 || (i === 1 && own === undefined)
    const answer = tap === undefined ? handler(cell.ctx as never, signal) : tap.hear(cell, handler, signal, first)
    if (isThenable(answer)) {
      if (hearing.late !== undefined) return observed(answer, hearing.late)
      hold(cell, answer, signal.type, (c, ok, value) => passOn(hearing, c, i + 1, ok, value))
      return awaited
    }
    if (!isUnhandled(answer)) return answer
  }
  return unhandled
}

function passOn(hearing: Hearing, cell: Cell, nth: number, ok: boolean, value: unknown): void {
  const { others, matters, goOn } = hearing
  if (!ok || !isUnhandled(value) || nth > others.length || !matters(cell)) goOn(cell, ok, value)
  else hearFrom(hearing, cell, nth)
}

export function isUnhandled(answer: unknown): boolean {
  return answer instanceof BehaviorNode && answer.kind === 'unhandled'
}
