// User code that returned a promise: what it was, since when, and how to go on when it settles. The continuation runs
// in the cell's own turn, never in the promise's microtask; what was abandoned meanwhile is observed and dropped.

import { settlementOf } from '../../values/thenable.ts'
import type { Cell } from '../turn/cell.ts'
import { checkHeld } from '../ask/deadlock.ts'

/** How to go on: with the value, or with the cause of a rejection. */
export type Continuation = (cell: Cell, ok: boolean, value: unknown) => void

export class PendingCall {
  declare readonly cell: Cell
  /** What is pending, in words: a message's type, a signal's, or `setup`. */
  declare readonly what: string
  declare readonly since: number
  declare readonly continuation: Continuation
  state: 'waiting' | 'settled' | 'abandoned' = 'waiting'
  ok = false
  value: unknown
  constructor(cell: Cell, what: string, since: number, continuation: Continuation) {
    this.cell = cell
    this.what = what
    this.since = since
    this.continuation = continuation
  }
  settle(ok: boolean, value: unknown): void {
    if (this.state !== 'waiting') return
    this.state = 'settled'
    this.ok = ok
    this.value = value
    this.cell.host.pending--
    this.cell.rouse()
  }
}

/** Lets user code that returned a promise hold the cell until it settles. */
export function hold(cell: Cell, promise: PromiseLike<unknown>, what: string, continuation: Continuation): void {
  const call = new PendingCall(cell, what, cell.dispatcher.now, continuation)
  const extras = cell.ensureExtras()
  extras.pending = call
  cell.host.pending++
  // What was asked before the first await waits from here on.
  if (extras.asking !== undefined) checkHeld(extras.asking, call)
  observe(promise, call)
}

/** Resolves through the platform, so that a thenable that throws or settles twice is as good as a promise. */
export function observe(promise: PromiseLike<unknown>, call: { settle(ok: boolean, value: unknown): void }): void {
  void settlementOf(promise).then(
    (value) => call.settle(true, value),
    (cause: unknown) => call.settle(false, cause),
  )
}

/** Whether user code of this incarnation has not settled yet. */
export function isBusy(cell: Cell): boolean {
  const extras = cell.extras
  return extras !== undefined && (extras.pending !== undefined || (extras.calls !== undefined && extras.calls.size > 0))
}

/** Goes on where user code that has settled left off, in the cell's own turn. */
export function resumePending(cell: Cell): void {
  const extras = cell.extras!
  const call = extras.pending
  if (call?.state !== 'settled') return
  extras.pending = undefined
  // The silence begins now, not when the timer last looked.
  extras.receiveTimer?.touch(cell.dispatcher.now)
  call.continuation(cell, call.ok, call.value)
}

/** Cuts off what is pending; its result will be dropped. */
export function abandon(cell: Cell): void {
  const extras = cell.extras
  const call = extras?.pending
  if (extras === undefined || call === undefined) return
  if (call.state === 'waiting') cell.host.pending--
  call.state = 'abandoned'
  extras.pending = undefined
}
