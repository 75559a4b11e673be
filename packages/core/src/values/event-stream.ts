// The event stream as those see it who publish and subscribe; the machinery is in `system`.

import type { ActorRef } from './ref.ts'

/** Which events: instances of a class, those with a `type`, or those a predicate picks. */
export type EventSelector<E> = (abstract new (...args: never[]) => E) | string | ((event: unknown) => event is E) | ((event: unknown) => boolean)

/** Where a subscription stands: it gets events; it gets none, but a publication still has it in hand; it is gone. */
export type SubscriptionState = 'active' | 'pending-removal' | 'removed'

/** How much may wait for a subscriber, and what gives way when there is more. */
export interface SubscriptionOptions {
  /** Events that may wait, those in the actor's mailbox included; 10,000 if left out. */
  readonly capacity?: number | undefined
  /** What is lost beyond that: the event that waits longest outside the mailbox (default), or the new one. */
  readonly overflow?: 'drop-oldest' | 'drop-newest' | undefined
}

/** Ends by `cancel`, with its actor, or with the system. */
export interface Subscription {
  readonly active: boolean
  readonly state: SubscriptionState
  /** Events that were handed on. */
  readonly delivered: number
  /** Events that were lost because the subscriber was too slow. */
  readonly dropped: number
  /** Events that wait. */
  readonly waiting: number
  cancel(): void
}

/**
 * The event stream of a system.
 *
 * Guarantees: an actor gets the events it subscribed to in order of publication, as ordinary messages, and none that is
 * published after its subscription ended; a slow subscriber delays nobody. Fails: subscribing on a closing system throws
 * `SystemClosed`; a wrong option throws `InvalidOption`.
 *
 * @example
 * system.events.subscribe(auditor, 'actor.failed', { capacity: 100, overflow: 'drop-oldest' })
 */
export interface EventStream {
  publish(event: object): void
  subscribe<E>(subscriber: ActorRef<E>, selector: EventSelector<E>, options?: SubscriptionOptions): Subscription
  /** Calls a function for each event, at once; it must be quick. What it throws is logged. `ended` is called once when the subscription ends, however that comes about. */
  listen(listener: (event: object) => void, selector?: EventSelector<unknown>, ended?: () => void): Subscription
}
