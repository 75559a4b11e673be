// Ways to hear events outside an actor: at once, or from a bounded buffer, by asking for them or as an AsyncIterable.
// A channel belongs to nobody: it listens to the streams it is attached to, and ends by `close`.

import { isAborted, listenTo } from '../ports/on-abort.ts'
import { Ring } from '../queues/ring.ts'
import type { AbortSignalLike } from '../values/abort.ts'
import { checkCan, checkFunction, checkSignal, checkWhole, readOptions } from '../values/checks.ts'
import { NotAllowed } from '../values/errors.ts'
import type { Observation } from '../values/observation.ts'
import type { EventSelector, EventStream, Subscription } from '../values/event-stream.ts'
import { bufferTable } from './event-stream.ts'

/** What takes observations, or events of one's own. */
export interface ObservationChannel<E = Observation> {
  readonly mode: 'immediate' | 'buffered'
  /** How many events came. */
  readonly received: number
  /** How many of them were lost because the buffer was full. */
  readonly dropped: number
  /** Takes events from a stream, from now on. Fails: a closing system throws `SystemClosed`. */
  attach(events: EventStream, selector?: EventSelector<E>): Subscription
  /** Gives up all its subscriptions; what is buffered can still be taken. */
  close(): void
}

/** A channel that keeps events until they are taken. */
export interface BufferedChannel<E = Observation> extends ObservationChannel<E>, AsyncIterable<E> {
  readonly size: number
  /** Takes everything that is buffered, oldest first. */
  drain(): E[]
}

abstract class Attachable<E> implements ObservationChannel<E> {
  abstract readonly mode: 'immediate' | 'buffered'
  received = 0
  dropped = 0
  readonly #subscriptions = new Set<Subscription>()
  attach(events: EventStream, selector?: EventSelector<E>): Subscription {
    checkCan('events', events, ['system.events', 'listen'])
    const subscription: Subscription = events.listen(
      (event) => this.take(event as E),
      selector,
      () => {
        this.#subscriptions.delete(subscription)
        if (this.#subscriptions.size === 0) this.ended()
      },
    )
    this.#subscriptions.add(subscription)
    return subscription
  }
  close(): void {
    for (const subscription of this.#subscriptions) subscription.cancel()
  }
  protected abstract take(event: E): unknown
  /** The last of its subscriptions has ended. */
  protected ended(): void {}
}

class ImmediateChannel<E> extends Attachable<E> {
  readonly mode = 'immediate'
  readonly #listener: (event: E) => unknown
  constructor(listener: (event: E) => unknown) {
    super()
    checkFunction('listener', listener)
    this.#listener = listener
  }
  protected take(event: E): unknown {
    this.received++
    return this.#listener(event)
  }
}

/** What a full buffer gives up: the event that waits longest, or the new one. */
export type BufferOverflow = 'drop-oldest' | 'drop-newest'

class Buffer<E> extends Attachable<E> implements BufferedChannel<E> {
  readonly mode = 'buffered'
  readonly #capacity: number
  readonly #dropOldest: boolean
  #ring = new Ring<E>()
  #waiter: ((result: IteratorResult<E, undefined>) => void) | undefined
  readonly #onEnd: (() => void) | undefined
  #iterated = false
  #over = false
  constructor(capacity: number, overflow: BufferOverflow, onEnd?: () => void) {
    super()
    this.#onEnd = onEnd
    this.#capacity = capacity
    this.#dropOldest = overflow === 'drop-oldest'
  }
  get size(): number {
    return this.#ring.size
  }
  protected take(event: E): void {
    this.received++
    const waiter = this.#waiter
    if (waiter !== undefined) {
      this.#waiter = undefined
      waiter({ done: false, value: event })
      return
    }
    if (this.#ring.size >= this.#capacity) {
      this.dropped++
      if (!this.#dropOldest) return
      this.#ring.shift()
    }
    this.#ring.push(event)
  }
  drain(): E[] {
    const events: E[] = []
    for (let event = this.#ring.shift(); event !== undefined; event = this.#ring.shift()) events.push(event)
    return events
  }
  override attach(events: EventStream, selector?: EventSelector<E>): Subscription {
    const subscription = super.attach(events, selector)
    this.#over = false
    return subscription
  }
  override close(): void {
    super.close()
    // Also without a subscription: a loop that begins later must not wait for ever.
    if (!this.#over) this.ended()
  }
  protected override ended(): void {
    this.#over = true
    this.#onEnd?.()
    const waiter = this.#waiter
    this.#waiter = undefined
    waiter?.({ done: true, value: undefined })
  }
  [Symbol.asyncIterator](): AsyncIterator<E, undefined> {
    if (this.#iterated) throw new NotAllowed('A buffered channel is read by one loop. Attach a second channel for a second reader.')
    this.#iterated = true
    return {
      next: () => {
        const event = this.#ring.shift()
        if (event !== undefined) return Promise.resolve({ done: false, value: event })
        if (this.#over) return Promise.resolve({ done: true, value: undefined })
        if (this.#waiter !== undefined)
          return Promise.reject(new NotAllowed('A buffered channel is read by one loop: await each next() before the one after it.'))
        return new Promise((resolve) => (this.#waiter = resolve))
      },
      return: () => {
        this.close()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }
}

/**
 * A channel that calls a function for each event, at once, in whoever's turn caused it. It must be quick; what it
 * throws is logged.
 *
 * @example
 * immediate((o) => counter.inc({ type: o.type })).attach(system.events)
 */
export function immediate<E = Observation>(listener: (event: E) => void): ObservationChannel<E> {
  return new ImmediateChannel(listener)
}

/**
 * A channel that keeps up to `capacity` events until they are taken by `drain` or by one `for await`.
 *
 * Guarantees: bounded; what is lost is counted in `dropped`. Fails: with `InvalidOption` on a wrong capacity.
 *
 * @example
 * const channel = buffered(1_000)
 * channel.attach(system.events)
 * setInterval(() => send(channel.drain()), 1_000)
 */
export function buffered<E = Observation>(capacity: number, options: { readonly overflow?: BufferOverflow | undefined } = {}): BufferedChannel<E> {
  checkWhole('capacity', capacity, 1)
  return new Buffer(capacity, readOptions('buffered', options, { overflow: bufferTable.overflow }).overflow ?? 'drop-oldest')
}

/** How an iteration over events is bounded and ended. */
export interface EventsOptions {
  /** Events that may wait for the loop; 1,000 if left out. */
  readonly capacity?: number | undefined
  /** Which event is lost when that many wait: `drop-oldest` (default) or `drop-newest`. */
  readonly overflow?: BufferOverflow | undefined
  /** Ends the loop when aborted; what is buffered is still given. */
  readonly signal?: AbortSignalLike | undefined
}

/**
 * The events of a stream as an `AsyncIterable`, from now on.
 *
 * Guarantees: in order of publication; bounded, by its own policy; ends when the system does, when the signal is
 * aborted, or when the loop is left. Fails: a closing system throws `SystemClosed`.
 *
 * @example
 * for await (const failure of eventsOf(system.events, 'actor.failed')) console.error(failure)
 */
export function eventsOf<E = Observation>(events: EventStream, selector?: EventSelector<E>, options: EventsOptions = {}): AsyncIterable<E> {
  const { capacity = 1000, overflow = 'drop-oldest', signal } = readOptions('eventsOf', options, { ...bufferTable, signal: checkSignal })
  let unlisten: (() => void) | undefined
  const buffer: Buffer<E> = new Buffer<E>(capacity, overflow, () => unlisten?.())
  buffer.attach(events, selector)
  try {
    if (isAborted(signal)) buffer.close()
    else if (signal !== undefined) unlisten = listenTo(signal, () => buffer.close())
  } catch (cause) {
    // What is not a signal must leave no subscription behind.
    buffer.close()
    throw cause
  }
  return buffer
}
