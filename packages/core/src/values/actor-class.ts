// The types of the class style: which methods of a class are its protocol, and what a handle of it can do. The class
// itself is in patterns; here is only what `spawn` needs to speak of it.

import type { ActorRef, AnyRef, AskOptions } from './ref.ts'
import type { ChildFailed, ChildStopped, Terminated } from './signals.ts'

/** Under this key a class says how it becomes a behavior. */
export const behaviorFrom: unique symbol = Symbol('behaviorFrom')

/** What a class actor may do about its own life; every one may return a promise, which the phase waits for. */
export interface ActorHooks {
  /** `PreStart`: the new incarnation exists and takes no messages yet. */
  onStart(): void | Promise<void>
  /** `PostStart`: start-up is done, messages follow. */
  onStarted(): void | Promise<void>
  /** `PreStop`: the actor will stop, its children still live. Not called when killed. */
  onStopping(): void | Promise<void>
  /** `PostStop`: the incarnation ends, children are gone. */
  onStop(): void | Promise<void>
  /** `PreRestart`: this incarnation failed and makes room for the next. */
  onRestart(cause: unknown): void | Promise<void>
  /** `PostRestart`: this incarnation replaces one that failed with `cause`. */
  onRestarted(cause: unknown): void | Promise<void>
  /** Runs in the failing actor before its supervisor decides. Synchronous; what it throws is attached to the failure. */
  onError(cause: unknown, message: unknown): void
  /** A child failed, and this was decided about it. */
  onChildFailed(failed: ChildFailed): void | Promise<void>
  /** A child has ended; without watching it. */
  onChildStopped(stopped: ChildStopped): void | Promise<void>
  /** A watched actor is gone. */
  onTerminated(terminated: Terminated): void | Promise<void>
  /** No message came for as long as `ctx.setReceiveTimeout` said. */
  onReceiveTimeout(): void | Promise<void>
}

/** Names that are never messages: hooks, what every object has, and what the language or JSON calls by itself. */
type Reserved =
  | keyof ActorHooks
  | 'constructor'
  | 'then'
  | 'toJSON'
  | 'toString'
  | 'toLocaleString'
  | 'valueOf'
  | 'hasOwnProperty'
  | 'isPrototypeOf'
  | 'propertyIsEnumerable'

// `any` is the only way to say "some function" that overloads and generics both satisfy.
type Method = (...args: any) => any

/** The public methods of a class that are its protocol. */
export type MethodsOf<T> = { [K in keyof T]: K extends Reserved | symbol | number ? never : T[K] extends Method ? K : never }[keyof T] & string

/** The parameters of a method; of each of its overloads, up to three. */
type ParametersOf<F> = F extends { (...args: infer A): unknown; (...args: infer B): unknown; (...args: infer C): unknown }
  ? A | B | C
  : F extends { (...args: infer A): unknown; (...args: infer B): unknown }
    ? A | B
    : F extends (...args: infer A) => unknown
      ? A
      : never

type AskOverloads<F> = F extends { (...args: infer A): infer P; (...args: infer B): infer Q; (...args: infer C): infer R }
  ? { (...args: A): Promise<Awaited<P>>; (...args: B): Promise<Awaited<Q>>; (...args: C): Promise<Awaited<R>> }
  : F extends { (...args: infer A): infer P; (...args: infer B): infer Q }
    ? { (...args: A): Promise<Awaited<P>>; (...args: B): Promise<Awaited<Q>> }
    : F extends (...args: infer A) => infer R
      ? (...args: A) => Promise<Awaited<R>>
      : never

/** A method as it is asked: its answer is awaited. One that is async already keeps its exact type, generics included. */
export type AskMethod<F> = [Answered<F>] extends [Promise<unknown>] ? (F extends AskOverloads<F> ? F : AskOverloads<F>) : AskOverloads<F>

type Answered<F> = F extends (...args: never) => infer R ? R : never

/** The methods of a class, to be told. */
export type TellMethods<T> = { readonly [K in MethodsOf<T>]: (...args: ParametersOf<T[K]>) => void }

/** The methods of a class, to be asked. */
export type AskMethods<T> = { readonly [K in MethodsOf<T>]: AskMethod<T[K]> }

/** The messages of a class actor, as both styles may send them: one record for each method, with or without `replyTo`. */
export type CallOf<T> = {
  [K in MethodsOf<T>]:
    | { readonly type: K; readonly args: Readonly<ParametersOf<T[K]>> }
    | { readonly type: K; readonly args: Readonly<ParametersOf<T[K]>>; readonly replyTo: ActorRef<Awaited<Answered<T[K]>>> }
}[MethodsOf<T>]

/** Any message of any class actor. */
export interface ClassCall {
  readonly type: string
  readonly args: readonly unknown[]
  readonly replyTo?: AnyRef
}

/** The methods of a class actor, to be told and to be asked. */
export interface HandleView<T> {
  readonly tell: TellMethods<T>
  readonly ask: AskMethods<T>
  /** The same actor, asked with these options; what comes of it is not a ref. */
  with(options: AskOptions): HandleView<T>
}

/**
 * What `spawn` returns for a class actor: its ref, whose `tell` and `ask` also have the methods of the class.
 *
 * Guarantees: it is the actor's ref, the same object as `ctx.self`, and passes wherever a ref does. Only calling a
 * method of `tell` or `ask`, or these themselves, sends anything. Fails as `tell` and `ask` of a ref do.
 *
 * @example
 * const cart = system.spawn(Cart, { name: 'cart-7' })
 * cart.tell.add('book')
 * const n = await cart.with({ timeout: 50 }).ask.count()
 */
export type ActorHandle<T> = ActorRef<CallOf<T>> & HandleView<T>

/** A class that extends `Actor`, with what its constructor takes. */
export type ActorClass<T extends ActorHooks, A extends readonly unknown[]> = new (...args: [...A]) => T
