// A queue with rules: a bound and what happens beyond it, offers that wait for room, water marks, and the pill that
// ends it. Storage decides the order, this decides who gets in; both ends of every message are told to the owner.
//
//   front (unstashed) ─→ storage (bounded) ─→ pill ─→ after (came behind the pill; counts towards the bound)

import { budgets } from '../values/budgets.ts'
import type { MailboxOwner, MailboxQueue, Overflow, WaitingOffer } from '../values/mailbox.ts'
import { MessageRing, Ring } from './ring.ts'

/** The rules of one mailbox, checked and completed. */
export interface Rules {
  readonly capacity: number
  readonly overflow: Overflow
  readonly highWater: number
  readonly lowWater: number
}

const leastSweep = 64

export class GovernedQueue implements MailboxQueue {
  meta: unknown
  readonly #storage: MailboxQueue
  readonly #owner: MailboxOwner
  readonly #rules: Rules
  readonly #policy: Exclude<Overflow, object> | 'grow'
  /** The bound now; above `capacity` only where the policy lets it grow. */
  #limit: number
  readonly #ceiling: number
  #pressed = false
  /** Messages for which room is being made. */
  #arriving = 0
  #front: MessageRing | undefined
  #waiting: Ring<WaitingOffer> | undefined
  /** At how many waiting offers to look for those that have ended. */
  #sweepAt = leastSweep
  #pill: { readonly message: unknown; readonly meta: unknown } | undefined
  #after: MessageRing | undefined

  constructor(storage: MailboxQueue, owner: MailboxOwner, rules: Rules) {
    this.#storage = storage
    this.#owner = owner
    this.#rules = rules
    const { capacity, overflow } = rules
    this.#policy = typeof overflow === 'object' ? overflow.policy : overflow
    this.#limit = capacity
    this.#ceiling = typeof overflow === 'object' ? Math.floor(capacity * overflow.maxFactor) : capacity
    if (this.#policy === 'block') budgets.onOwner?.('waiting offers', () => this.#waiting?.size ?? 0)
  }

  get size(): number {
    return (this.#front?.size ?? 0) + this.#held + (this.#pill === undefined ? 0 : 1) + this.#arriving
  }

  /** What counts towards the bound. Unstashed messages do not: the stash has a bound of its own. */
  get #held(): number {
    return this.#storage.size + (this.#after?.size ?? 0)
  }

  push(message: unknown, meta: unknown): void {
    // Also into a full mailbox, and never evicted: a pill that is lost is an actor that does not stop. One is enough: a
    // second must not take the place of a message.
    if (this.#owner.isPill(meta)) {
      if (this.#pill === undefined) this.#pill = { message, meta }
      else this.#owner.drop(message, meta, false)
    } else if (this.#held < this.#limit) this.#store(message, meta)
    else this.#overflow(message, meta)
  }

  hasRoom(): boolean {
    return this.#held < this.#ceiling || this.#policy === 'drop-oldest'
  }

  wait(offer: WaitingOffer): void {
    if (this.#policy !== 'block') throw new Error('only a mailbox that blocks lets offers wait')
    const waiting = (this.#waiting ??= new Ring())
    waiting.push(offer)
    if (waiting.size >= this.#sweepAt) this.#sweep(waiting)
  }

  /** Lets go of offers that gave up; without it a mailbox that stays full would keep every one of them. */
  #sweep(waiting: Ring<WaitingOffer>): void {
    for (let left = waiting.size; left > 0; left--) {
      const offer = waiting.shift()!
      if (!offer.ended) waiting.push(offer)
    }
    this.#sweepAt = Math.max(leastSweep, waiting.size * 2)
  }

  get blocks(): boolean {
    return this.#policy === 'block'
  }

  endWaits(cause: Error): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    for (let offer = waiting?.shift(); offer !== undefined; offer = waiting!.shift()) offer.fail(cause)
  }

  unshift(message: unknown, meta: unknown): void {
    ;(this.#front ??= new MessageRing()).unshift(message, meta)
  }

  shift(): unknown {
    if (this.#front !== undefined && this.#front.size > 0) return this.#from(this.#front)
    if (this.#storage.size > 0) {
      const message = this.#from(this.#storage)
      this.#madeRoom()
      return message
    }
    const pill = this.#pill
    if (pill !== undefined) {
      this.#pill = undefined
      this.meta = pill.meta
      return pill.message
    }
    return this.#after === undefined ? undefined : this.#from(this.#after)
  }

  #from(queue: MailboxQueue): unknown {
    const message = queue.shift()
    this.meta = queue.meta
    return message
  }

  #store(message: unknown, meta: unknown): void {
    if (this.#pill !== undefined) (this.#after ??= new MessageRing()).push(message, meta)
    else this.#storage.push(message, meta)
    const held = this.#held
    if (held >= this.#rules.highWater && !this.#pressed) {
      this.#pressed = true
      this.#owner.pressure('high', held)
    }
  }

  #overflow(message: unknown, meta: unknown): void {
    switch (this.#policy) {
      case 'drop-newest':
        return this.#owner.drop(message, meta, false)
      case 'drop-oldest': {
        // The storage may run code of the user's to find out who goes: this one is neither in nor out meanwhile.
        this.#arriving++
        const room = this.#evict()
        this.#arriving--
        return room ? this.#store(message, meta) : this.#owner.refuse(message, meta)
      }
      case 'grow':
        if (this.#limit >= this.#ceiling) return this.#owner.refuse(message, meta)
        this.#limit = Math.min(this.#limit * 2, this.#ceiling)
        return this.#store(message, meta)
      case 'reject':
      case 'block':
        return this.#owner.refuse(message, meta)
    }
  }

  /** Whether there is room now; a storage that cannot evict makes none. */
  #evict(): boolean {
    const storage = this.#storage
    const from: MailboxQueue = storage.size > 0 ? storage : this.#after!
    const message = from.evict === undefined ? from.shift() : from.evict()
    if (message === undefined) return false
    this.#owner.drop(message, from.meta, true)
    return true
  }

  #madeRoom(): void {
    const held = this.#held
    if (this.#pressed && held <= this.#rules.lowWater) {
      this.#pressed = false
      this.#owner.pressure('low', held)
    }
    // Looked at again: whoever heard of it may have sent something.
    if (this.#limit > this.#rules.capacity && this.#held <= this.#rules.capacity / 2) this.#limit = this.#rules.capacity
    const waiting = this.#waiting
    if (waiting === undefined) return
    while (waiting.size > 0 && this.#held < this.#limit) {
      const offer = waiting.shift()!
      if (offer.ended) continue
      this.#owner.sent()
      this.#store(offer.message, offer.meta)
      offer.took()
    }
    if (waiting.size === 0) this.#waiting = undefined
  }
}
