// C9, a second time: every question seen on its way, with the time by which it must be settled.

import { Adapted, type Meta, PendingAsk } from 'troupe/internal'
import type { SimTap } from './sim-tap.ts'

export class AskAccount {
  readonly #tap: SimTap
  readonly #open = new Map<PendingAsk, number>()
  readonly #outside: PendingAsk[] = []
  readonly #answered = new Set<PendingAsk>()
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  get size(): number {
    return this.#open.size
  }
  sent(meta: Meta): void {
    const ask = meta instanceof Adapted ? meta.inner : meta
    if (!(ask instanceof PendingAsk) || this.#open.has(ask)) return
    this.#open.set(ask, this.#tap.host.runtime.now() + ask.timeout)
    if (this.#tap.current === undefined) this.#outside.push(ask)
    this.#listen(ask)
  }
  /** Sees the answer or the rejection; there may be one of them. */
  #listen(ask: PendingAsk): void {
    const { resolve, reject } = ask
    if (resolve === undefined || reject === undefined) return
    const once = (): void => {
      if (this.#answered.has(ask)) this.#tap.violate('C9', ask.target, 'a question was settled twice')
      this.#answered.add(ask)
      if (!ask.settled) this.#tap.violate('C9', ask.target, 'a question was settled and is still open')
    }
    ask.resolve = (answer) => {
      once()
      resolve(answer)
    }
    ask.reject = (cause) => {
      once()
      reject(cause)
    }
  }
  /** The time of a question from outside begins with the next turn. */
  begin(): void {
    if (this.#outside.length === 0) return
    const now = this.#tap.host.runtime.now()
    for (const ask of this.#outside.splice(0)) if (!ask.settled) this.#open.set(ask, now + ask.timeout)
  }
  /** Whether a message is a question that nobody waits for any more. */
  isSettled(meta: Meta): boolean {
    const ask = meta instanceof Adapted ? meta.inner : meta
    return ask instanceof PendingAsk && ask.settled
  }
  /** All that was due has run: nothing may be open past its time. */
  check(now: number): void {
    for (const [ask, until] of this.#open) {
      if (ask.settled) {
        this.#open.delete(ask)
        this.#answered.delete(ask)
        if (linked(ask)) this.#tap.violate('C9', ask.target, 'a question was settled and is still registered')
      } else if (until < now) this.#tap.violate('C9', ask.target, `a question should have been settled by ${until} ms, and it is ${now} ms`)
    }
  }
  /** Somebody has ended: whoever asked must know by now. */
  checkDead(): void {
    for (const ask of this.#open.keys())
      if (!ask.settled && ask.target.phase === 'terminated') this.#tap.violate('C9', ask.target, 'ended, and a question to it is still open')
  }
  /** The system has ended. */
  checkAll(): void {
    for (const ask of this.#open.keys()) if (!ask.settled) this.#tap.violate('C9', ask.target, 'a question is open after its system has ended')
  }
}

function linked(ask: PendingAsk): boolean {
  if (ask.nextAsk !== undefined || ask.previousAsk !== undefined || ask.target.extras?.asked === ask) return true
  for (let edge = ask.edge?.asker.cell.extras?.asking; edge !== undefined; edge = edge.next) if (edge.ask === ask) return true
  return ask.order > 0
}
