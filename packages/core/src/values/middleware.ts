// What stands between a mailbox and a handler. A chain is the system's links, then the actor's; `before` runs in that
// order, `after` and `error` in reverse. It may change or swallow a message; it cannot delay one.

import type { AnyRef, Headers } from './ref.ts'
import type { Signal } from './signals.ts'

/** One message on its way through the chain. */
export interface Passage {
  /** The actor that handles it. */
  readonly ref: AnyRef
  readonly sender: AnyRef | undefined
  readonly headers: Headers
  /** Free for links to keep something from `before` to `after` or `error`. */
  readonly notes: Map<unknown, unknown>
}

/**
 * A link in the chain around every handler; every member may be left out. Runs in the actor's turn.
 *
 * Guarantees: for each link that a message has passed, `after` or `error` runs once, unless the handler was cut off by
 * a stop or restart. Fails: a throw in `before` or `after` fails the message and goes to supervision; one in `error` or
 * `close` is logged.
 *
 * @example
 * const audit: Middleware = { before: (message, { ref }) => { log.push([ref.path, message]); return message } }
 */
export interface Middleware {
  readonly name?: string | undefined
  /** The message that goes on: this one, another, or `swallow` to end it here; undefined for this one. */
  before?(message: unknown, passage: Passage): unknown
  /** The handler has returned, and what it returned has settled. */
  after?(message: unknown, passage: Passage): void
  /** The handler, or a link further in, failed; supervision hears of it next. */
  error?(cause: unknown, message: unknown, passage: Passage): void
  /** The actor is to hear a signal, and its handlers have not heard it yet. It looks on: what it throws is logged, and the signal goes its way. */
  signal?(signal: Signal, ref: AnyRef): void
  /** The actor has ended, or the whole system where the link is the system's. */
  close?(ref: AnyRef | undefined): void
}

/** What `before` returns to end a message: it counts as dropped, and whoever asked is told. */
export const swallow: unique symbol = Symbol('swallow')

/** How many links a chain may have, the system's included. */
export const longestChain = 16
