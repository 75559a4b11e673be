// The fuse of core is one for all systems of a thread, and each that is observed has its own sampler: this one stands at the fuse for all of
// them. A send belongs to whoever looks at the system that it goes to; how many pass between two looks is the same for all.

import { type Cell, fuse, type Meta, PendingAsk, type Sampler } from '@troupe/core/internal'

/** Samples a second that are aimed at. */
const perSecond = 1000
const widest = 2 ** 20

/** One who looks at the sends to one system. */
export interface SendLooker {
  /** Whether it wants to see the very next send. */
  readonly hurried: boolean
  looksAt(cell: Cell): boolean
  /** Whether the send is not to go on: then it has sent it itself. */
  look(target: Cell | PendingAsk, cell: Cell, message: unknown, meta: Meta): boolean
  /** What goes along with a message that came from elsewhere. */
  arrived(cell: Cell, message: unknown, meta: Meta): Meta
  /** What it follows now. */
  readonly followed: object | undefined
  /** Takes what is sent by `send` as caused by that, and by nothing else. */
  follow(followed: object | undefined, send: () => void): void
}

class SharedFuse implements Sampler {
  readonly #lookers = new Set<SendLooker>()
  #seed = 0x2545f491
  /** One of so many sends is looked at. */
  mean = 1

  add(looker: SendLooker): void {
    this.#lookers.add(looker)
    if (fuse.sampler !== this) this.mean = 1
    fuse.sample(this)
  }
  remove(looker: SendLooker): void {
    if (this.#lookers.delete(looker) && this.#lookers.size === 0 && fuse.sampler === this) fuse.sample(undefined)
  }

  get gap(): number {
    for (const { hurried } of this.#lookers) if (hurried) return 1
    if (this.mean <= 1) return 1
    // xorshift: a system's own chance is not ours to draw from.
    let seed = this.#seed
    seed ^= seed << 13
    seed ^= seed >>> 17
    seed ^= seed << 5
    this.#seed = seed
    return 1 + Math.floor(((seed >>> 0) / 2 ** 32) * (2 * this.mean - 1))
  }
  sampled(target: Cell | PendingAsk, message: unknown, meta: Meta): boolean {
    const cell = target instanceof PendingAsk ? target.target : target
    for (const looker of this.#lookers) if (looker.looksAt(cell)) return looker.look(target, cell, message, meta)
    return false
  }

  arrived(cell: Cell, message: unknown, meta: Meta): Meta {
    for (const looker of this.#lookers) if (looker.looksAt(cell)) return looker.arrived(cell, message, meta)
    return meta
  }

  cause(): ReadonlyMap<SendLooker, object> | undefined {
    let causes: Map<SendLooker, object> | undefined
    for (const looker of this.#lookers) {
      const { followed } = looker
      if (followed !== undefined) (causes ??= new Map()).set(looker, followed)
    }
    return causes
  }
  causedBy(cause: ReadonlyMap<SendLooker, object> | undefined, send: () => void): void {
    const next = [...this.#lookers].reduce((inner, looker) => () => looker.follow(cause?.get(looker), inner), send)
    next()
  }

  /** Somebody saw so many in so many milliseconds: from now on so many pass that it would have been as many as are wanted. */
  adapt(seen: number, ms: number): void {
    const factor = ((seen / perSecond) * 1000) / Math.max(0.01, ms)
    this.mean = Math.min(widest, Math.max(1, this.mean * Math.min(4, Math.max(0.25, factor))))
  }
  /** Lets the next send be looked at; or, as drawn, one of those that follow. While somebody holds what is sent that one says. */
  hurry(): void {
    if (fuse.catcher === undefined) fuse.left = 1
  }
  goOn(): void {
    if (fuse.catcher === undefined) fuse.left = this.gap
  }
}

/** One for all systems of this thread. */
export const sharedFuse: SharedFuse = new SharedFuse()
