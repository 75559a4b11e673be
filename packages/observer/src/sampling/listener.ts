// Those who hear of each message that is followed while it happens: whoever keeps traces elsewhere.

import type { Cell } from '@troupe/core/internal'
import type { Span } from './span.ts'

/** What goes with a message that is followed when it is sent. */
export interface Followed {
  /** Whose mailbox it goes into. */
  readonly cell: Cell
  /** The message whose handler sent it, or set the timer that did. */
  readonly parent: Span | undefined
  /** Stands for the question, where it is one. */
  readonly question: object | undefined
  /** What `within` was given, or the `traceparent` that it came with: who caused it, somewhere else. */
  readonly incoming: unknown
}

/** Hears of each message that is followed, while it happens; it must be quick, and must not throw. */
export interface SpanListener {
  sent(span: Span, followed: Followed): void
  /** Its handler is about to begin; what is returned goes into the headers that it sees. */
  taken(span: Span, cell: Cell): Readonly<Record<string, string>> | undefined
  /** Its handler is done, or failed. */
  done(span: Span, failure: { readonly cause: unknown } | undefined): void
  answered(question: object): void
  /** It goes to another thread or node, of whose handlers nothing is heard here; what is returned goes along in its headers. */
  leaves?(span: Span): Readonly<Record<string, string>> | undefined
}
