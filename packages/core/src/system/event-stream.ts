// Publish and subscribe inside one system. Troupe's own observations flow here while somebody listens; users publish
// what they like. A subscription ends with its actor.

import { cellOf } from '../cell/local-ref.ts'
import { SystemClosed } from '../values/errors.ts'
import type { ActorRef, AnyRef } from '../values/ref.ts'

/** Which events: instances of a class, those with a `type`, or those a predicate picks. */
export type EventSelector<E> = (abstract new (...args: never[]) => E) | string | ((event: unknown) => event is E) | ((event: unknown) => boolean)

/** Ends by `cancel`, with its actor, or with the system. */
export interface Subscription {
  readonly active: boolean
  cancel(): void
}

/**
 * The event stream of a system.
 *
 * Guarantees: an actor gets the events it subscribed to in order of publication, as ordinary messages; none after its
 * subscription has ended. Fails: subscribing on a closing system throws `SystemClosed`.
 *
 * @example
 * system.events.subscribe(auditor, 'actor.failed')
 */
export interface EventStream {
  publish(event: object): void
  subscribe<E>(subscriber: ActorRef<E>, selector: EventSelector<E>): Subscription
  /** Calls a function for each event, at once; it must be quick and may not throw. */
  listen(listener: (event: object) => void, selector?: EventSelector<unknown>): Subscription
}

class Entry implements Subscription {
  active = true
  readonly ref: AnyRef | undefined
  readonly matches: (event: object) => boolean
  readonly deliver: (event: object) => void
  readonly #stream: LocalEventStream
  constructor(stream: LocalEventStream, ref: AnyRef | undefined, matches: (event: object) => boolean, deliver: (event: object) => void) {
    this.#stream = stream
    this.ref = ref
    this.matches = matches
    this.deliver = deliver
  }
  cancel(): void {
    if (!this.active) return
    this.active = false
    this.#stream.remove(this)
  }
}

export class LocalEventStream implements EventStream {
  readonly #system: string
  readonly #open: () => boolean
  readonly #failed: (cause: unknown) => void
  readonly #entries = new Set<Entry>()
  readonly #byRef = new Map<AnyRef, Set<Entry>>()
  constructor(system: string, open: () => boolean, failed: (cause: unknown) => void) {
    this.#system = system
    this.#open = open
    this.#failed = failed
  }
  get size(): number {
    return this.#entries.size
  }
  publish(event: object): void {
    for (const entry of this.#entries) {
      if (!entry.active) continue
      try {
        if (entry.matches(event)) entry.deliver(event)
      } catch (cause) {
        this.#failed(cause)
      }
    }
  }
  subscribe<E>(subscriber: ActorRef<E>, selector: EventSelector<E>): Subscription {
    const entry = this.#add(subscriber, selector, (event) => subscriber.tell(event as E))
    // Its end has passed already, so nothing would ever take it away again.
    if (cellOf(subscriber)?.phase === 'terminated') {
      entry.cancel()
      return entry
    }
    let of = this.#byRef.get(subscriber)
    if (of === undefined) this.#byRef.set(subscriber, (of = new Set()))
    of.add(entry)
    return entry
  }
  listen(listener: (event: object) => void, selector?: EventSelector<unknown>): Subscription {
    return this.#add(undefined, selector, listener)
  }
  remove(entry: Entry): void {
    this.#entries.delete(entry)
    if (entry.ref === undefined) return
    const of = this.#byRef.get(entry.ref)
    of?.delete(entry)
    if (of?.size === 0) this.#byRef.delete(entry.ref)
  }
  /** Ends all subscriptions of an actor. */
  forget(ref: AnyRef): void {
    for (const entry of this.#byRef.get(ref) ?? []) entry.cancel()
  }
  close(): void {
    for (const entry of this.#entries) entry.cancel()
  }
  #add(ref: AnyRef | undefined, selector: EventSelector<unknown> | undefined, deliver: (event: object) => void): Entry {
    if (!this.#open()) throw new SystemClosed(this.#system, 'subscribe')
    const entry = new Entry(this, ref, matcherOf(selector), deliver)
    this.#entries.add(entry)
    return entry
  }
}

function matcherOf(selector: EventSelector<unknown> | undefined): (event: object) => boolean {
  if (selector === undefined) return () => true
  if (typeof selector === 'string') return (event) => (event as { type?: unknown }).type === selector
  // Only classes have a prototype with a fixed `writable: false` descriptor; arrow functions have none at all.
  const prototype = Object.getOwnPropertyDescriptor(selector, 'prototype')
  if (prototype?.writable === false) return (event) => event instanceof (selector as abstract new () => object)
  return selector as (event: object) => boolean
}
