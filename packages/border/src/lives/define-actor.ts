// Actors whose code can be found on another thread: a module, the name of its export, and the arguments. Spawned on a
// dispatcher of this thread they are behaviors like any other.

import type { Behavior, SignalHandler, SpawnOptions } from '@troupe/core'
import { behaviorFrom, BehaviorWithOptions, checkFunction, checkObject, checkText, show, unreadable } from '@troupe/core/internal'
import { NotOnThread } from '../errors.ts'
import { register } from './registry.ts'

/** Where the code of an actor is found, and what it is made with. */
export interface Origin {
  readonly url: string
  readonly name: string
  readonly args: readonly unknown[]
}

/** A behavior that knows where it comes from. */
export class DefinedBehavior<M> extends BehaviorWithOptions<M> {
  readonly origin: Origin
  constructor(behavior: Behavior<M>, options: SpawnOptions, origin: Origin) {
    super(behavior, options)
    this.origin = origin
  }
  override onSignal(_handler: SignalHandler<M>): Behavior<M> {
    throw new NotOnThread(
      `The actor ${this.origin.name} of ${this.origin.url} takes no onSignal from outside: give the handler to receive or setup inside its definition.`,
    )
  }
}

/** What `defineActor` returns: called with the arguments, it is a behavior. */
export interface ActorDefinition<A extends readonly unknown[], M> {
  (...args: A): Behavior<M>
  readonly options: SpawnOptions
  readonly url: string
}

/**
 * Defines an actor that may live on any thread. `name` is the name under which the module exports it.
 *
 * Guarantees: `spawn(hasher(12), { dispatcher: 'parallel' })` runs the factory on the thread it goes to, in a fresh
 * module there; options that hold functions go along, as they are part of the definition.
 * Fails: with `NotOnThread` at spawn if there is no such export, or the arguments cannot go to another thread.
 *
 * @example
 * export const hasher = defineActor(import.meta.url, 'hasher', (rounds: number) => receive<Hash>(…))
 */
export function defineActor<const A extends readonly unknown[], M>(
  url: string,
  name: string,
  factory: (...args: A) => Behavior<M>,
  options?: SpawnOptions,
): ActorDefinition<A, M>
/** Says where a class of actors is found; returns the class. `spawn(Cart, { args, dispatcher: 'parallel' })` then works. */
export function defineActor<C extends abstract new (...args: never) => object>(url: string, name: string, actor: C): C
export function defineActor(url: string, name: string, actor: Factory | Class, options: SpawnOptions = {}): unknown {
  if (typeof url !== 'string' || !URL.canParse(url))
    throw new NotOnThread(`defineActor was given ${show(url)} as the module of ${show(name)}: use import.meta.url.`)
  checkText('name', name)
  checkFunction('actor', actor)
  checkObject('options', options)
  try {
    if (behaviorFrom in actor) {
      classes.set(actor, { url, name })
      // For those who look from outside, and have nothing of us: a capsule says where its code is.
      Reflect.defineProperty(actor, Symbol.for('@troupe/origin'), { value: { url, name } })
      register(name, actor)
      return actor
    }
  } catch (cause) {
    throw unreadable('actor', actor, cause)
  }
  const factory = actor as Factory
  const own = named(name, options)
  const define = (...args: readonly unknown[]): Behavior<unknown> => new DefinedBehavior(factory(...(args as never)), own, { url, name, args })
  register(name, define)
  return Object.assign(define, { options, url })
}

/**
 * Gives a function a name under which `runTask` finds it on threads that have a worker entry (`threads(system, { worker })`); returns the
 * function. Elsewhere it changes nothing: there a task is found by its module and the name of its export.
 *
 * Fails: with `InvalidOption` if the name is empty or the task is not a function; `runTask` with `NotOnThread` where two have the same name.
 *
 * @example
 * export const thumbnail = defineTask('thumbnail', (path: string) => shrink(path))
 */
export function defineTask<F extends (...args: never) => unknown>(name: string, task: F): F {
  checkText('name', name)
  checkFunction('task', task)
  register(name, task)
  return task
}

/** Called by the name of its definition where nothing else was said. Options are read here, and may be anybody's. */
function named(name: string, options: SpawnOptions): SpawnOptions {
  try {
    return { kind: name, ...options }
  } catch (cause) {
    throw unreadable('options', options, cause)
  }
}

type Factory = (...args: never) => Behavior<unknown>
type Class = abstract new (...args: never) => object

const classes = new WeakMap<object, Omit<Origin, 'args'>>()

/** Where the code of what is spawned is found, and the options that go along with it there; undefined if that was not said. */
export function originOf(spawnable: unknown, args: readonly unknown[]): { readonly origin: Origin; readonly options: SpawnOptions } | undefined {
  if (typeof spawnable === 'function') {
    const known = classes.get(spawnable)
    return known === undefined ? undefined : { origin: { ...known, args }, options: {} }
  }
  const defined = definitionOf(spawnable)
  return defined === undefined ? undefined : { origin: defined.origin, options: defined.options }
}

/** The origin of a behavior, under whatever options it was wrapped with. */
export function definitionOf(behavior: unknown): DefinedBehavior<unknown> | undefined {
  let at = behavior
  while (at instanceof BehaviorWithOptions) {
    if (at instanceof DefinedBehavior) return at
    at = at.behavior
  }
  return undefined
}
