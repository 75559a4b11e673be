// What an actor can do: the narrow parts that make up `ctx`. Interfaces only.

import type { AbortSignalLike } from './abort.ts'
import type { ActorClass, ActorHooks } from './actor-class.ts'
import type { Behavior } from './behavior.ts'
import type { Logger } from './logger.ts'
import type { ActorRef, AnswerTo, AnyRef, AskOptions, Headers, QuestionOf, RepliesOf } from './ref.ts'
import type { ClassThatNeedsNoArgs, OptionsFor, Spawned } from './spawnable.ts'
import type { SystemView } from './system.ts'

/** Timers of one incarnation, by key. They end with it, and a tick that was cancelled or replaced never arrives. */
export interface Timers<in M> {
  /** Sends the message once, after `ms` (finite, ≥ 0); the same key replaces. */
  once(key: string, ms: number, message: M): void
  /** Sends the message to another actor once, after `ms`. */
  once<T>(key: string, ms: number, message: T, options: { readonly to: ActorRef<T> }): void
  /** Sends the message every `ms` (> 0) at a fixed rate; ticks missed meanwhile are sent as one. */
  every(key: string, ms: number, message: M): void
  cancel(key: string): void
  cancelAll(): void
  has(key: string): boolean
}

/** Messages put aside until later; survives a restart, and is drained like the mailbox on stop. */
export interface Stash<in M> {
  readonly size: number
  /** Puts the message aside; throws `StashOverflow` when full, unless the policy drops the oldest. */
  add(message: M): void
  /** Handles what is stashed now, oldest first, before what is in the mailbox; behind what was unstashed before and still waits. */
  unstashAll(): void
  /** The same of the `count` oldest; the others stay. */
  unstash(count: number): void
  /** Drops what is stashed, and what was unstashed and has not been handled yet; counted as dropped. */
  clear(): void
}

/**
 * What an actor's code can do, as long as its incarnation lives; afterwards every member refuses with `ContextEnded`
 * except `self`, `path` and `signal`.
 */
export interface ActorContext<in M> {
  readonly self: ActorRef<M>
  readonly path: string
  readonly parent: AnyRef
  readonly children: readonly AnyRef[]
  readonly system: SystemView
  /** Who sent the present message, where that was said. */
  readonly sender: AnyRef | undefined
  readonly headers: Headers
  readonly log: Logger
  /** Aborted when this incarnation ends, or is asked to while a handler is pending. */
  readonly signal: AbortSignalLike
  /** How often this actor was restarted before this incarnation. */
  readonly incarnation: number
  /** What the previous incarnation gave to `handOver`, if anything. */
  readonly handedOver: unknown
  readonly timers: Timers<M>
  readonly stash: Stash<M>

  spawn<C, T extends ActorHooks = never>(actor: Behavior<C> | ClassThatNeedsNoArgs<T>): Spawned<C, T>
  /** A class actor; `args` go to its constructor, at each restart again. */
  spawn<C, T extends ActorHooks = never, A extends readonly unknown[] = never>(
    actor: Behavior<C> | ActorClass<T, A>,
    options: OptionsFor<T, A>,
  ): Spawned<C, T>
  /** Stops a child, or this actor itself if none is named. */
  stop(child?: AnyRef): void
  /** Delivers one `Terminated` when the actor ends, at once if it has; idempotent. */
  watch(ref: AnyRef, options?: { readonly deathPact?: boolean | undefined }): void
  /** Delivers `message` instead of `Terminated`; called again, the last message counts. */
  watchWith(ref: AnyRef, message: M): void
  /** Ends a watch; also one whose `Terminated` is already queued. */
  unwatch(ref: AnyRef): void

  // K keeps the literals of what is made, which T, inferred from the ref, would widen.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  ask<T, R = RepliesOf<T>, const K extends T = T>(ref: ActorRef<T>, make: (replyTo: ActorRef<R>) => K, options?: AskOptions): Promise<R>
  ask<T, const Q extends QuestionOf<T>>(ref: ActorRef<T>, question: Q, options?: AskOptions): Promise<AnswerTo<T, Q>>
  /** Answers the present message: to its `replyTo`, else to its sender. */
  reply(answer: unknown): void
  /** Hands the present message on as it is, with its sender and headers; it counts as moved, not as resent. */
  forward<T>(ref: ActorRef<T>): void

  /** A ref of another protocol; what it is told is turned into mine by `fn`, in my turn. The same key replaces. */
  adapt<T>(fn: (message: T) => M, options?: { readonly key?: string | undefined }): ActorRef<T>
  /** Sends me what became of the promise; dropped if this incarnation has ended by then. */
  pipeToSelf<T>(promise: PromiseLike<T>, ok: (value: T) => M, err: (cause: unknown) => M): void
  /** Delivers `ReceiveTimeout` after `ms` without a user message, again and again; null ends it. */
  setReceiveTimeout(ms: number | null): void
  /**
   * Lets others have their turn in the midst of long work: `await ctx.breathe()` every few milliseconds of it. What was told so far
   * leaves this thread at once, the thread shows that it lives, host and other actors are served, signals to stop are heard;
   * this actor's own next message still waits. Rejects with `ContextEnded` if the incarnation was cut off meanwhile.
   */
  breathe(): Promise<void>
  /** Says in a few words what this actor is about, for those who look at the tree; an empty text takes it back. Survives a restart. */
  label(text: string): void
  /** In `PreRestart` only: what the next `setup` finds in `ctx.handedOver`. */
  handOver(value: unknown): void
}
