// What may be given to `spawn`, and what comes of it. Types only.
//
// Behaviors and classes share their signatures, and those differ by the number of arguments. With an overload for each,
// a compiler that explains only the last one explains the wrong one for half of the mistakes: a misspelt option of a
// behavior was said not to be a class. One that applies is explained alone.

import type { ActorHandle, ActorHooks } from './actor-class.ts'
import type { SpawnOptions } from './options.ts'
import type { ActorRef } from './ref.ts'

/** A class actor that can be made without arguments: what `spawn` takes where no options are given. */
export interface ClassThatNeedsNoArgs<out T extends ActorHooks> {
  new (): T
}

/**
 * What `spawn` gives: the ref of a behavior, the handle of a class. Where the class is a type parameter it stays open which.
 *
 * `U` because what the caller expects says something about `M`, but must not be taken for news about the class.
 */
export type Spawned<M, T extends ActorHooks> = [T] extends [never] ? ActorRef<M> : [T] extends [infer U] ? ActorHandle<U> : never

/** What `spawn` takes beside an actor, being options `O` and, for a class, the arguments of its constructor, given as `G`. */
export type OptionsFor<T extends ActorHooks, A extends readonly unknown[], O = SpawnOptions, G = A> = [T] extends [never]
  ? O | undefined
  : [] extends A
    ? (O & MayHaveArgs<G>) | undefined
    : O & NeedsArgs<G>

/** Where the constructor takes arguments, they are given as `args`, and to each incarnation again. */
export interface NeedsArgs<out A> {
  readonly args: A
}

/** Where the constructor needs no arguments, `args` may still be given. */
export interface MayHaveArgs<out A> {
  readonly args?: A | undefined
}
