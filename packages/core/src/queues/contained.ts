// A mailbox, or the storage of one, that somebody else wrote. It decides about order; what is inside is known here, so
// that the ledger holds whatever that code does: throws, lies about its size, forgets, doubles, or tells its own actor.
// Also the ring in front, for messages that come back from a stash, where it has none of its own. Only `mailboxOf` needs it.

import { InvalidOption, OfferRefused } from '../values/errors.ts'
import type { MailboxOwner, MailboxQueue, WaitingOffer } from '../values/mailbox.ts'
import { isThenable, observed } from '../values/thenable.ts'
import type { FrontableQueue } from './own-kind.ts'
import { MessageRing } from './ring.ts'

/** A message on its way through the other's queue, as the meta of it. */
class Held {
  declare readonly message: unknown
  declare readonly meta: unknown
  constructor(message: unknown, meta: unknown) {
    this.message = message
    this.meta = meta
  }
}

/** How many pushes may be under way, one inside the other, before the queue is asked no more. */
const deepest = 32

export class ContainedQueue implements FrontableQueue {
  meta: unknown
  readonly #owner: MailboxOwner
  readonly #inner: MailboxQueue
  /** What is inside, in order of arrival. */
  readonly #held = new Set<Held>()
  #front: MessageRing | undefined
  #depth = 0
  constructor(owner: MailboxOwner, create: (owner: MailboxOwner) => MailboxQueue) {
    this.#owner = owner
    this.#inner = checkQueue(create(this.#ownerInside()))
  }

  get size(): number {
    return this.#held.size + (this.#front?.size ?? 0)
  }

  push(message: unknown, meta: unknown): void {
    this.#hand(message, meta, (held) => this.#inner.push(message, held))
  }

  unshift(message: unknown, meta: unknown): void {
    if (this.#inner.unshift === undefined) (this.#front ??= new MessageRing()).unshift(message, meta)
    else this.#hand(message, meta, (held) => this.#inner.unshift!(message, held))
  }

  /** Inside before the other code runs: whatever that does, the message is counted once. */
  #hand(message: unknown, meta: unknown, give: (held: Held) => unknown): void {
    const held = new Held(message, meta)
    this.#held.add(held)
    this.#depth++
    let failed = true
    let cause: unknown
    try {
      if (this.#depth > deepest) throw new Error('The mailbox tells its own actor from inside push, over and over.')
      observed(give(held), (late) => this.#owner.fault(late))
      failed = false
    } catch (thrown) {
      cause = thrown
    }
    this.#depth--
    if (!failed) return
    this.#owner.fault(cause)
    if (this.#held.delete(held)) this.#owner.refuse(message, meta, 'mailbox-failed')
  }

  shift(): unknown {
    const front = this.#front
    if (front === undefined || front.size === 0) return this.#take(false)
    const message = front.shift()
    this.meta = front.meta
    return message
  }

  evict(): unknown {
    return this.#take(true)
  }

  #take(evict: boolean): unknown {
    if (this.#held.size === 0) return undefined
    const inner = this.#inner
    let message: unknown
    let held: Held | undefined
    let wrong: unknown
    try {
      message = evict && inner.evict !== undefined ? inner.evict() : inner.shift()
      if (message !== undefined) held = this.#find(message, inner.meta)
      // It may hold back what it has, but not what it has forgotten, and nothing once the actor has ended.
      else if (inner.size > 0 && this.#owner.over !== true) return undefined
      wrong = new Error(
        message === undefined ? 'The mailbox keeps what it was given.' : 'The mailbox gave what it was not given, or had given before.',
      )
    } catch (cause) {
      wrong = cause
    }
    if (held === undefined) {
      this.#owner.fault(wrong)
      observed(message, (cause) => this.#owner.fault(cause))
      if (evict) return undefined
      // In order of arrival from here on, as far as the queue does not know better.
      held = this.#held.values().next().value!
      message = held.message
    }
    this.#held.delete(held)
    this.meta = held.meta
    return message
  }

  /** What a message that came out is here; one without its meta is known by itself. */
  #find(message: unknown, meta: unknown): Held | undefined {
    // It may have made one message of several, but not a promise of one.
    if (meta instanceof Held) return this.#held.has(meta) && (message === meta.message || !isThenable(message)) ? meta : undefined
    for (const held of this.#held) if (held.message === message) return held
    return undefined
  }

  hasRoom(): boolean {
    return this.#ask(() => this.#inner.hasRoom?.()) !== false
  }
  wait(offer: WaitingOffer): void {
    const inner = this.#inner
    const held = new Held(offer.message, offer.meta)
    const inside: WaitingOffer = {
      message: offer.message,
      meta: held,
      get ended() {
        return offer.ended
      },
      took: () => {
        if (offer.ended) return
        this.#owner.sent()
        this.#held.add(held)
        offer.took()
      },
      fail: (cause) => offer.fail(cause),
    }
    const waits = this.#ask(() => {
      if (inner.wait === undefined) return false
      inner.wait(inside)
      return true
    })
    if (waits !== true) offer.fail(new OfferRefused('The mailbox', 'it is full, and lets nobody wait'))
  }
  endWaits(cause: Error): void {
    this.#ask(() => this.#inner.endWaits?.(cause))
  }

  #ask<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch (cause) {
      this.#owner.fault(cause)
      return undefined
    }
  }

  /** The owner as the other code sees it: it can end only what is inside, and each but once. */
  #ownerInside(): MailboxOwner {
    const owner = this.#owner
    const end = (meta: unknown, act: (held: Held) => void): void => {
      if (meta instanceof Held && this.#held.delete(meta)) act(meta)
      else owner.fault(new Error('The mailbox ended a message that it does not hold.'))
    }
    return {
      drop: (_message, meta, evicted) => end(meta, (held) => owner.drop(held.message, held.meta, evicted)),
      refuse: (_message, meta) => end(meta, (held) => owner.refuse(held.message, held.meta)),
      // Counted when the offer hears that it was taken.
      sent: () => {},
      isPill: (meta) => meta instanceof Held && owner.isPill(meta.meta),
      pressure: (level, depth) => owner.pressure(level, depth),
      fault: (cause) => owner.fault(cause),
      get over() {
        return owner.over
      },
    }
  }
}

const methods = ['push', 'shift', 'evict', 'unshift', 'hasRoom', 'wait', 'endWaits'] as const

/** Refuses what is not a queue, when the actor is spawned. */
function checkQueue(queue: MailboxQueue): MailboxQueue {
  const rule = (what: string): string => `the mailbox that its create() made needs ${what}; see MailboxQueue`
  if (typeof queue !== 'object' || queue === null) throw new InvalidOption('mailbox', queue, rule('to be an object'))
  for (const [i, name] of methods.entries())
    if (typeof queue[name] !== 'function' && (i < 2 || queue[name] !== undefined))
      throw new InvalidOption(`mailbox.${name}`, queue[name], rule(`a function ${name}`))
  if (queue.size !== 0) throw new InvalidOption('mailbox.size', queue.size, rule('a size, which is 0 in a new one'))
  if (!('meta' in queue)) throw new InvalidOption('mailbox.meta', undefined, rule('the meta of the message that it gave last'))
  return queue
}
