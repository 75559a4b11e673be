// Whose timers are armed: seen when they are set, by whose turn it is. What belongs to an incarnation must be gone with it.

import type { CellHost, Meta } from '@troupe/core/internal'
import { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'
import { isTimer } from './traced-node.ts'

interface Timer {
  readonly order: number
}
interface Owned {
  readonly cell: SimCell
  readonly incarnation: number
  readonly until: 'incarnation' | 'step'
}

interface Due {
  readonly cell: SimCell
  /** No earlier than this, and no later than that. */
  least: number
  most: number
  /** Its place among those of the same time. */
  order: number
}

/** Moves on to the first tick after now. */
function passed(due: Due, period: number, now: number): number {
  if (due.most > now) return due.most
  due.most += (Math.floor((now - due.most) / period) + 1) * period
  // A period that the clock cannot tell from nothing.
  if (!(due.most > now && due.most < Infinity)) due.most = now + 1
  return due.most
}

export class TimerAccount {
  readonly #tap: SimTap
  readonly #owners = new Map<Timer, Owned>()
  /** Keyed timers of which a tick must come. */
  readonly #due = new Map<unknown, Due>()
  /** What ticked last, of those that are due together. */
  #fired: Due | undefined = undefined
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  attach(host: CellHost): void {
    const { timers } = host
    const set = timers.set.bind(timers)
    timers.set = (deadline, at) => {
      // One that knows its cell, which need not be the one whose turn it is, ends with its incarnation, or with the step that is bounded.
      const { cell: owner } = deadline as { readonly cell?: unknown }
      if (owner instanceof SimCell) this.#owns(owner, deadline, owner.extras?.stepTimer === deadline ? 'step' : 'incarnation')
      const cell = owner ?? this.#tap.current
      this.#tap.rest.arms(cell instanceof SimCell ? cell : undefined)
      set(deadline, at)
      const due = this.#due.get(deadline)
      if (due !== undefined) due.order = deadline.order
    }
    const fireDue = timers.fireDue.bind(timers)
    timers.fireDue = (now) => {
      this.#fired = undefined
      return fireDue(now)
    }
  }
  /** One that arms itself again keeps the incarnation that it is of. */
  #owns(cell: SimCell, timer: Timer, until: Owned['until']): void {
    if (!this.#owners.has(timer)) this.#owners.set(timer, { cell, incarnation: cell.incarnation, until })
  }
  armed(cell: SimCell, timer: Meta, wait: number): void {
    this.#owns(cell, timer as unknown as Timer, 'incarnation')
    // One that tells somebody else is seen there.
    if (wait !== Infinity && (timer as { readonly to?: unknown }).to === undefined)
      this.#due.set(timer, { cell, least: this.#tap.now + wait, most: this.#tap.now + wait, order: 0 })
  }
  /** A tick is on its way into the mailbox. */
  ticked(cell: SimCell, meta: Meta): void {
    if (!isTimer(meta)) return
    const due = this.#due.get(meta)
    if (due === undefined) return
    const { now } = this.#tap
    if (cell.phase === 'stopping' || cell.phase === 'restarting')
      this.#tap.violate('timers', cell, `timer "${meta.key}" ticked while the actor was ${cell.phase}`)
    if (meta.period === 0) this.#checkOrder(cell, due)
    if (now < due.least) this.#tap.violate('timers', cell, `timer "${meta.key}" ticked at ${now} ms, and was to tick at ${due.least}`)
    if (meta.period === 0) this.#due.delete(meta)
    else due.least = passed(due, meta.period, now)
  }
  #checkOrder(cell: SimCell, due: Due): void {
    const before = this.#fired
    this.#fired = due
    if (before !== undefined && (before.most > due.most || (before.most === due.most && before.order > due.order)))
      this.#tap.violate('timers', cell, `a timer due at ${due.most} ms ticked behind one due at ${before.most} ms, out of order`)
  }
  /** A tick was taken from the mailbox, or lost there; those that were due while it waited were not sent on top. */
  taken(meta: { readonly period: number }): void {
    const due = meta.period === 0 ? undefined : this.#due.get(meta)
    if (due !== undefined) passed(due, meta.period, this.#tap.now)
  }
  /** All that is due has run: so have timers. */
  checkDue(): void {
    const { now } = this.#tap
    for (const [timer, due] of this.#due) {
      const { key, period } = timer as { readonly key: string; readonly period: number }
      const { cell } = due
      if (cell.phase === 'terminated' || cell.timers?.get(key) !== timer) this.#due.delete(timer)
      else if (due.most < now) {
        if (period > 0 && cell.waiting.some((e) => e.meta === timer)) passed(due, period, now)
        else this.#tap.violate('timers', cell, `timer "${key}" was to tick at ${due.most} ms, and it is ${now}`)
      }
    }
  }
  check(): void {
    for (const [deadline, { cell, incarnation, until }] of this.#owners) {
      if (deadline.order === 0) this.#owners.delete(deadline)
      else if (cell.phase === 'terminated') this.#tap.violate('leaks', cell, 'has ended and left a timer armed')
      else if (until === 'step') {
        if (cell.phase === 'running') this.#tap.violate('leaks', cell, 'runs, and the timer of an earlier step is armed')
      } else if (cell.incarnation !== incarnation)
        this.#tap.violate('C7', cell, `a timer of incarnation ${incarnation} is armed in incarnation ${cell.incarnation}`)
    }
  }
}
