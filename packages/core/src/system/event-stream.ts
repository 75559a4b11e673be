// Publish and subscribe inside one system. Troupe's own observations flow here while somebody listens; users publish
// what they like. A publisher never waits: each subscriber has a bounded buffer, and loses by its own policy.
//
//   publish ─→ for each subscription that matches ─→ in flight (in the actor's mailbox) ─→ buffer ─→ dropped, counted

import { Envelope } from '../cell/message/envelope.ts'
import type { CellHost } from '../cell/turn/host.ts'
import { cellOf } from '../cell/ref/local-ref.ts'
import { MessageRing } from '../queues/ring.ts'
import { checkFunction, checkObject, checkOneOf, checkRef, checkWhole, readOptions, type Table } from '../values/checks.ts'
import { SystemClosed } from '../values/errors.ts'
import type { EventSelector, EventStream, Subscription, SubscriptionOptions, SubscriptionState } from '../values/event-stream.ts'
import type { EventTotals } from '../values/metrics.ts'
import type { ActorRef, AnyRef } from '../values/ref.ts'
import { contain, isThenable, observed } from '../values/thenable.ts'
import { matcherOf } from './event-selector.ts'

class Entry implements Subscription {
  state: SubscriptionState = 'active'
  delivered = 0
  dropped = 0
  /** Its place in the order of subscriptions. */
  order = 0
  readonly #matches: (event: object) => boolean
  declare readonly ref: AnyRef | undefined
  declare protected readonly stream: LocalEventStream
  readonly #take: (event: object) => unknown
  readonly #ended: (() => unknown) | undefined
  #delivering = false
  #matching = false
  constructor(
    stream: LocalEventStream,
    matches: (event: object) => boolean,
    take: (event: object) => unknown,
    ended: (() => unknown) | undefined,
    ref?: AnyRef,
  ) {
    this.stream = stream
    this.#matches = matches
    this.#take = take
    this.#ended = ended
    this.ref = ref
  }
  get active(): boolean {
    return this.state === 'active'
  }
  get waiting(): number {
    return 0
  }
  /** A predicate that publishes is not asked about that; without an end it would go round. */
  wants(event: object): boolean {
    if (this.#matching) return false
    this.#matching = true
    try {
      const wanted: unknown = this.#matches(event)
      if (typeof wanted !== 'object') return Boolean(wanted)
      this.observe(wanted)
      return wanted !== null && !isThenable(wanted)
    } finally {
      this.#matching = false
    }
  }
  deliver(event: object): void {
    // Delivering may itself cause events, such as a dead letter of a full mailbox; without an end it would go round.
    if (this.#delivering) {
      this.dropped++
      return
    }
    this.#delivering = true
    try {
      this.accept(event)
    } finally {
      this.#delivering = false
    }
  }
  protected accept(event: object): void {
    this.delivered++
    this.observe(this.#take(event))
  }
  /** Nobody waits for what a subscriber's code returned; what it rejects with is logged. */
  protected observe(returned: unknown): void {
    if (returned !== undefined) observed(returned, this.stream.failed)
  }
  cancel(): void {
    if (this.state !== 'active') return
    this.state = 'pending-removal'
    this.stream.remove(this)
    // Whoever cancels, such as the end of the system, has others to go on with.
    contain(() => this.#ended?.(), this.stream.failed)
  }
}

/** How much may wait, and what gives way. */
export const bufferTable: Table<SubscriptionOptions> = { capacity: [checkWhole, 1], overflow: [checkOneOf, ['drop-oldest', 'drop-newest']] }

/** The subscription of an actor: half of what may wait is in its mailbox at most, the rest here. */
class ActorEntry extends Entry {
  readonly #window: number
  readonly #room: number
  readonly #dropOldest: boolean
  #inFlight = 0
  #refilling = false
  #pressed = false
  #buffer = new MessageRing<object>()
  constructor(stream: LocalEventStream, matches: (event: object) => boolean, ref: AnyRef, options: SubscriptionOptions) {
    super(stream, matches, () => {}, undefined, ref)
    const { capacity = 10_000, overflow } = readOptions('subscribe', options, bufferTable)
    this.#dropOldest = overflow !== 'drop-newest'
    this.#window = Math.ceil(capacity / 2)
    this.#room = capacity - this.#window
  }
  override get waiting(): number {
    return this.#inFlight + this.#buffer.size
  }
  protected override accept(event: object): void {
    const buffer = this.#buffer
    if (this.#inFlight < this.#window && buffer.size === 0) return this.#send(event)
    const full = buffer.size >= this.#room
    if (full) this.dropped++
    if (!full || (this.#dropOldest && this.#room > 0)) {
      if (full) buffer.shift()
      buffer.push(event)
    }
    if (full && !this.#pressed) this.#tell('high')
  }
  /** Tells whoever wants to know that it begins to lose, or has room again. */
  #tell(level: 'high' | 'low'): void {
    this.#pressed = level === 'high'
    this.stream.publish({
      type: 'events.backpressured',
      ref: this.ref!,
      level,
      waiting: this.waiting,
      dropped: this.dropped,
      at: this.stream.host.runtime.now(),
    })
  }
  /** One event has left the mailbox, handled or not. */
  landed(): void {
    this.#inFlight--
    // A full mailbox lets an event land while it is being sent; the buffer must not go down one stack frame each.
    if (this.#refilling) return
    this.#refilling = true
    try {
      // One for one, since another will land; with none on its way the buffer would wait for ever.
      do {
        if (!this.active || this.#buffer.size === 0 || this.#inFlight >= this.#window) break
        this.#send(this.#buffer.shift()!)
      } while (this.#inFlight === 0)
    } finally {
      this.#refilling = false
    }
    if (this.#pressed && this.waiting <= this.#window) this.#tell('low')
  }
  override cancel(): void {
    this.#buffer = new MessageRing()
    super.cancel()
  }
  #send(event: object): void {
    this.#inFlight++
    this.delivered++
    const cell = cellOf(this.ref!)
    if (cell !== undefined) cell.send(event, new EventEnvelope(this))
    else {
      this.#inFlight--
      this.observe(this.ref!.tell(event as never))
    }
  }
}

/** Tells the subscription when its event has left the mailbox. */
class EventEnvelope extends Envelope {
  #entry: ActorEntry | undefined
  constructor(entry: ActorEntry) {
    super()
    this.#entry = entry
  }
  override open(_cell: unknown, message: unknown): unknown {
    this.#landed()
    return message
  }
  override end(): void {
    this.#landed()
  }
  #landed(): void {
    const entry = this.#entry
    this.#entry = undefined
    entry?.landed()
  }
}

export class LocalEventStream implements EventStream {
  declare readonly host: CellHost
  /** Hears of listeners that throw or reject. */
  readonly failed = (cause: unknown): void => this.host.logger.error({ cause }, 'an event listener failed')
  readonly #entries = new Set<Entry>()
  /** The subscriptions of each actor that has any. */
  readonly byRef: Map<AnyRef, Set<Entry>> = new Map()
  /** Events published so far. */
  #published = 0
  /** What subscriptions had that have ended. */
  #past = { delivered: 0, dropped: 0 }
  /** How many subscriptions there ever were. */
  #last = 0
  /** Publications under way, one inside the other. */
  #publishing = 0
  #leaving: Entry[] = []
  constructor(host: CellHost) {
    this.host = host
  }
  get size(): number {
    return this.#entries.size
  }
  get totals(): EventTotals {
    const totals = { published: this.#published, ...this.#past, waiting: 0 }
    for (const entry of this.#entries) {
      totals.waiting += entry.waiting
      totals.delivered += entry.delivered
      totals.dropped += entry.dropped
    }
    return totals
  }
  publish(event: object): void {
    checkObject('event', event)
    this.#published++
    if (this.#entries.size === 0) return
    this.#publishing++
    const last = this.#last
    for (const entry of this.#entries) {
      // Whoever subscribes during a publication gets the next one; else a listener that subscribes anew never ends it.
      if (entry.order > last) break
      if (!entry.active) continue
      try {
        if (entry.wants(event)) entry.deliver(event)
      } catch (cause) {
        this.failed(cause)
      }
    }
    if (--this.#publishing === 0 && this.#leaving.length > 0) {
      const leaving = this.#leaving
      this.#leaving = []
      for (const entry of leaving) entry.state = 'removed'
    }
  }
  subscribe<E>(subscriber: ActorRef<E>, selector: EventSelector<E>, options: SubscriptionOptions = {}): Subscription {
    checkRef('subscriber', subscriber)
    const entry = this.#add(new ActorEntry(this, matcherOf(selector), subscriber, options))
    // Its end has passed already, so nothing would ever take it away again.
    if (cellOf(subscriber)?.end !== undefined) {
      entry.cancel()
      return entry
    }
    let of = this.byRef.get(subscriber)
    if (of === undefined) this.byRef.set(subscriber, (of = new Set()))
    of.add(entry)
    return entry
  }
  listen(listener: (event: object) => void, selector?: EventSelector<unknown>, ended?: () => void): Subscription {
    checkFunction('listener', listener)
    if (ended !== undefined) checkFunction('ended', ended)
    return this.#add(new Entry(this, selector === undefined ? () => true : matcherOf(selector), listener, ended))
  }
  remove(entry: Entry): void {
    this.#entries.delete(entry)
    this.#past.delivered += entry.delivered
    this.#past.dropped += entry.dropped
    if (this.#publishing === 0) entry.state = 'removed'
    else this.#leaving.push(entry)
    if (entry.ref === undefined) return
    const of = this.byRef.get(entry.ref)
    of?.delete(entry)
    if (of?.size === 0) this.byRef.delete(entry.ref)
  }
  /** Ends all subscriptions of an actor. */
  forget(ref: AnyRef): void {
    for (const entry of this.byRef.get(ref) ?? []) entry.cancel()
  }
  close(): void {
    for (const entry of this.#entries) entry.cancel()
  }
  #add<T extends Entry>(entry: T): T {
    if (this.host.phase !== 'open') throw new SystemClosed(this.host.name, 'subscribe')
    entry.order = ++this.#last
    this.#entries.add(entry)
    return entry
  }
}
