// What the user lane of a cell needs of a queue, and what a queue may ask of its cell. The unbounded ring is built in;
// bounded and priority mailboxes, and those that users write, implement this.

/** A queue of message and meta pairs. Meta is opaque to it and travels with its message; `undefined` is not a message. */
export interface MailboxQueue {
  readonly size: number
  /** The meta of the message that `shift` or `evict` returned last. */
  meta: unknown
  /** Takes a message, or ends it through the owner where a policy says so; if it throws, the message is a dead letter. */
  push(message: unknown, meta: unknown): void
  /** The next message, or undefined when empty. */
  shift(): unknown
  /** Takes out the message that waits longest, for `drop-oldest`; without it that is what `shift` gives. */
  evict?(): unknown
  /** Puts a message in front of all others: how a stash comes back. Without it the cell keeps those itself. */
  unshift?(message: unknown, meta: unknown): void
  /** Whether a push would be taken now; without it, always. */
  hasRoom?(): boolean
  /** Lets an offer wait for room, first come first served; without it a full queue refuses offers. */
  wait?(offer: WaitingOffer): void
  /** Ends all waiting offers: the actor stops or restarts. */
  endWaits?(cause: Error): void
}

/** An offer that waits for room. */
export interface WaitingOffer {
  readonly message: unknown
  readonly meta: unknown
  /** Given up meanwhile: skip it. */
  readonly ended: boolean
  /** It was taken into the queue. */
  took(): void
  fail(cause: Error): void
}

/** What a mailbox may ask of the actor it belongs to. */
export interface MailboxOwner {
  /** Ends a message that an overflow policy gave up, counted as dropped; `evicted` if it was in the queue before. */
  drop(message: unknown, meta: unknown, evicted: boolean): void
  /** Ends a message that was not let in: a dead letter `mailbox-full`, or `mailbox-failed` where the mailbox threw. */
  refuse(message: unknown, meta: unknown, reason?: 'mailbox-full' | 'mailbox-failed'): void
  /** Counts an offered message as sent: it is in the queue from here on. */
  sent(): void
  /** Whether this is the meta of the pill that stops the actor after what was queued before it. */
  isPill(meta: unknown): boolean
  /** The queue passed its high water mark, or fell back to the low one. */
  pressure(level: 'high' | 'low', depth: number): void
  /** Code that was given to the mailbox threw: it is logged, and the mailbox goes on. */
  fault(cause: unknown): void
  /** The actor has ended, and asks for what is left, that which is held back included. */
  readonly over?: boolean | undefined
}

/** What a full mailbox does with one more message. */
export type Overflow = 'drop-newest' | 'drop-oldest' | 'reject' | 'block' | Grow

/** Made by `grow(maxFactor)`: the bound may rise that many times over before messages are rejected. */
export interface Grow {
  readonly policy: 'grow'
  readonly maxFactor: number
}

/** A kind of mailbox: made by `unbounded()` and its siblings, by hand with `mailboxOf`, and given to `spawn`. */
export interface MailboxKind {
  readonly kind: string
  /** The most user messages it holds; undefined for no bound. */
  readonly capacity?: number | undefined
  readonly overflow?: Overflow | undefined
  /** How much of the actor's attention signals may take while messages wait, in percent; 100 if left out. */
  readonly systemShare?: number | undefined
  create(owner: MailboxOwner): MailboxQueue
}
