// Timers of one incarnation, by key, and its receive timeout. A timer is its own envelope: the tick that sits in the
// mailbox knows whether it still counts when its turn comes, which a cancelled host timer alone could not tell.

import type { Deadline } from '../../queues/timers.ts'
import { checkFinite, checkMessage, checkRef, checkString, readOptions } from '../../values/checks.ts'
import { ContextEnded } from '../../values/errors.ts'
import type { AnyRef } from '../../values/ref.ts'
import { receiveTimeout } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { tellAny } from '../message/telling.ts'
import { Envelope } from '../message/envelope.ts'
import { isBusy } from '../life/pending.ts'

class KeyedTimer extends Envelope implements Deadline {
  at = 0
  order = 0
  declare readonly key: string
  declare readonly message: unknown
  /** Milliseconds between ticks; 0 for a single one. */
  declare readonly period: number
  declare readonly to: AnyRef | undefined
  readonly #owner: KeyedTimers
  live = true
  /** A tick is in the mailbox; further ones are not sent on top. */
  #queued = false
  constructor(owner: KeyedTimers, key: string, message: unknown, period: number, to: AnyRef | undefined) {
    super()
    this.#owner = owner
    this.key = key
    this.message = message
    this.period = period
    this.to = to
  }
  fire(now: number): void {
    const { cell } = this.#owner
    if (this.period > 0) {
      const missed = Math.floor((now - this.at) / this.period)
      const next = this.at + (missed + 1) * this.period
      // A period that the clock cannot tell from nothing would be due again at once, for ever, or never.
      cell.host.timers.set(this, next > now && next < Infinity ? next : now + 1)
    }
    if (this.to !== undefined) {
      this.#owner.forget(this)
      tellAny(cell.host, this.to, this.message)
    } else if (!this.#queued) {
      this.#queued = true
      cell.send(this.message, this)
    }
  }
  override open(cell: Cell, message: unknown): unknown {
    this.#queued = false
    if (!this.live) {
      cell.host.drop(message, undefined, 'stale-timer')
      return undefined
    }
    if (this.period === 0) this.#owner.forget(this)
    return message
  }
  override onward(): undefined {}
  override get own(): boolean {
    return true
  }
  /** The mailbox did not keep the tick: the next one may be sent. */
  override end(): void {
    this.#queued = false
    if (this.period === 0) this.#owner.forget(this)
  }
}

export class KeyedTimers {
  declare readonly cell: Cell
  /** By key; for those who look at the actor, too. */
  readonly timers: Map<string, KeyedTimer> = new Map()
  #ended = false
  constructor(cell: Cell) {
    this.cell = cell
  }
  once(key: string, ms: number, message: unknown, options?: { readonly to: AnyRef }): void {
    const to = options === undefined ? undefined : readOptions('timers.once', options, { to: [checkRef, 0, true] }).to
    this.#set(key, checkFinite('ms', ms, 'from'), message, 0, to)
  }
  every(key: string, ms: number, message: unknown): void {
    this.#set(key, checkFinite('ms', ms, 'above'), message, ms, undefined)
  }
  has(key: string): boolean {
    return this.timers.has(key)
  }
  cancel(key: string): void {
    const timer = this.timers.get(key)
    if (timer === undefined) return
    const { host } = this.cell
    host.tap?.disarmed(this.cell, key)
    host.timers.cancel(timer)
    this.forget(timer)
  }
  cancelAll(): void {
    for (const key of this.timers.keys()) this.cancel(key)
  }
  /** Ends with the incarnation: user code may have kept this object. */
  end(): void {
    this.cancelAll()
    this.#ended = true
  }
  forget(timer: KeyedTimer): void {
    timer.live = false
    if (this.timers.get(timer.key) === timer) this.timers.delete(timer.key)
  }
  #set(key: string, ms: number, message: unknown, period: number, to: AnyRef | undefined): void {
    if (this.#ended) throw new ContextEnded(this.cell.ref.path, 'set a timer')
    checkString('key', key)
    checkMessage(message)
    this.cancel(key)
    const timer = new KeyedTimer(this, key, message, period, to)
    this.timers.set(key, timer)
    const { host } = this.cell
    const wait = host.tap === undefined ? ms : host.tap.armed(this.cell, timer, key, ms)
    // An incarnation that is about to end takes no tick any more; others may still be told.
    const ending = to === undefined && (this.cell.phase === 'stopping' || this.cell.phase === 'restarting')
    if (wait !== Infinity && !ending) host.timers.set(timer, host.runtime.now() + wait)
  }
}

/** Delivers ReceiveTimeout after so long without a user message. Messages only note the time; the timer re-arms. */
export class ReceiveTimer implements Deadline {
  at = 0
  order = 0
  declare readonly cell: Cell
  readonly #ms: number
  #touched: number
  #due = false
  constructor(cell: Cell, ms: number) {
    this.cell = cell
    this.#ms = ms
    const { host } = cell
    this.#touched = host.runtime.now()
    host.timers.set(this, this.#touched + ms)
  }
  touch(now: number): void {
    this.#touched = now
  }
  fire(now: number): void {
    const { host } = this.cell
    // A message that waits or is being handled is not silence.
    if (isBusy(this.cell) || this.cell.queuedMessages > 0) this.#touched = now
    const at = this.#touched + this.#ms
    if (at > now) {
      host.timers.set(this, at)
      return
    }
    this.#touched = now
    host.timers.set(this, now + this.#ms)
    if (this.#due) return
    this.#due = true
    this.cell.signal(receiveTimeout)
  }
  /** Whether a queued ReceiveTimeout is this timer's; true once for each. */
  takeDue(): boolean {
    const due = this.#due
    this.#due = false
    return due
  }
  cancel(): void {
    this.cell.host.timers.cancel(this)
    this.#due = false
  }
}
