// What a user holds of an actor: a typed address. Interfaces only; the class behind them lives in `cell`.
// Refs are contravariant: whoever understands more messages may stand where fewer are sent.

import type { AbortSignalLike } from './abort.ts'

/**
 * A typed address of one actor.
 *
 * Guarantees: at most once, ordered per sender and receiver; a ref keeps naming the same life of an actor
 * across restarts, and never reaches a later actor of the same name.
 *
 * @example
 * const ref = system.spawn(counter(), { name: 'counter' })
 * ref.tell({ type: 'add', by: 2 })
 * const n = await ref.ask({ type: 'get' })
 */
export interface ActorRef<in M> {
  /** Where the actor lives in the tree, such as `/user/counter`. */
  readonly path: string
  /** Which life of that path this ref names: unique in its system, ascending in order of birth. */
  readonly uid: number
  /** Enqueues and returns; never throws. What cannot be delivered becomes a dead letter with its reason. */
  readonly tell: Tell<M>
  /**
   * Sends a question, which is a member of the protocol without its `replyTo`, and resolves with the reply.
   * Settles exactly once; rejects with `AskTimeout`, with the cause when answering fails, with `Unhandled`, or with
   * `AskTargetStopped` when the target stops first.
   */
  readonly ask: Ask<M>
  /**
   * Resolves once the mailbox has taken the message; rejects with `OfferRefused` where it was refused, and then the
   * message was never sent.
   */
  offer(message: M, options?: { readonly signal?: AbortSignalLike | undefined }): Promise<void>
  /** Stops the actor after the current message, or with `after: 'queued'` after all that is queued now. */
  stop(options?: { readonly after?: 'current' | 'queued' | undefined }): void
}

/** How a ref is told. */
export interface Tell<in M> {
  (message: M, options?: AnyRef | TellOptions): void
}

/** How a ref is asked. */
export interface Ask<in M> {
  /** Sends `make(replyTo)` and resolves with what is told to `replyTo`, for protocols that carry it elsewhere. */
  <R = RepliesOf<M>>(make: (replyTo: ActorRef<R>) => M, options?: AskOptions): Promise<R>
  /** Sends a question, and resolves with the reply. */
  // T is always M. Written with M itself, the questions would be compared as one list, and copied for every call.
  <const Q extends QuestionOf<T>, T extends M = M>(question: Q, options?: AskOptions): Promise<AnswerTo<M, Q>>
}

/** A ref of which only identity and lifecycle matter: parents, children, senders, what was watched. */
export type AnyRef = ActorRef<never>

/** Extras of one `tell`: who sent it, what travels beside it, and how urgent it is for a priority mailbox. */
export interface TellOptions {
  /** What the receiver finds in `ctx.sender`; nothing if left out. */
  readonly sender?: AnyRef | undefined
  /** What travels beside the message, as `ctx.headers`; nothing if left out. */
  readonly headers?: Headers | undefined
  /** For a `priority` mailbox, before what its `compare` says: more is earlier; 0 if left out. */
  readonly priority?: number | undefined
}

/** What travels beside a message: trace context, tenant, deadline of the caller. */
export type Headers = Readonly<Record<string, unknown>>

/** How long to wait for an answer, and what ends the waiting early. */
export interface AskOptions {
  /** Milliseconds, finite and above zero; the system's `askTimeout` (5,000) if left out. */
  readonly timeout?: number | undefined
  /** Rejects the question when it is aborted; none if left out. */
  readonly signal?: AbortSignalLike | undefined
  /** What travels beside the question, as `ctx.headers`; nothing if left out. */
  readonly headers?: Headers | undefined
  /** What happens to a question that closes a cycle of waiting actors; the system's `deadlock` (`reject`) if left out. */
  readonly deadlock?: DeadlockMode | undefined
}

/** What is done about a question that closes a cycle: reject it with `DeadlockError`, log it, or nothing. */
export type DeadlockMode = 'reject' | 'warn' | 'off'

/** The questions of a protocol: its members that carry a `replyTo`, without that field. */
export type QuestionOf<M> = M extends { replyTo: ActorRef<infer _R> } ? Omit<M, 'replyTo'> : never

/** What a question of protocol `M` is answered with. */
export type AnswerTo<M, Q> = AnswerAmong<Asked<M>[(TypeOf<Q> | Untyped) & KeyOf<M>], Q>

/** Everything a protocol may reply. */
export type RepliesOf<M> = M extends { replyTo: ActorRef<infer R> } ? R : never

// An answer is looked up by `type`, in a table that the compiler makes once for each protocol: searched from end to end for each
// question, a protocol would cost the square of its length.

/** What can be asked, by its key. */
type Asked<M> = { [X in M as KeyOf<X>]: X }

type KeyOf<X> = X extends { replyTo: ActorRef<infer _R> }
  ? X extends { type: infer K extends string }
    ? string extends K
      ? Untyped
      : K
    : Untyped
  : never

/** The key of all that has no `type`, or any string for it: these are searched. */
type Untyped = 0

type TypeOf<Q> = Q extends { readonly type: infer K } ? K : never

type AnswerAmong<X, Q> = X extends { replyTo: ActorRef<infer R> } ? (Q extends Omit<X, 'replyTo'> ? R : never) : never
