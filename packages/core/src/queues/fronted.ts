// Any mailbox with a ring in front, for messages that come back from a stash; for kinds that have none of their own.

import type { MailboxQueue, WaitingOffer } from '../values/mailbox.ts'
import { MessageRing } from './ring.ts'

/** A queue that takes messages at its front too. */
export type FrontableQueue = MailboxQueue & { unshift(message: unknown, meta: unknown): void }

/** The queue as it is where it has a front, else with one. */
export function frontable(queue: MailboxQueue): FrontableQueue {
  return queue.unshift === undefined ? new FrontedQueue(queue) : (queue as FrontableQueue)
}

class FrontedQueue implements FrontableQueue {
  meta: unknown = undefined
  readonly #front: MessageRing = new MessageRing()
  readonly #rest: MailboxQueue
  constructor(rest: MailboxQueue) {
    this.#rest = rest
  }
  get size(): number {
    return this.#front.size + this.#rest.size
  }
  push(message: unknown, meta: unknown): void {
    this.#rest.push(message, meta)
  }
  unshift(message: unknown, meta: unknown): void {
    this.#front.unshift(message, meta)
  }
  shift(): unknown {
    const from = this.#front.size > 0 ? this.#front : this.#rest
    const message = from.shift()
    this.meta = from.meta
    return message
  }
  hasRoom(): boolean {
    return this.#rest.hasRoom?.() ?? true
  }
  wait(offer: WaitingOffer): void {
    this.#rest.wait?.(offer)
  }
  endWaits(cause: Error): void {
    this.#rest.endWaits?.(cause)
  }
}
