// Datagrams on their way out. Node keeps what cannot leave at once (while the socket binds, a name is looked up, or the
// network takes no more) and never says stop, so their bytes are bounded here. What is beyond the bound is dropped and
// counted, the owner hears the count, with at most one such notice unhandled, and whoever asked hears when all has left.

import type { ActorRef } from '@troupe/core'
import { budgets } from '@troupe/core/internal'
import { Credited, LossyCarrier } from './credit.ts'
import type { Flushed } from './protocol.ts'

/** What Node keeps for each datagram beside its bytes: many small ones must not slip under a bound in bytes. */
const keptBeside = 256

/** Why datagrams were not sent: too many waited, or the socket closed before they had left. */
export type DropCode = 'write-overflow' | 'closed'

class SendsDropped<C> extends Credited {
  readonly type = 'sends-dropped'
  readonly code: DropCode
  readonly count: number
  readonly socket: ActorRef<C>
  constructor(code: DropCode, count: number, socket: ActorRef<C>) {
    super()
    this.code = code
    this.count = count
    this.socket = socket
  }
}

class OutboxDrained<C> extends Credited {
  readonly type = 'drained'
  readonly socket: ActorRef<C>
  constructor(socket: ActorRef<C>) {
    super()
    this.socket = socket
  }
}

/** What an outbox tells its owner. */
export type OutboxEvent<C> =
  | { readonly type: 'sends-dropped'; readonly code: DropCode; readonly count: number; readonly socket: ActorRef<C> }
  | { readonly type: 'drained'; readonly socket: ActorRef<C> }

interface Flush {
  readonly replyTo: ActorRef<Flushed>
  /** The last datagram that it waits for, and how many up to that one are still here. */
  readonly last: number
  left: number
}

export class Outbox<C> {
  readonly #self: ActorRef<C>
  readonly #owner: ActorRef<OutboxEvent<C>>
  readonly #maxBuffered: number
  readonly #gone: () => void
  #last = 0
  #count = 0
  #bytes = 0
  #dropped = 0
  /** Something was dropped since there was last room. */
  #overflown = false
  /** There is room again, and the owner has not been told. */
  #roomy = false
  /** A notice is with the owner, unhandled. */
  #noticed = false
  #flushes: Flush[] = []
  #whenEmpty: (() => void) | undefined = undefined
  #ended = false

  constructor(self: ActorRef<C>, owner: ActorRef<OutboxEvent<C>>, maxBuffered: number, gone: () => void) {
    this.#self = self
    this.#owner = owner
    this.#maxBuffered = maxBuffered
    this.#gone = gone
    budgets.onOwner?.('bytes of datagrams on their way out', () => this.#bytes)
  }
  get count(): number {
    return this.#count
  }

  /** The number of a datagram that may leave, to be given back when it has; undefined where it is dropped. */
  enter(size: number): number | undefined {
    if (this.#bytes >= this.#maxBuffered) {
      this.#dropped++
      this.#overflown = true
      this.#roomy = false
      this.#notice()
      return undefined
    }
    this.#count++
    this.#bytes += size + keptBeside
    return ++this.#last
  }
  /** One has left, or never will. */
  leave(number: number, size: number): void {
    if (this.#ended) return
    this.#count--
    this.#bytes -= size + keptBeside
    if (this.#flushes.length > 0) this.#answer(number)
    if (this.#overflown && this.#bytes <= this.#maxBuffered / 2) {
      this.#overflown = false
      this.#roomy = true
      this.#notice()
    }
    if (this.#count === 0) this.#whenEmpty?.()
  }
  /** Answers once all that is here now has left. */
  flush(replyTo: ActorRef<Flushed>): void {
    if (this.#count === 0) replyTo.tell({ type: 'flushed' })
    else this.#flushes.push({ replyTo, last: this.#last, left: this.#count })
  }
  /** Calls `then` as soon as nothing is here, which may be now. */
  whenEmpty(then: () => void): void {
    if (this.#count === 0) return then()
    this.#whenEmpty = then
  }
  /** Nothing will leave any more: says what was dropped and what stays behind, and then nothing. */
  end(): void {
    const [dropped, behind] = [this.#dropped, this.#count]
    this.#dropped = 0
    this.#count = 0
    this.#bytes = 0
    this.#ended = true
    this.#roomy = false
    const carrier = this.#carrier(() => {})
    if (dropped > 0) this.#owner.tell(new SendsDropped('write-overflow', dropped, this.#self), carrier)
    if (behind > 0) this.#owner.tell(new SendsDropped('closed', behind, this.#self), carrier)
  }

  #answer(number: number): void {
    for (const flush of this.#flushes) if (number <= flush.last && --flush.left === 0) flush.replyTo.tell({ type: 'flushed' })
    this.#flushes = this.#flushes.filter((flush) => flush.left > 0)
  }
  #notice(): void {
    if (this.#noticed) return
    const count = this.#dropped
    if (count > 0) {
      this.#dropped = 0
      this.#noticed = true
      // Refused by the owner's mailbox, it is told with the next one.
      const refused = (): void => {
        this.#dropped += count
        this.#noticed = false
      }
      this.#owner.tell(new SendsDropped('write-overflow', count, this.#self), this.#carrier(refused))
    } else if (this.#roomy) {
      this.#roomy = false
      this.#noticed = true
      this.#owner.tell(
        new OutboxDrained(this.#self),
        this.#carrier(() => {
          this.#noticed = false
        }),
      )
    }
  }
  #carrier(refused: () => void): LossyCarrier {
    const credited = (): void => {
      this.#noticed = false
      this.#notice()
    }
    return new LossyCarrier(this.#self, { stale: false, credited, undelivered: this.#gone }, refused)
  }
}
