// What a command is given, as types: the state, and the few ways in which something may leave. In what a command receives, refs are
// addresses without `tell`, so that nothing can leave by another way.

import type { ActorContext, ActorRef, AnswerTo, AskOptions, Behavior, QuestionOf } from '@troupe/core'
import type { DurableTimers } from './timers.ts'

/** An address that only the context of a command can tell: what a message's `ActorRef` is inside of a command. */
export interface To<in R> {
  readonly path: string
  /** Only for the compiler: makes what it takes part of the type. */
  readonly takes?: (message: R) => void
}

type Addressed<T> = T extends ActorRef<infer R> ? To<R> : T

/** A message as a command sees it: every ref is a `To`. */
export type Incoming<M> = { readonly [K in keyof M]: Addressed<M[K]> }

/** How a question of a command ended. */
export type Answered<R> = { readonly ok: true; readonly answer: R } | { readonly ok: false; readonly cause: unknown }

/** What every command may do, whatever it keeps. All that leaves does so when all that the actor has seen is durable. */
export interface Leaving<M> {
  /** The key that the actor was made with. */
  readonly key: string
  /** How far memory is: the number of the last event, or the revision. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly now: number
  /** Tells somebody, once all is durable. */
  tell<R>(to: To<R>, message: NoInfer<R>): void
  tell<R>(to: ActorRef<R>, message: NoInfer<R>): void
  /** Asks somebody, once all is durable; how it ended comes back as a message. */
  ask<P, const Q extends QuestionOf<P>>(ref: ActorRef<P>, question: Q, toMessage: (result: Answered<AnswerTo<P, Q>>) => M, options?: AskOptions): void
  /**
   * Sends a message to another persistent actor for sure: it is kept with what this command persists, and has its effect there exactly
   * once, after what was delivered to it before. Needs `find` of `persistence(…)`; the message is plain data.
   */
  deliver<T>(kind: Kind<T>, key: string, message: NoInfer<T>): void
  /**
   * Timers that outlive the actor and the process. They fire at least once and never early; what the command persists that a timer led to is
   * stored together with its removal, so that the effect is there once. With `find` of `persistence(…)` they wake an actor that sleeps.
   */
  readonly timers: DurableTimers<M>
  /**
   * Does something, in a turn of its own, once all is durable; at most once. An actor that stops runs what waits first, in order. Lost where the
   * process ends or the actor is killed before. May spawn, watch, and use promises.
   */
  after(effect: (ctx: ActorContext<M>) => void | Promise<void>): void
  /** Puts the present message aside; `unstashAll` brings all of them back. */
  stash(): void
  unstashAll(): void
  /** Stops the actor, once all is durable; no further message is handled. */
  stop(): void
  /** The message was not understood: whoever asked is told. */
  unhandled(): void
}

/** What a command of an event-sourced actor is given. */
export interface CommandContext<S, E, M> extends Leaving<M> {
  readonly state: S
  /** Applies the events now, and queues them; those of one command are stored together or not at all. */
  persist(...events: readonly E[]): void
}

/** One function for each type of message. With `| undefined`, because `void` alone takes functions that return whatever they like, promises too. */
export type Commands<C, M extends { type: string }> = {
  readonly [K in M['type']]: (ctx: C, message: string extends M['type'] ? Unannotated : Incoming<Extract<M, { type: K }>>) => void | undefined
}

/** The type of a message in a kind without a type of its own, so that the compiler's message says what to do. */
interface Unannotated<Remedy extends string = 'const counter: Kind<Counter> = …'> {
  readonly remedy: Remedy
}

/** Defines all actors of a kind; called with a key, it is the behavior of one. */
export interface Kind<M> {
  (key: string): Behavior<M>
  readonly kind: string
}
