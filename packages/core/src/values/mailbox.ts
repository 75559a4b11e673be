// What the user lane of a cell needs of a queue. The unbounded ring is built in; other kinds implement this.

/** A queue of message and meta pairs. Meta is opaque to it and travels with its message. */
export interface MailboxQueue {
  readonly size: number
  /** The meta of the message that `shift` returned last. */
  meta: unknown
  push(message: unknown, meta: unknown): void
  /** The next message, or undefined when empty. */
  shift(): unknown
}

/** A kind of mailbox: made by `unbounded()` and its siblings, given to `spawn`. */
export interface MailboxKind {
  readonly kind: string
  create(): MailboxQueue
}
